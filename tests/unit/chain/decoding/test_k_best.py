"""The k best paths: all of them, in order, against enumeration."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.icecream import ice_cream
from tests.support.strategies import chains


@given(chains(max_tokens=5, max_tags=4), st.integers(1, 60))
def test_scores_equal_enumeration(potentials, k):
    expected = oracle.allowed(potentials)[:k]
    assume(expected)
    found = k_best(potentials, k)
    assert [path.score for path in found] == pytest.approx([score for _, score in expected])
    assert found[0].tags == viterbi(potentials).path


@given(chains(max_tokens=4, max_tags=3))
def test_all_allowed_paths_come_sorted_and_once(potentials):
    expected = dict(oracle.allowed(potentials))
    assume(expected)
    found = k_best(potentials, 1000)
    assert len(found) == len(expected)
    assert {tuple(path.tags) for path in found} == expected.keys()
    assert all(a.score >= b.score for a, b in pairwise(found))
    for path in found:
        assert path.score == pytest.approx(expected[tuple(path.tags)], abs=1e-9)
        assert path.probability == pytest.approx(
            oracle.probability(potentials, path.tags), abs=1e-9
        )
    assert sum(path.probability for path in found) == pytest.approx(1.0, abs=1e-9)


def test_tied_paths_both_come_and_viterbi_first():
    diary = ice_cream()
    first, second, third = k_best(diary, 3)
    assert first.tags == viterbi(diary).path
    assert second.tags == [1] * 13 + [0] * 13 + [1] * 7
    assert second.score == pytest.approx(first.score, abs=1e-9)
    assert third.score < second.score - 0.01


def test_fewer_paths_than_asked_for():
    potentials = Potentials(torch.zeros(2, 2), [[0.0, -math.inf], [0.0, 0.0]])
    found = k_best(potentials, 10)
    assert found[0].tags == [0, 0]
    assert sorted(path.tags for path in found) == [[0, 0], [1, 0], [1, 1]]


def test_one_tag_has_one_path():
    assert [path.tags for path in k_best(Potentials(torch.zeros(4, 1), [[1.0]]), 5)] == [[0] * 4]


def test_one_word_has_one_path_for_each_tag():
    potentials = Potentials([[1.0, 3.0, 2.0]], torch.zeros(3, 3), end=[0.0, 0.0, 5.0])
    assert [path.tags for path in k_best(potentials, 5)] == [[2], [1], [0]]


def test_fifty_of_a_long_sentence():
    generator = torch.Generator().manual_seed(0)
    potentials = Potentials(
        torch.randn(40, 17, generator=generator), torch.randn(17, 17, generator=generator)
    )
    found = k_best(potentials, 50)
    assert len({tuple(path.tags) for path in found}) == 50
    for path in found:
        assert path.score == pytest.approx(potentials.score(path.tags), abs=1e-9)


@pytest.mark.parametrize("k", [0, -1])
def test_k_counts_from_one(k):
    with pytest.raises(CrfvizError, match=f"k must be at least 1, got {k}"):
        k_best(Potentials([[0.0]], [[0.0]]), k)


def test_nothing_allowed():
    with pytest.raises(NoPathError, match="forbidden"):
        k_best(Potentials(torch.zeros(3, 2), torch.full((2, 2), -math.inf)), 3)
