"""The k best paths: all of them, in order, against enumeration."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import viterbi
from tests.support import oracle
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, random_chain


@given(chains(max_tokens=4, max_tags=4), st.integers(1, 60) | st.just(1000))
def test_paths_come_sorted_and_once_with_the_scores_of_enumeration(potentials, k):
    every = oracle.allowed(potentials)
    assume(every)
    found, scores = k_best(potentials, k), dict(every)
    assert [path.score for path in found] == pytest.approx([score for _, score in every[:k]])
    assert all(a.score >= b.score for a, b in pairwise(found))
    assert len({tuple(path.tags) for path in found}) == len(found)
    assert found[0].tags == viterbi(potentials).path
    for path in found:
        assert path.score == pytest.approx(scores[tuple(path.tags)], abs=1e-9)
        probability = oracle.probability(potentials, path.tags)
        assert path.probability == pytest.approx(probability, abs=1e-9)


def test_tied_paths_both_come_and_viterbi_first():
    diary = ice_cream()
    first, second, third = k_best(diary, 3)
    assert first.tags == viterbi(diary).path
    assert second.tags == [1] * 13 + [0] * 13 + [1] * 7
    assert second.score == pytest.approx(first.score, abs=1e-9)
    assert third.score < second.score - 0.01


def test_fifty_of_a_long_sentence():
    potentials = random_chain(0, 40, 17)
    found = k_best(potentials, 50)
    assert len({tuple(path.tags) for path in found}) == 50
    for path in found:
        assert path.score == pytest.approx(potentials.score(path.tags), abs=1e-9)
