"""What each word contributes to an emission: sums, zeros, and integrals taken by differences."""

from zlib import crc32

import numpy as np
import pytest
import torch

from crfviz import (
    CrfvizError,
    EmptySentenceError,
    ShapeError,
    UnknownTagError,
    attribute,
    load_tagger,
)
from crfviz.taggers import attribution
from crfviz.taggers.neural.tagger import NeuralTagger
from tests.support.tiny_tagger import save_tiny

WORDS = ["The", "salad", "tossed", "with", "walnuts", "was", "fresh", "."]


def emission_gap(tagger, words, position, tag, rival):
    emissions = tagger.potentials(words).emissions[position]
    return (emissions[tagger.tags.index(tag)] - emissions[tagger.tags.index(rival)]).item()


@pytest.mark.parametrize("name", ["upos-en", "upos-en-contextfree", "ner-en"])
@pytest.mark.parametrize("position", [0, 2, 7])
def test_contributions_of_shipped_networks_sum_to_the_gap(name, position):
    tagger = load_tagger(name)
    tag, rival = tagger.tags[1], tagger.tags[-1]
    found = attribute(tagger, WORDS, position, tag, rival)
    gap = emission_gap(tagger, WORDS, position, tag, rival)
    assert found.words.shape == (len(WORDS),)
    assert found.gap == pytest.approx(gap, abs=1e-6)
    assert found.words.sum() + found.baseline == pytest.approx(gap, abs=1e-3)


@pytest.mark.parametrize("position", range(len(WORDS)))
def test_other_words_contribute_exactly_zero_without_context(position):
    found = attribute(load_tagger("upos-en-contextfree"), WORDS, position, "VERB", "NOUN")
    others = np.delete(found.words, position)
    assert others.tolist() == [0.0] * len(others)
    assert found.words[position] != 0


def test_bilstm_attributes_scores_to_other_words():
    found = attribute(load_tagger("upos-en"), WORDS, 2, "VERB", "NOUN")
    assert (found.words != 0).all()


@pytest.mark.parametrize("architecture", ["bilstm", "contextfree"])
def test_contributions_equal_integrals_of_finite_differences(tmp_path, architecture):
    tagger = NeuralTagger(save_tiny(tmp_path / "tiny", architecture=architecture))
    words = ["He", "runs", "dogs"]
    network = tagger.model.network
    batch = tagger.model.vocabulary.encode([words])
    inputs = torch.cat(
        [
            network.words(batch.words),
            network._spell(batch.characters)[batch.forms],
            network.shapes(batch.shapes),
        ],
        dim=-1,
    )[0].double()
    network = network.double()

    def gaps(tokens):  # of S sentences
        lengths = torch.full((len(tokens),), 3)
        emissions = network.output(network.context(tokens, lengths))[:, 1] / 1.5
        return (emissions[:, 0] - emissions[:, 2]).detach()

    steps, width = 400, 1e-5
    line = (torch.arange(steps) + 0.5).double()[:, None, None] / steps * inputs
    expected = torch.zeros(3, dtype=torch.float64)
    for t in range(3):
        for d in range(inputs.shape[1]):
            nudge = torch.zeros_like(inputs)
            nudge[t, d] = width
            slopes = (gaps(line + nudge) - gaps(line - nudge)) / (2 * width)
            expected[t] += inputs[t, d] * slopes.mean()
    baseline = gaps(torch.zeros(1, *inputs.shape, dtype=torch.float64)).item()
    network.float()
    found = attribute(tagger, words, 1, "NOUN", "X")
    np.testing.assert_allclose(found.words, expected, atol=2e-4)
    assert found.baseline == pytest.approx(baseline, abs=1e-9)
    assert found.features == ()


def weight(model, text, tag):
    """The weight of a feature, by its number."""
    rows = np.flatnonzero(model.features == crc32(text.encode()))
    return float(model.emissions[rows[0], tag]) if len(rows) else 0.0


