"""The shipped models: what is in their folders, and what they do with sentences they never saw."""

import json
import re
from pathlib import Path

import pytest
import torch

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.taggers.neural.tagger import FILES
from crfviz.taggers.registry import SHIPPED, load_tagger
from crfviz.text.formats import read_sentences
from crfviz.text.tokenizer import tokenize
from tests.support.close import assert_close
from tests.support.paths import EXCERPT

LIMITS = {"upos-en": 5_000_000, "upos-en-contextfree": 4_000_000, "ner-en": 5_000_000}  # bytes
NAMES = sorted(LIMITS)
SMALL = ("upos-en-hmm", "upos-en-perceptron", "upos-en-perceptron-greedy")
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
TWEETS = [
    ["@user", "is", "in", "London", "with", "@other", "!", "#fun", "http://t.co/x"],
    ["RT", "@", "someone", ":", "I-", "B-PER", "Obama"],
    ["New", "York", "Times", "Square", "Garden"] * 6,
]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads only wait for each other with batches this small, worst on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=NAMES)
def tagger(request):
    return load_tagger(request.param)


def words_of_excerpt():
    return [sentence.tokens for sentence in read_sentences(EXCERPT)]


def names(tagger, words, **options):
    return [tagger.tags[tag] for tag in viterbi(tagger.potentials(words, **options)).path]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_folder_is_complete_and_small(name):
    files = {path.name: path.stat().st_size for path in (SHIPPED / name).iterdir()}
    assert {*FILES, "examples.jsonl", "evaluation.json", "README.md"} <= files.keys()
    assert {Path(file).suffix for file in files} == {".json", ".jsonl", ".md", ".safetensors"}
    assert sum(files.values()) <= LIMITS[name]


@pytest.mark.parametrize("name", [*NAMES, "upos-en-hmm"])
def test_no_vocabulary_entry_is_a_handle_or_an_address(name):
    words = json.loads((SHIPPED / name / "vocabulary.json").read_text(encoding="utf-8"))["words"]
    suspects = [
        w.lower() for w in words if re.search(r"@\w|://|^www\.|\.(com|org|net|edu|gov)\b", w)
    ]
    assert suspects == ["@user"]


@pytest.mark.parametrize("name", [*NAMES, *SMALL])
def test_a_card_says_where_the_model_comes_from(name):
    card = (SHIPPED / name / "README.md").read_text(encoding="utf-8")
    for part in ("CC BY-SA 4.0", "python -m crfviz train", "## Limits", "## Data", "figures:"):
        assert part in card


def test_a_sentence_scores_the_same_alone_as_in_a_batch(tagger):
    sentences = [*words_of_excerpt(), *TWEETS]
    for chain in tagger.potentials_batch(sentences):
        alone = tagger.potentials(chain.tokens)
        assert_close(chain.emissions, alone.emissions, atol=1e-4, rtol=0)


def test_scores_are_float64_on_the_cpu_and_finite(tagger):
    chain = tagger.potentials(["Any", "words"], constrained=False)
    for scores in (chain.emissions, chain.transitions, chain.start, chain.end):
        assert scores.dtype == torch.float64
        assert scores.device.type == "cpu"
        assert torch.isfinite(scores).all()


@pytest.mark.parametrize("name", SMALL)
def test_a_folder_without_a_network_is_complete_and_small(name):
    files = {path.name: path.stat().st_size for path in (SHIPPED / name).iterdir()}
    expected = {"config.json", "model.safetensors", "examples.jsonl", "evaluation.json"}
    assert expected | {"README.md", "training.json"} <= files.keys()
    assert sum(files.values()) <= 2_000_000


@pytest.mark.parametrize(
    ("name", "tokens", "sentences"),
    [
        ("upos-en-perceptron", 0.946, 0.645),
        ("upos-en-perceptron-greedy", 0.946, 0.63),
        ("upos-en-hmm", 0.92, 0.52),
    ],
)
def test_measured_figures_are_as_good_as_they_should_be(name, tokens, sentences):
    records = json.loads((SHIPPED / name / "evaluation.json").read_text(encoding="utf-8"))
    record = records["ud-english-ewt/test.conllu"]
    decoder = "left_to_right" if name.endswith("greedy") else "viterbi"
    assert record[decoder]["token_accuracy"] >= tokens
    assert record[decoder]["sentence_accuracy"] >= sentences


@pytest.mark.parametrize("name", SMALL[1:])
def test_a_perceptron_is_trained_in_two_minutes(name):
    record = json.loads((SHIPPED / name / "training.json").read_text(encoding="utf-8"))
    assert record["seconds"] <= 120


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("upos-en", 0.94),
        ("upos-en-contextfree", 0.92),
        ("upos-en-hmm", 0.9),
        ("upos-en-perceptron", 0.93),
        ("upos-en-perceptron-greedy", 0.93),
    ],
)
def test_part_of_speech_taggers_are_mostly_right(name, least):
    tagger = load_tagger(name)
    assert tagger.tags == tuple(UPOS.split())
    assert tagger.scheme is None
    right = total = 0
    for sentence in read_sentences(EXCERPT):
        right += sum(
            a == b for a, b in zip(names(tagger, sentence.tokens), sentence.tags, strict=True)
        )
        total += len(sentence.tags)
    assert right / total >= least


def test_context_free_tagger_sees_no_neighbours():
    tagger = load_tagger("upos-en-contextfree")
    one, other = (tagger.potentials([w, "run", "."]).emissions[1] for w in ("The", "We"))
    assert_close(one, other, atol=1e-5, rtol=0)


def test_entity_tagger_knows_bio():
    tagger = load_tagger("ner-en")
    assert tagger.tags == ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")
    assert tagger.scheme == "BIO"
    for words in [*words_of_excerpt(), *TWEETS]:
        assert illegal_positions(names(tagger, words)) == []


@pytest.mark.parametrize(
    ("text", "entity", "kind"),
    [
        ("Barack Obama was born in Hawaii.", "Barack Obama", "PER"),
        ("Barack Obama was born in Hawaii.", "Hawaii", "LOC"),
        ("I flew from New York to London.", "New York", "LOC"),
        ("Apple opened a new store in Berlin.", "Apple", "ORG"),
        ("Apple opened a new store in Berlin.", "Berlin", "LOC"),
        ("Microsoft is based in Seattle.", "Microsoft", "ORG"),
        ("Lionel Messi plays in Miami.", "Lionel Messi", "PER"),
    ],
)
def test_entity_tagger_finds_famous_names(text, entity, kind):
    tagger = load_tagger("ner-en")
    words = [token.text for token in tokenize(text)]
    first, *rest = entity.split()
    start = words.index(first)
    expected = [f"B-{kind}", *[f"I-{kind}"] * len(rest)]
    assert names(tagger, words)[start : start + len(expected)] == expected


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_gpu_scores_equal_those_of_the_cpu(tagger, monkeypatch):
    monkeypatch.setenv("CRFVIZ_DEVICE", "cpu")
    here = load_tagger(tagger.name)
    monkeypatch.setenv("CRFVIZ_DEVICE", "cuda")
    there = load_tagger(tagger.name)
    for words in words_of_excerpt():
        one, other = here.potentials(words), there.potentials(words)
        assert_close(one.emissions, other.emissions, atol=1e-4, rtol=0)
