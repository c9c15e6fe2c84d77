"""Piles of samples: allowed, as often as enumeration says, and the same however many follow."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.potentials import Potentials
from crfviz.chain.sampling import largest_gap, pile
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf
FREE = Potentials(torch.zeros(20, 3), torch.zeros(3, 3))


@fewer_examples
@given(chains(max_tokens=5, max_tags=4).filter(oracle.allowed))
def test_samples_are_allowed_and_counted(potentials):
    scores = oracle.paths(potentials)
    found = pile(potentials, 7, seed=2)
    paths = found.paths.tolist()
    assert all(scores[tuple(path)] > -INF for path in paths)
    for t in range(potentials.num_tokens):
        for k in range(potentials.num_tags):
            assert found.uses[t, k] == sum(path[t] == k for path in paths)
    for t in range(potentials.num_tokens - 1):
        for j in range(potentials.num_tags):
            for k in range(potentials.num_tags):
                count = sum((path[t], path[t + 1]) == (j, k) for path in paths)
                assert found.moves[t, j, k] == count


@pytest.mark.parametrize("per_step", [False, True], ids=["one matrix", "matrix per step"])
def test_shares_of_whole_paths_are_their_probabilities(per_step):
    """Within five standard errors for each of the 27 paths."""
    n = 20_000
    generator = torch.Generator().manual_seed(3)
    transitions = torch.randn((2, 3, 3) if per_step else (3, 3), generator=generator)
    transitions[..., 0, 1] = -INF
    potentials = Potentials(
        torch.randn(3, 3, generator=generator),
        transitions,
        torch.randn(3, generator=generator),
        torch.randn(3, generator=generator),
    )
    found = pile(potentials, n, seed=4)
    paths = [tuple(path) for path in found.paths.tolist()]
    for path in oracle.paths(potentials):
        p = oracle.probability(potentials, path)
        assert paths.count(path) / n == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n))
    marginals = oracle.marginals(potentials)
    for (t, k), p in marginals.items():
        assert found.frequencies[t, k].item() == pytest.approx(p, abs=0.02)


@pytest.mark.parametrize("more", [1, 10, 17, 400])
def test_the_first_samples_stay_the_same(more):
    first = pile(FREE, 9, seed=5).paths
    assert torch.equal(pile(FREE, 9 + more, seed=5).paths[:9], first)
    assert not torch.equal(pile(FREE, 9, seed=6).paths, first)


def test_the_largest_gap_has_a_place():
    gap, position, tag = largest_gap(
        torch.tensor([[0.5, 0.5], [0.0, 1.0]]), torch.tensor([[0.4, 0.6], [0.25, 0.75]])
    )
    assert (gap, position, tag) == (0.25, 1, 0)


def test_no_samples_one_word_and_nothing_allowed():
    none = pile(FREE, 0, seed=0)
    assert none.paths.shape == (0, 20)
    assert none.uses.sum() == none.moves.sum() == 0
    single = pile(Potentials([[0.0, -INF]], torch.zeros(2, 2)), 3, seed=0)
    assert single.uses.tolist() == [[3, 0]]
    assert single.moves.shape == (0, 2, 2)
    with pytest.raises(NoPathError, match="forbidden"):
        pile(Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF)), 1, seed=0)
    with pytest.raises(CrfvizError, match="0 or more, got -1 and 0"):
        pile(FREE, -1, seed=0)