def test_perceptron_features_contribute_their_weights():
    tagger = load_tagger("upos-en-perceptron")
    found = attribute(tagger, ["They", "walk", "home"], 1, "VERB", "NOUN")
    verb, noun = tagger.tags.index("VERB"), tagger.tags.index("NOUN")

    def share(text):
        return weight(tagger.model, text, verb) - weight(tagger.model, text, noun)

    features = dict(found.features)
    assert len(features) == 25
    for text in ("bias", "word=walk", "suffix2=lk", "before=they", "pair=they walk", "two before="):
        assert features[text] == pytest.approx(share(text), abs=1e-6)
    sizes = [abs(value) for _, value in found.features]
    assert sizes == sorted(sizes, reverse=True)
    # Two words share what is said of both; what looks outside of the sentence belongs to no word.
    they = ["before=they", "before suffix=hey"]
    both = ["pair=they walk", "around=they home", "shapes=title lower"]
    expected = sum(map(share, they)) + sum(map(share, both)) / 2
    assert found.words[0] == pytest.approx(expected, abs=1e-6)
    outside = sum(map(share, ["bias", "two before=", "two after="]))
    assert found.baseline == pytest.approx(outside, abs=1e-6)


@pytest.mark.parametrize("position", [0, 3, 7])
def test_perceptron_contributions_sum_to_the_gap(position):
    tagger = load_tagger("upos-en-perceptron")
    found = attribute(tagger, WORDS, position, "VERB", "NOUN")
    gap = emission_gap(tagger, WORDS, position, "VERB", "NOUN")
    assert found.words.sum() + found.baseline == pytest.approx(gap, abs=1e-4)
    assert sum(value for _, value in found.features) == pytest.approx(gap, abs=1e-4)
    far = [t for t in range(len(WORDS)) if abs(t - position) > 2]
    assert found.words[far].tolist() == [0.0] * len(far)


def test_bio_rules_do_not_change_the_contributions(tmp_path):
    folder = save_tiny(tmp_path / "bio", tags=("O", "B-PER", "I-PER"), scheme="BIO")
    found = attribute(NeuralTagger(folder), ["He", "runs"], 0, "I-PER", "O")
    assert np.isfinite(found.gap)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((WORDS, 2, "VERB", "VERB"), CrfvizError, "expected two different tags, got VERB"),
        ((WORDS, 2, "VERB", "WORD"), UnknownTagError, "expected one of the tags"),
        ((WORDS, 8, "VERB", "NOUN"), ShapeError, "position must be 0 to 7, got 8"),
        (([], 0, "VERB", "NOUN"), EmptySentenceError, "at least one word"),
        (("They walk", 0, "VERB", "NOUN"), CrfvizError, "expected a list of words"),
    ],
)
def test_invalid_arguments_are_rejected_with_a_message(args, error, message):
    with pytest.raises(error, match=message):
        attribute(load_tagger("upos-en-contextfree"), *args)


@pytest.mark.parametrize("name", ["textbook/ice-cream", "upos-en-hmm"])
def test_tagger_without_a_network_is_rejected(name):
    tagger = load_tagger(name)
    with pytest.raises(CrfvizError, match=f"{name} is a tagger without a network.*from_crfsuite"):
        attribute(tagger, ["1", "2"], 0, 0, 1)


@pytest.mark.parametrize("other", ["upos-en", None])
def test_attribute_rejects_an_object_that_is_not_a_tagger(other):
    with pytest.raises(CrfvizError, match="expected a tagger, got"):
        attribute(other, WORDS, 0, 0, 1)


def test_contributions_computed_in_several_batches_are_the_same(monkeypatch):
    words = ["My", "old", "bed", "got", "tossed", "in", "a", "dumpster", "."]
    at_once = attribute(load_tagger("ner-en"), words, 3, 0, 1)
    monkeypatch.setattr(attribution, "AT_ONCE", 7)
    found = attribute(load_tagger("ner-en"), words, 3, 0, 1)
    assert found.words == pytest.approx(at_once.words, abs=1e-9)
    assert found.words.sum() + found.baseline == pytest.approx(found.gap, abs=1e-3)
