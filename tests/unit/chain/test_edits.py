"""Edits and weights by name: put on, taken off, counted."""

import math

import pytest
import torch

from crfviz.chain import edits
from crfviz.chain.edits import END, START, Edits
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ScoreError, ShapeError, UnknownTagError
from tests.support.close import assert_close
from tests.support.weights import all_weights, changed, uses

INF = math.inf
TAGS = ("DET", "NOUN")


def trained(**changes):
    scores = {
        "emissions": torch.ones(2, 2),
        "transitions": [[1.0, 2.0], [3.0, 4.0]],
        "start": [5.0, 6.0],
        "end": [7.0, 8.0],
        "tags": TAGS,
    }
    return Potentials(**(scores | changes))


def test_empty_edits_change_nothing():
    before, after = trained(), Edits().apply(trained())
    for name in ("emissions", "transitions", "start", "end"):
        assert torch.equal(getattr(before, name), getattr(after, name))
    assert not Edits()
    assert len(Edits()) == 0


def test_edited_cells_replace_trained_scores():
    edits = (
        Edits()
        .with_transition("DET", "NOUN", -INF)
        .with_transition(START, "NOUN", 0.5)
        .with_transition("DET", END, -0.5)
        .with_emission(1, "DET", 9.0)
    )
    after = edits.apply(trained())
    assert after.transitions.tolist() == [[1.0, -INF], [3.0, 4.0]]
    assert after.start.tolist() == [5.0, 0.5]
    assert after.end.tolist() == [-0.5, 8.0]
    assert after.emissions.tolist() == [[1.0, 1.0], [9.0, 1.0]]
    assert len(edits) == 4


def test_strength_scales_trained_scores_but_not_edited_cells():
    edits = Edits(transitions={("DET", "NOUN"): 10.0}, strength=0.5)
    after = edits.apply(trained())
    assert after.transitions.tolist() == [[0.5, 10.0], [1.5, 2.0]]
    assert after.start.tolist() == [2.5, 3.0]
    assert after.end.tolist() == [3.5, 4.0]
    assert len(edits) == 2


def test_edits_after_the_end_of_the_sentence_are_ignored():
    edits = Edits().with_emission(2, "DET", 9.0)
    assert torch.equal(edits.apply(trained()).emissions, trained().emissions)
    longer = trained(emissions=torch.ones(3, 2))
    assert edits.apply(longer).emissions[2].tolist() == [9.0, 1.0]


def test_second_edit_of_a_cell_replaces_the_first():
    edits = Edits().with_emission(0, "DET", 1.0).with_emission(0, "DET", 2.0)
    assert edits.emissions == {(0, "DET"): 2.0}
    assert len(edits) == 1


def test_without_removes_one_cell():
    edits = Edits().with_transition("DET", "NOUN", 1.0).with_emission(0, "DET", 2.0)
    assert edits.without(("DET", "NOUN")).transitions == {}
    assert edits.without((0, "DET")) == Edits().with_transition("DET", "NOUN", 1.0)
    assert edits.without((7, "DET")) == edits
    assert len(edits) == 2


def test_disabled_constraints_count_as_an_edit():
    assert len(Edits(constrained=False)) == 1
    assert Edits(constrained=False)


def test_unknown_tag_is_named_in_the_error():
    with pytest.raises(UnknownTagError, match="got 'VERB'"):
        Edits().with_transition("DET", "VERB", 1.0).apply(trained())
    with pytest.raises(UnknownTagError, match="got 'VERB'"):
        Edits().with_emission(0, "VERB", 1.0).apply(trained())


@pytest.mark.parametrize("score", [math.nan, INF, 1e300])
def test_invalid_score_is_rejected_with_its_cell(score):
    with pytest.raises(ScoreError, match=r"the score of \('DET', 'NOUN'\)"):
        Edits().with_transition("DET", "NOUN", score)
    with pytest.raises(ScoreError, match=r"the score of \('DET', 'NOUN'\) .* got '1'"):
        Edits({("DET", "NOUN"): "1"})
    for odd in ("NOUN", None, [("DET", "NOUN")]):
        with pytest.raises(ShapeError, match="emissions must map cells to scores, got"):
            Edits(emissions=odd)
    with pytest.raises(ScoreError, match="strength must be finite and not negative, got None"):
        Edits(strength=None)
    with pytest.raises(ScoreError, match=r"the score of \(0, 'DET'\)"):
        Edits(emissions={(0, "DET"): score})


@pytest.mark.parametrize("strength", [-0.1, math.nan, INF])
def test_invalid_strength_is_rejected(strength):
    with pytest.raises(ScoreError, match="strength"):
        Edits(strength=strength)


