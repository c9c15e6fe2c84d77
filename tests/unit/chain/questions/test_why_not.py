"""Why not another tag: the best path with it, against enumeration."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import Term, why_not
from crfviz.exceptions import NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

PAIR = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]], tags=["A", "B"])


@given(chains(max_tokens=5, max_tags=4), st.data())
def test_score_path_and_probability_equal_enumeration(potentials, data):
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
def test_the_tag_of_the_best_path_has_no_gap(potentials):
    assume(oracle.allowed(potentials))
    best = viterbi(potentials)
    for position, tag in enumerate(best.path):
        answer = why_not(potentials, position, tag)
        assert answer.path == best.path
        assert answer.gap == 0.0
        assert not answer.emission_terms.any()
        assert not answer.transition_terms.any()


def test_each_term_is_at_its_place():
    potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.25]], [2.0, 0], [3, 0])
    answer = why_not(potentials, 0, 1)
    assert answer.path == [1, 0]
    assert answer.emission_terms.tolist() == [1.0, 0.0]
    assert answer.transition_terms.tolist() == [2.0, 0.0, 0.0]
    assert answer.gap == 3.0


def test_the_deciding_term_is_the_largest():
    assert why_not(PAIR, 1, "B").deciding == Term("transition", 1, 1.0)
    assert why_not(PAIR, 0, "B").deciding == Term("emission", 0, 1.0)
    begins = Potentials(torch.zeros(2, 2), torch.zeros(2, 2), [5.0, 0.0], [0.0, 0.0])
    assert why_not(begins, 0, 1).deciding == Term("start", 0, 5.0)
    ends = Potentials(torch.zeros(2, 2), torch.zeros(2, 2), [0.0, 0.0], [5.0, 0.0])
    assert why_not(ends, 1, 1).deciding == Term("end", 1, 5.0)


def test_a_rival_that_ties_has_no_gap_even_if_the_last_bit_says_less():
    """0.1 + 0.2 is more than 0.3 in floats, but it is the same score: the lower tag wins."""
    potentials = Potentials([[0.3, 0.1], [0.0, 0.2]], [[0.0, -math.inf], [-math.inf, 0.0]])
    assert viterbi(potentials).path == [0, 0]
    assert why_not(potentials, 0, 1).gap == 0.0


def test_a_tag_out_of_reach_says_so():
    blocked = Potentials(
        torch.zeros(3, 2), [[0.0, -math.inf], [0.0, 0.0]], [0.0, -math.inf], tags=["A", "B"]
    )
    with pytest.raises(NoPathError, match="no allowed path has the tag B at position 2"):
        why_not(blocked, 2, "B")
