import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from crfviz.chain.crf import CRF
from crfviz.taggers.neural.tagger import NeuralTagger, load_model
from crfviz.text.tokenizer import Token
from tests.support.close import assert_close
from tests.support.tiny_tagger import SENTENCES, save_tiny

CPU = torch.device("cpu")
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


@pytest.fixture(params=["bilstm", "contextfree"])
def folder(request, tmp_path):
    return save_tiny(tmp_path / "tiny", architecture=request.param)


@pytest.fixture
def bio(tmp_path):
    return NeuralTagger(save_tiny(tmp_path / "ner", tags=BIO, scheme="BIO"), CPU)


def test_tagger_has_name_device_scheme_and_tags(folder):
    tagger = NeuralTagger(folder, CPU)
    assert (tagger.name, tagger.device, tagger.scheme) == ("tiny", "cpu", None)
    assert tagger.tags == ("NOUN", "VERB", "X")
    assert tagger.folder == folder
    assert tagger.examples() == []


def test_potentials_are_network_scores_over_temperature(folder):
    stored = load_model(folder)
    chain = NeuralTagger(folder, CPU).potentials(SENTENCES[0])
    with torch.inference_mode():
        emissions = stored.network.emissions(stored.vocabulary.encode([SENTENCES[0]]))[0]
    crf: CRF = stored.network.crf
    for got, trained in [
        (chain.emissions, emissions),
        (chain.transitions, crf.transitions),
        (chain.start, crf.start_transitions),
        (chain.end, crf.end_transitions),
    ]:
        assert got.dtype == torch.float64
        assert_close(got, trained.detach().double() / 1.5, atol=1e-9, rtol=0)


def test_tokens_and_strings_give_equal_potentials(folder):
    tagger = NeuralTagger(folder, CPU)
    tokens = [Token("He", 0, 2), Token("runs", 3, 7)]
    one, other = tagger.potentials(tokens), tagger.potentials(["He", "runs"])
    assert torch.equal(one.emissions, other.emissions)
    assert one.tokens == other.tokens == ("He", "runs")
    assert one.tags == ("NOUN", "VERB", "X")


def test_batch_keeps_the_order_of_the_sentences(folder):
    tagger = NeuralTagger(folder, CPU)
    sentences = [["word"] * length for length in (5, 1, 90, 3, 2)] * 12
    for words, chain in zip(sentences, tagger.potentials_batch(sentences), strict=True):
        assert chain.tokens == tuple(words)
        alone = tagger.potentials(words)
        assert_close(chain.emissions, alone.emissions, atol=1e-5, rtol=0)
    assert tagger.potentials_batch([]) == []


@pytest.mark.parametrize(
    "word", ["", " ", "\x00", "\ud800", "😀", "שלום", "a" * 10_000, "<script>", "\u200b"]
)
def test_any_word_has_finite_scores(folder, word):
    chain = NeuralTagger(folder, CPU).potentials([word, "x"])
    assert torch.isfinite(chain.emissions).all()


def test_bio_rules_forbid_illegal_transitions(bio):
    chain = bio.potentials(["He", "runs"])
    assert torch.isneginf(chain.start).tolist() == [False, False, True, False, True]
    forbidden = torch.isneginf(chain.transitions)
    allowed_to_inside = {
        (before, tag)
        for before in BIO
        for tag in ("I-PER", "I-LOC")
        if not forbidden[BIO.index(before), BIO.index(tag)]
    }
    assert allowed_to_inside == {
        (f"{prefix}-{kind}", f"I-{kind}") for prefix in "BI" for kind in ("PER", "LOC")
    }
    assert not forbidden[:, [0, 1, 3]].any()


def test_bio_rules_can_be_disabled(bio):
    chain = bio.potentials(["He", "runs"], constrained=False)
    assert torch.isfinite(chain.transitions).all()
    assert torch.isfinite(chain.start).all()
    assert torch.equal(chain.emissions, bio.potentials(["He", "runs"]).emissions)


def test_threads_share_a_tagger(folder):
    tagger = NeuralTagger(folder, CPU)
    expected = tagger.potentials(SENTENCES[0]).emissions
    gate = threading.Barrier(4)

    def score(_):
        gate.wait()
        return [tagger.potentials(SENTENCES[0]).emissions for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(score, range(4)):
            assert all(torch.equal(emissions, expected) for emissions in found)
