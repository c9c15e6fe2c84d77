"""Pins, forbidden tags, and the best path with another tag, against enumeration."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import (
    Term,
    condition,
    pin_probability,
    restrict,
    run_probability,
    why_not,
)
from crfviz.exceptions import NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

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
def test_pin_probability_equals_enumeration(case):
    chain, pins, forbidden, left = case
    expected = math.fsum(oracle.probability(chain, path) for path in left)
    assert pin_probability(chain, pins, forbidden) == pytest.approx(expected, abs=1e-9)


@given(pinned_chains())
def test_cost_and_score_loss_of_pins_equal_enumeration(case):
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


def test_cost_of_a_pin_on_a_long_sentence_is_precise():
    """The cost is found although its probability is too small for a float."""
    chain = Potentials(torch.tensor([[0.0, -1.0]] * 1000), torch.zeros(2, 2))
    found = condition(chain, dict.fromkeys(range(1000), 1))
    assert found.cost == pytest.approx(1000 * math.log(1 + math.e), rel=1e-12)
    assert found.probability == 0.0


def test_pins_accept_tag_names_and_ids():
    assert pin_probability(COIN, {0: "B"}, [(1, "A")]) == pytest.approx(0.25, abs=1e-12)
    assert restrict(COIN, {}, [(1, "A")]).emissions[1].tolist() == [-INF, 0.0]
    assert COIN.emissions[1].tolist() == [0.0, 0.0]


def test_no_path_error_names_the_responsible_pin():
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
def test_run_probability_equals_that_of_a_pinned_chain(potentials, data):
    assume(oracle.allowed(potentials))
    first = data.draw(st.integers(0, potentials.num_tokens - 1))
    run = range(first, data.draw(st.integers(first + 1, potentials.num_tokens)))
    tag = st.integers(0, potentials.num_tags - 1)
    path = data.draw(st.tuples(*[tag] * potentials.num_tokens))
    found = run_probability(potentials, forward_backward(potentials), run, path)
    expected = pin_probability(potentials, {t: path[t] for t in run})
    assert found == pytest.approx(expected, abs=1e-9)


PAIR = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]], tags=["A", "B"])


@given(chains(max_tokens=5, max_tags=4), st.data())
def test_why_not_score_path_and_probability_equal_enumeration(potentials, data):
    position = data.draw(st.integers(0, potentials.num_tokens - 1))
    tag = data.draw(st.integers(0, potentials.num_tags - 1))
    with_tag = [score for path, score in oracle.allowed(potentials) if path[position] == tag]
    assume(with_tag)
    answer = why_not(potentials, position, tag)
    assert answer.path[position] == tag
    assert answer.score == pytest.approx(max(with_tag), abs=1e-9)
    assert oracle.paths(potentials)[tuple(answer.path)] == pytest.approx(max(with_tag), abs=1e-9)
    assert answer.probability == pytest.approx(
        oracle.probability(potentials, answer.path), abs=1e-9
    )
    assert answer.gap == pytest.approx(oracle.best_score(potentials) - max(with_tag), abs=1e-9)
    assert answer.gap >= 0.0
    assert answer.emission_terms.shape == (potentials.num_tokens,)
    assert answer.transition_terms.shape == (potentials.num_tokens + 1,)
    total = answer.emission_terms.sum() + answer.transition_terms.sum()
    assert total.item() == pytest.approx(answer.gap, abs=1e-9)
    assert answer.best == viterbi(potentials).path


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_why_not_of_the_best_path_has_no_gap(potentials):
    assume(oracle.allowed(potentials))
    best = viterbi(potentials)
    for position, tag in enumerate(best.path):
        answer = why_not(potentials, position, tag)
        assert answer.path == best.path
        assert answer.gap == 0.0
        assert not answer.emission_terms.any()
        assert not answer.transition_terms.any()


def test_why_not_terms_are_at_their_positions():
    potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.25]], [2.0, 0], [3, 0])
    answer = why_not(potentials, 0, 1)
    assert answer.path == [1, 0]
    assert answer.emission_terms.tolist() == [1.0, 0.0]
    assert answer.transition_terms.tolist() == [2.0, 0.0, 0.0]
    assert answer.gap == 3.0


def test_deciding_term_is_the_largest():
    assert why_not(PAIR, 1, "B").deciding == Term("transition", 1, 1.0)
    assert why_not(PAIR, 0, "B").deciding == Term("emission", 0, 1.0)
    begins = Potentials(torch.zeros(2, 2), torch.zeros(2, 2), [5.0, 0.0], [0.0, 0.0])
    assert why_not(begins, 0, 1).deciding == Term("start", 0, 5.0)
    ends = Potentials(torch.zeros(2, 2), torch.zeros(2, 2), [0.0, 0.0], [5.0, 0.0])
    assert why_not(ends, 1, 1).deciding == Term("end", 1, 5.0)


def test_rival_tied_within_rounding_has_no_gap():
    """0.1 + 0.2 is more than 0.3 in floats, but it is the same score: the lower tag wins."""
    potentials = Potentials([[0.3, 0.1], [0.0, 0.2]], [[0.0, -math.inf], [-math.inf, 0.0]])
    assert viterbi(potentials).path == [0, 0]
    assert why_not(potentials, 0, 1).gap == 0.0


def test_why_not_of_an_unreachable_tag_raises_no_path_error():
    blocked = Potentials(
        torch.zeros(3, 2), [[0.0, -math.inf], [0.0, 0.0]], [0.0, -math.inf], tags=["A", "B"]
    )
    with pytest.raises(NoPathError, match="no allowed path has the tag B at position 2"):
        why_not(blocked, 2, "B")
