"""The sum over all paths, against enumeration, gradients and hmmlearn, and at the edges."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.forward_backward import (
    forward_backward,
    log_partition,
    normalise,
    posteriors,
)
from crfviz.chain.potentials import Potentials
from tests.support import oracle
from tests.support.close import assert_close
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, fewer_examples

INF = math.inf


def cells(*sizes):
    return torch.cartesian_prod(*map(torch.arange, sizes)).view(-1, len(sizes)).tolist()


@given(chains())
def test_log_partition_equals_enumeration(potentials):
    expected = pytest.approx(oracle.log_partition(potentials), abs=1e-9)
    assert forward_backward(potentials).log_partition == expected
    assert log_partition(potentials) == expected


@given(chains(max_tokens=4, max_tags=4))
def test_tables_equal_enumeration(potentials):
    tables = forward_backward(potentials)
    for t, k in cells(potentials.num_tokens, potentials.num_tags):
        alpha, beta = tables.log_alpha[t, k].item(), tables.log_beta[t, k].item()
        assert alpha == pytest.approx(oracle.log_alpha(potentials, t, k), abs=1e-9)
        assert beta == pytest.approx(oracle.log_beta(potentials, t, k), abs=1e-9)


@given(chains(max_tokens=4, max_tags=3))
def test_marginals_equal_enumeration(potentials):
    T, K = potentials.num_tokens, potentials.num_tags
    tables = forward_backward(potentials)
    marginals, edges = oracle.marginals(potentials), oracle.edge_marginals(potentials)
    for t, k in cells(T, K):
        assert tables.marginals[t, k].item() == pytest.approx(marginals[t, k], abs=1e-9)
    for t, j, k in cells(T - 1, K, K):
        expected = pytest.approx(edges[t, (j, k)], abs=1e-9)
        assert tables.edge_marginals[t, j, k].item() == expected


@given(chains(max_tokens=5))
def test_entropy_equals_enumeration(potentials):
    expected = oracle.entropy(potentials)
    assert forward_backward(potentials).entropy == pytest.approx(expected, abs=1e-9)


@given(chains())
def test_marginals_are_the_gradient_of_log_partition(potentials):
    leaves = [
        getattr(potentials, name).clone().requires_grad_()
        for name in ("emissions", "transitions", "start", "end")
    ]
    recursions.log_partition(*leaves).backward()
    emissions, transitions, start, end = (
        torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves
    )
    tables = forward_backward(potentials)
    edges = tables.edge_marginals
    expected_edges = edges if transitions.dim() == 3 else edges.sum(0)
    assert_close(emissions, tables.marginals, rtol=0, atol=1e-9)
    assert_close(transitions, expected_edges, rtol=0, atol=1e-9)
    assert_close(start, tables.marginals[0], rtol=0, atol=1e-9)
    assert_close(end, tables.marginals[-1], rtol=0, atol=1e-9)


@fewer_examples
@given(st.lists(chains(), min_size=1, max_size=4), st.booleans())
def test_batched_chains_equal_single_chains(several, shared):
    first = several[0]
    alike = [chain for chain in several if chain.num_tags == first.num_tags]
    if shared and first.homogeneous:
        alike = [
            Potentials(chain.emissions, first.transitions, chain.start, chain.end)
            for chain in alike
        ]
    for chain, found in zip(alike, posteriors(alike), strict=True):
        alone = Potentials(chain.emissions, chain.transitions, chain.start, chain.end)
        tables = forward_backward(alone)
        assert_close(found.marginals, tables.marginals, rtol=0, atol=1e-9)
        assert found.log_partition == pytest.approx(tables.log_partition, abs=1e-9)
        assert log_partition(chain) == found.log_partition


def test_ice_cream_diary_has_the_published_numbers():
    tables = forward_backward(ice_cream())
    assert tables.log_partition == pytest.approx(-41.537818, abs=5e-7)
    assert math.exp(tables.log_partition) == pytest.approx(9.127565e-19, rel=1e-6)
    assert tables.marginals[:3, 1].tolist() == pytest.approx([0.8709, 0.9769, 0.9893], abs=5e-5)
    other = forward_backward(ice_cream(first=1)).marginals[:3, 1]
    assert other.tolist() == pytest.approx([0.4909, 0.9176, 0.9749], abs=5e-5)


def test_large_opposing_scores_sum_exactly():
    emissions = [[100.0, 0.0]] * 8 + [[0.0, 100.0]] * 16
    tables = forward_backward(Potentials(emissions, [[0.0, -INF], [-INF, 0.0]]))
    assert tables.log_partition == 1600.0
    assert tables.marginals[:, 1].tolist() == pytest.approx([1.0] * 24, abs=1e-12)


def test_log_space_finds_a_path_far_below_dead_ends():
    """At mid-sentence the two best paths are 420 nats below a dead prefix and a dead suffix."""
    emissions = torch.zeros(6, 3)
    emissions[:3, 0] = emissions[3:, 1] = 420.0
    transitions = torch.full((3, 3), -INF).fill_diagonal_(0.0)
    transitions[0, 2] = transitions[2, 1] = -420.0
    tables = forward_backward(Potentials(emissions, transitions, [0, -INF, -INF], [-INF, 0, -INF]))
    assert tables.log_partition == pytest.approx(1260.0 + math.log(2.0), abs=1e-9)
    assert tables.marginals.sum(-1).tolist() == pytest.approx([1.0] * 6, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_marginals_of_two_thousand_words_sum_to_one(scale):
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(2000, 17, generator=generator, dtype=torch.float64) * scale
    transitions = torch.randn(17, 17, generator=generator, dtype=torch.float64) * scale
    tables = forward_backward(Potentials(emissions, transitions))
    ones = torch.ones(2000, dtype=torch.float64)
    assert_close(tables.marginals.sum(-1), ones, rtol=0, atol=1e-9)
    assert_close(tables.edge_marginals.sum((1, 2)), ones[1:], rtol=0, atol=1e-9)


def test_ten_thousand_words_stay_finite():
    emissions = torch.ones(10_000, 2) * torch.tensor([1.0, 2.0])
    tables = forward_backward(Potentials(emissions, torch.zeros(2, 2)))
    expected = 10_000 * math.log(math.e + math.e**2)
    assert tables.log_partition == pytest.approx(expected, rel=1e-12)
    assert tables.marginals[:, 0].tolist() == pytest.approx([1 / (1 + math.e)] * 10_000, abs=1e-9)
    bits = -sum(p * math.log(p) for p in (1 / (1 + math.e), math.e / (1 + math.e)))
    assert tables.entropy == pytest.approx(10_000 * bits, rel=1e-9)


def test_normalise_gives_zeros_and_finite_gradients_for_a_dead_row():
    scores = torch.tensor([[0.0, 0.0], [-INF, -INF], [-INF, 1.0]], requires_grad=True)
    weights = normalise(scores)
    assert weights.tolist() == [[0.5, 0.5], [0.0, 0.0], [0.0, 1.0]]
    weights[:, 0].sum().backward()
    assert scores.grad.tolist() == [[0.25, -0.25], [0.0, 0.0], [0.0, 0.0]]


def test_rounded_marginals_never_exceed_one():
    alone = Potentials([[0.0]] * 3, [[0.0]], start=[1.4286], end=[-3.0])
    assert forward_backward(alone).marginals.tolist() == [[1.0]] * 3
    moved = Potentials([[0.0]] * 3, [[0.1]], start=[1.4286], end=[-3.0])
    assert forward_backward(moved).edge_marginals.max() <= 1.0
