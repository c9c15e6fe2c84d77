"""Pins and forbidden tags against enumeration."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import (
    condition,
    pin_probability,
    restrict,
    run_probability,
)
from crfviz.exceptions import NoPathError
from tests.support import oracle
from tests.support.strategies import chains

INF = math.inf
COIN = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]], tags=["A", "B"])


@st.composite
def pinned_chains(draw):
    """A chain, pins, forbidden cells, and the scores of the paths that agree with them."""
    chain = draw(chains(max_tokens=4, max_tags=4).filter(oracle.allowed))
    positions = st.integers(0, chain.num_tokens - 1)
    tags = st.integers(0, chain.num_tags - 1)
    pins = draw(st.dictionaries(positions, tags, max_size=3))
    forbidden = draw(st.lists(st.tuples(positions, tags), max_size=3))
    left = {
        path: score
        for path, score in oracle.allowed(chain)
        if all(path[t] == k for t, k in pins.items()) and all(path[t] != k for t, k in forbidden)
    }
    return chain, pins, forbidden, left


@given(pinned_chains())
def test_the_probability_of_pins_equals_enumeration(case):
    chain, pins, forbidden, left = case
    expected = math.fsum(oracle.probability(chain, path) for path in left)
    assert pin_probability(chain, pins, forbidden) == pytest.approx(expected, abs=1e-9)


@given(pinned_chains())
def test_cost_and_loss_equal_enumeration(case):
    chain, pins, forbidden, left = case
    if not left:
        with pytest.raises(NoPathError):
            condition(chain, pins, forbidden)
        return
    found = condition(chain, pins, forbidden)
    top = max(left.values())
    total = top + math.log(math.fsum(math.exp(score - top) for score in left.values()))
    assert found.cost == pytest.approx(oracle.log_partition(chain) - total, abs=1e-9)
    assert found.probability == pytest.approx(math.exp(-found.cost), abs=1e-9)
    assert found.score_loss == pytest.approx(oracle.best_score(chain) - top, abs=1e-9)
    assert min(found.cost, found.score_loss) >= 0.0
    assert dict(oracle.allowed(found.potentials)) == pytest.approx(left)


def test_a_pin_on_a_long_sentence_keeps_its_digits():
    """The cost is found although its probability is too small for a float."""
    chain = Potentials(torch.tensor([[0.0, -1.0]] * 1000), torch.zeros(2, 2))
    found = condition(chain, dict.fromkeys(range(1000), 1))
    assert found.cost == pytest.approx(1000 * math.log(1 + math.e), rel=1e-12)
    assert found.probability == 0.0


def test_names_and_ids_are_both_tags():
    assert pin_probability(COIN, {0: "B"}, [(1, "A")]) == pytest.approx(0.25, abs=1e-12)
    assert restrict(COIN, {}, [(1, "A")]).emissions[1].tolist() == [-INF, 0.0]
    assert COIN.emissions[1].tolist() == [0.0, 0.0]


def test_a_message_says_which_pin_is_at_fault():
    wall = Potentials(
        [[0.0, -INF, 0.0], [0.0, 0.0, 0.0]],
        [[0.0, 0.0, -INF], [0.0, 0.0, 0.0], [0.0, 0.0, -INF]],
        tags=["A", "B", "C"],
    )
    with pytest.raises(NoPathError, match="the tag B is forbidden at position 0"):
        condition(wall, {0: "B"})
    with pytest.raises(NoPathError, match="no allowed path has the tag C at position 1"):
        condition(wall, {1: "C"})
    walls = wall.with_transition("C", "B", -INF)
    with pytest.raises(NoPathError, match="no allowed path agrees with all of: 0: C, 1: B"):
        condition(walls, {0: "C", 1: "B"})
    with pytest.raises(NoPathError, match="agrees with all of: 0: A, 1: not A, 1: not B"):
        condition(wall, {0: "A"}, [(1, "A"), (1, "B")])
    assert pin_probability(wall, {0: "B"}) == 0.0


@given(chains(max_tokens=5, max_tags=4), st.data())
def test_tags_in_a_row_are_as_probable_by_the_tables_as_by_a_pinned_chain(potentials, data):
    assume(oracle.allowed(potentials))
    first = data.draw(st.integers(0, potentials.num_tokens - 1))
    run = range(first, data.draw(st.integers(first + 1, potentials.num_tokens)))
    tag = st.integers(0, potentials.num_tags - 1)
    path = data.draw(st.tuples(*[tag] * potentials.num_tokens))
    found = run_probability(potentials, forward_backward(potentials), run, path)
    expected = pin_probability(potentials, {t: path[t] for t in run})
    assert found == pytest.approx(expected, abs=1e-9)
