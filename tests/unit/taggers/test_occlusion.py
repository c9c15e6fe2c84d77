"""Occlusion: one batch gives what re-runs of single sentences give, for any tagger."""

import math

import pytest
import torch

from crfviz.exceptions import CrfvizError, UnknownTagError
from crfviz.taggers.features import SHAPES, shape
from crfviz.taggers.neural.network import BEGIN, END, UNKNOWN
from crfviz.taggers.neural.tagger import NeuralTagger, load_model
from crfviz.taggers.perturbations import HIDDEN, ROUNDING, occlude
from crfviz.taggers.registry import SHIPPED, load_tagger
from tests.support.close import assert_close
from tests.support.fake_tagger import FakeTagger
from tests.support.tiny_tagger import save_tiny

WORDS = ["The", "old", "man", "the", "boat", "near", "Paris", "."]
NEURAL = ["ner-en", "upos-en", "upos-en-contextfree"]
OTHERS = ["upos-en-hmm", "upos-en-perceptron"]


@pytest.mark.parametrize("model", [*NEURAL, *OTHERS])
def test_batched_occlusion_equals_single_runs(model):
    tagger = load_tagger(model)
    occlusion = occlude(tagger, WORDS)
    assert len(occlusion.hidden) == len(WORDS)
    whole = tagger.potentials(WORDS)
    assert_close(occlusion.whole.emissions, whole.emissions, atol=1e-4, rtol=0)
    for s, found in enumerate(occlusion.hidden):
        single = tagger.potentials([*WORDS[:s], HIDDEN, *WORDS[s + 1 :]])
        assert_close(found.emissions, single.emissions, atol=1e-4, rtol=0)
        assert torch.equal(found.transitions, single.transitions)
        for position, tag in ((1, 0), (s, 1)):
            expected = (single.emissions - whole.emissions)[position, tag].item()
            change = occlusion.change(position, tag)[s].item()
            assert change == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize("model", NEURAL)
def test_hidden_word_is_unknown_to_every_shipped_network(model):
    vocabulary = load_model(SHIPPED / model).vocabulary
    batch = vocabulary.encode([[HIDDEN]])
    assert batch.words.tolist() == [[UNKNOWN]]
    assert batch.characters.tolist() == [[BEGIN, UNKNOWN, END]]
    assert SHAPES[shape(HIDDEN)] == "lower"


@pytest.mark.parametrize("architecture", ["bilstm", "contextfree"])
def test_only_a_network_with_context_changes_at_other_words(tmp_path, architecture):
    tagger = NeuralTagger(save_tiny(tmp_path / "tiny", architecture=architecture))
    occlusion = occlude(tagger, ["He", "runs", "to", "Paris", "."])
    for position in range(5):
        moved = [s for s, change in enumerate(occlusion.change(position, "VERB")) if change]
        if architecture == "contextfree":
            assert moved == [position]
        else:
            assert len(moved) > 1


def test_occlude_works_with_any_tagger():
    tagger = FakeTagger(["A", "B"], {"a": {"A": 2.0}, "b": {"B": 3.0}})
    occlusion = occlude(tagger, ["a", "b", "a"])
    assert occlusion.change(1, "B").tolist() == [0.0, -3.0, 0.0]
    assert occlusion.change(0, "B").tolist() == [0.0, 0.0, 0.0]
    assert occlusion.change(2, 0).tolist() == [0.0, 0.0, -2.0]
    with pytest.raises(UnknownTagError, match="expected one of the tags A, B"):
        occlusion.change(0, "C")


def test_occluding_a_chain_of_known_observations_is_rejected():
    with pytest.raises(CrfvizError, match="textbook/casino knows only H, T"):
        occlude(load_tagger("textbook/casino"), ["H", "T"])


def test_rounding_errors_are_not_changes():
    tagger = FakeTagger(["A"], {"a": {"A": ROUNDING / 2}, "b": {"A": 2 * ROUNDING}})
    assert occlude(tagger, ["a", "b"]).change(0, 0).tolist() == [0.0, 0.0]
    assert occlude(tagger, ["a", "b"]).change(1, 0).tolist() == [0.0, -2 * ROUNDING]


def test_forbidden_scores_do_not_change():
    tagger = FakeTagger(["A"], {"a": {"A": -math.inf}, HIDDEN: {"A": -math.inf}})
    assert occlude(tagger, ["a"]).change(0, 0).tolist() == [0.0]
