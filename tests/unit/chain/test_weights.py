"""Weights by name: what they are, what they stand for, and how often a path uses them."""

import pytest
import torch

from crfviz.chain import edits
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ScoreError
from tests.support.weights import all_weights, changed, uses

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
def test_the_value_is_that_of_the_cell(weight):
    assert edits.value_of(CHAIN, weight) == VALUES[weight]


@pytest.mark.parametrize("weight", list(all_weights(CHAIN)))
def test_a_new_value_goes_into_the_cell_alone(weight):
    found, expected = edits.with_weight(CHAIN, weight, -7.0), changed(CHAIN, weight, -7.0)
    for name in ("emissions", "transitions", "start", "end"):
        assert torch.equal(getattr(found, name), getattr(expected, name))
    assert edits.value_of(found, weight) == -7.0


@pytest.mark.parametrize("wanted", [False, True])
def test_many_new_values_leave_the_chain_as_it_was_and_gradients_connected(wanted):
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
def test_a_new_value_that_is_no_score_is_refused(value):
    with pytest.raises(ScoreError, match=r"transitions\[0, 1\] must be"):
        edits.with_weights(CHAIN, {("transition", 0, 1): value})


@pytest.mark.parametrize("path", [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 1]])
def test_uses_are_counted(path):
    for weight in all_weights(CHAIN):
        assert edits.uses(weight, path) == uses(weight, path)


def test_names_become_ids():
    assert edits.resolve(CHAIN, ("transition", "A", "B")) == ("transition", 0, 1)
    assert edits.resolve(CHAIN, ("start", "B")) == ("start", 1)
    assert edits.resolve(CHAIN, ["end", 1]) == ("end", 1)
    assert edits.resolve(CHAIN, ("emission", 2, "A")) == ("emission", 2, 0)


@pytest.mark.parametrize(
    "weight", [("start",), ("middle", 0), ("transition", 0), ("emission", 0, 0, 0), "start", None]
)
def test_anything_else_is_no_weight(weight):
    with pytest.raises(CrfvizError, match="weight must be"):
        edits.resolve(CHAIN, weight)


def test_a_transition_of_many_values_has_none():
    steps = torch.zeros(2, 2, 2)
    steps[1, 0, 1] = 1.0
    chain = Potentials(torch.zeros(3, 2), steps)
    assert edits.value_of(chain, ("transition", 1, 0)) == 0.0
    with pytest.raises(CrfvizError, match=r"expected one value for the transition \(0, 1\), got 2"):
        edits.value_of(chain, ("transition", 0, 1))
