"""Observed and expected counts, against enumeration."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gradient import expected_counts, observed_counts
from crfviz.exceptions import NoPathError, ShapeError, UnknownTagError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples


def counted(chain, weighted_paths):
    """The same counts by walking along paths, each with its weight."""
    T, K = chain.emissions.shape
    transitions = [[0.0] * K for _ in range(K)]
    emissions = [[0.0] * K for _ in range(T)]
    for path, weight in weighted_paths:
        for t, k in enumerate(path):
            emissions[t][k] += weight
        for j, k in pairwise(path):
            transitions[j][k] += weight
    return transitions, emissions[0], emissions[-1], emissions


def assert_counts(counts, expected):
    fields = (counts.transitions, counts.start, counts.end, counts.emissions)
    for found, table in zip(fields, expected, strict=True):
        torch.testing.assert_close(
            found, torch.tensor(table, dtype=torch.float64), atol=1e-9, rtol=0
        )
    torch.testing.assert_close(counts.steps.sum(0), counts.transitions)


@given(chains(max_tokens=5, max_tags=4))
def test_expected_counts_equal_enumeration(chain):
    assume(oracle.allowed(chain))
    total = oracle.log_partition(chain)
    weighted = [(path, math.exp(score - total)) for path, score in oracle.allowed(chain)]
    assert_counts(expected_counts(chain), counted(chain, weighted))


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_observed_counts_are_those_of_the_path(chain):
    assume(oracle.allowed(chain))
    path = viterbi(chain).path
    assert_counts(observed_counts(chain, path), counted(chain, [(path, 1.0)]))


def test_one_word_has_no_transition():
    chain = Potentials([[0.0, 0.0]], torch.zeros(2, 2), tags=["A", "B"])
    for counts in (expected_counts(chain), observed_counts(chain, ["B"])):
        assert counts.transitions.shape == (2, 2)
        assert counts.steps.shape == (0, 2, 2)
        assert counts.transitions.sum() == 0
        assert counts.start.sum() == 1


def test_bad_paths_are_refused():
    chain = Potentials(torch.zeros(2, 2), torch.zeros(2, 2))
    with pytest.raises(ShapeError, match="path must have 2 tags, got 3"):
        observed_counts(chain, [0, 1, 0])
    with pytest.raises(UnknownTagError, match="got 2"):
        observed_counts(chain, [0, 2])


def test_nothing_allowed():
    with pytest.raises(NoPathError, match="every path is forbidden"):
        expected_counts(Potentials(torch.zeros(2, 2), torch.full((2, 2), -math.inf)))