def test_reaching_returns_edits_that_produce_another_chain():
    before = trained(transitions=[[1.0, -INF], [3.0, 4.0]])
    wanted = trained(
        transitions=[[1.25, -INF], [3.0 + 1e-7, 4.0]], start=[5.0, 6.0 + 1 / 3], end=[7.0, -8.0]
    )
    own = Edits({("DET", "DET"): 1.0}, {(0, "DET"): 1.0}, 0.5)
    edits = own.reaching(before, wanted)
    assert edits.transitions == {
        ("DET", "DET"): 1.25,
        (START, "NOUN"): 6.333333,
        ("NOUN", END): -8.0,
    }
    assert (edits.emissions, edits.strength) == (own.emissions, own.strength)
    reached = Edits().reaching(before, wanted).apply(before)
    for name in ("transitions", "start", "end"):
        assert_close(getattr(reached, name), getattr(wanted, name), atol=5e-7, rtol=0)


def test_reaching_a_chain_with_transitions_per_step_is_rejected():
    per_step = trained(transitions=torch.zeros(1, 2, 2))
    with pytest.raises(ShapeError, match="one transition matrix"):
        Edits().reaching(trained(), per_step)


CHAIN = Potentials(
    torch.arange(6.0).view(3, 2),
    [[10.0, 11.0], [12.0, 13.0]],
    [20.0, 21.0],
    [30.0, 31.0],
    tags="AB",
)
VALUES = {
    ("transition", 0, 1): 11.0,
    ("start", 1): 21.0,
    ("end", 0): 30.0,
    ("emission", 2, 0): 4.0,
}


@pytest.mark.parametrize("weight", VALUES)
def test_value_of_returns_the_score_of_the_cell(weight):
    assert edits.value_of(CHAIN, weight) == VALUES[weight]


@pytest.mark.parametrize("weight", list(all_weights(CHAIN)))
def test_with_weight_changes_only_its_cell(weight):
    found, expected = edits.with_weight(CHAIN, weight, -7.0), changed(CHAIN, weight, -7.0)
    for name in ("emissions", "transitions", "start", "end"):
        assert torch.equal(getattr(found, name), getattr(expected, name))
    assert edits.value_of(found, weight) == -7.0


@pytest.mark.parametrize("wanted", [False, True])
def test_with_weights_copies_the_chain_and_keeps_gradients(wanted):
    transitions = torch.zeros(2, 2, requires_grad=wanted)
    chain = Potentials(torch.zeros(3, 2), transitions, tags="AB")
    values = {("transition", "A", "B"): 1.0, ("transition", "B", "B"): -2.0, ("start", "A"): 3.0}
    found = edits.with_weights(chain, values)
    assert found.transitions.tolist() == [[0.0, 1.0], [0.0, -2.0]]
    assert found.start.tolist() == [3.0, 0.0]
    assert not chain.transitions.any()
    assert not chain.start.any()
    assert found.score([0, 1, 1]) == 2.0
    assert chain.score([0, 1, 1]) == 0.0
    if wanted:
        found.transitions.sum().backward()
        assert transitions.grad.tolist() == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e101])
def test_invalid_new_value_is_rejected(value):
    with pytest.raises(ScoreError, match=r"transitions\[0, 1\] must be"):
        edits.with_weights(CHAIN, {("transition", 0, 1): value})


@pytest.mark.parametrize("path", [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 1]])
def test_uses_counts_a_weight_in_a_path(path):
    for weight in all_weights(CHAIN):
        assert edits.uses(weight, path) == uses(weight, path)


def test_resolve_turns_tag_names_into_ids():
    assert edits.resolve(CHAIN, ("transition", "A", "B")) == ("transition", 0, 1)
    assert edits.resolve(CHAIN, ("start", "B")) == ("start", 1)
    assert edits.resolve(CHAIN, ["end", 1]) == ("end", 1)
    assert edits.resolve(CHAIN, ("emission", 2, "A")) == ("emission", 2, 0)


@pytest.mark.parametrize(
    "weight", [("start",), ("middle", 0), ("transition", 0), ("emission", 0, 0, 0), "start", None]
)
def test_unknown_weight_is_rejected(weight):
    with pytest.raises(CrfvizError, match="weight must be"):
        edits.resolve(CHAIN, weight)


def test_transition_that_differs_between_steps_has_no_single_value():
    steps = torch.zeros(2, 2, 2)
    steps[1, 0, 1] = 1.0
    chain = Potentials(torch.zeros(3, 2), steps)
    assert edits.value_of(chain, ("transition", 1, 0)) == 0.0
    with pytest.raises(CrfvizError, match=r"expected one value for the transition \(0, 1\), got 2"):
        edits.value_of(chain, ("transition", 0, 1))
