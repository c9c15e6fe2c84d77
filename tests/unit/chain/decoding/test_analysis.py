"""One call, every table and decoder: as each alone, and something to draw without a path."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.decoding.decoders import greedy, max_marginal
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf


def same(first, second):
    """Equal to the last bit, with NaN nowhere."""
    return torch.equal(first, second)


@fewer_examples
@given(chains(max_tokens=4, max_tags=4))
def test_every_part_is_what_its_own_function_gives(potentials):
    analysis = analyse(potentials)
    tables = forward_backward(potentials)
    assert analysis.potentials is potentials
    for name in ("log_alpha", "log_beta", "marginals", "edge_marginals"):
        assert same(getattr(analysis.forward_backward, name), getattr(tables, name)), name
    assert analysis.forward_backward.log_partition == tables.log_partition
    assert analysis.forward_backward.entropy == tables.entropy
    assert analysis.greedy == greedy(potentials, "independent")
    assert analysis.left_to_right == greedy(potentials, "left_to_right")
    if oracle.best_score(potentials) == -INF:
        assert (analysis.viterbi, analysis.max_marginal) == (None, None)
        assert (analysis.paths["viterbi"], analysis.paths["max_marginal"]) == (None, None)
        return
    best = viterbi(potentials)
    assert analysis.viterbi.path == best.path
    assert (analysis.viterbi.score, analysis.viterbi.ties) == (best.score, best.ties)
    assert analysis.viterbi.probability == best.probability
    assert same(analysis.best, best.best)
    assert same(analysis.backpointers, best.backpointers)
    assert analysis.max_marginal == max_marginal(potentials)
    assert analysis.paths == {
        "greedy": analysis.greedy,
        "left_to_right": analysis.left_to_right,
        "viterbi": best.path,
        "max_marginal": analysis.max_marginal,
    }


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_the_best_prefixes_are_there_even_where_no_path_is(potentials):
    walled = replace(potentials, end=torch.full((potentials.num_tags,), -INF))
    analysis = analyse(walled)
    assert analysis.viterbi is None
    assert same(analysis.backpointers, analyse(potentials).backpointers)
    for t, row in enumerate(analysis.best.tolist()):
        expected = [oracle.best_prefix(walled, t, k) for k in range(potentials.num_tags)]
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "potentials",
    [
        Potentials(torch.full((1, 1), -INF), torch.zeros(1, 1)),
        Potentials(torch.full((3, 2), -INF), torch.zeros(2, 2)),
        Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF)),
        Potentials(torch.zeros(3, 2), torch.full((2, 2, 2), -INF)),
        Potentials(torch.zeros(2, 2), torch.zeros(2, 2), [-INF, -INF]),
    ],
    ids=["one cell", "emissions", "transitions", "transitions per step", "start"],
)
def test_a_chain_without_a_path_raises_nothing(potentials):
    analysis = analyse(potentials)
    assert (analysis.viterbi, analysis.max_marginal) == (None, None)
    assert analysis.forward_backward.log_partition == -INF
    assert analysis.forward_backward.marginals.sum() == 0
    assert analysis.best.shape == analysis.backpointers.shape == potentials.emissions.shape
    assert len(analysis.greedy) == len(analysis.left_to_right) == potentials.num_tokens


def test_potentials_that_want_gradients_are_analysed_too():
    emissions = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    transitions = torch.full((2, 2), -INF, dtype=torch.float64)
    for chain in (Potentials(emissions, transitions.exp()), Potentials(emissions, transitions)):
        analysis = analyse(chain)
        assert not analysis.best.requires_grad
        assert not analysis.forward_backward.marginals.requires_grad


def near(first, second):
    return first == second or abs(first - second) < 1e-9


@fewer_examples
@given(chains(max_tokens=5, max_tags=3), st.data())
def test_a_window_has_the_numbers_of_the_sentence(potentials, data):
    T, K = potentials.emissions.shape
    first = data.draw(st.integers(0, T - 1))
    length = data.draw(st.integers(1, T - first))
    whole = analyse(potentials)
    window = whole.window(first, length)
    assert window.sentence is whole
    assert window.words == whole.words[first : first + length]
    tables, masses = window.forward_backward, oracle.marginals(potentials)
    pairs = oracle.edge_marginals(potentials)
    assert near(tables.log_partition, oracle.log_partition(potentials))
    for t in range(length):
        for k in range(K):
            at = first + t
            assert near(tables.log_alpha[t, k].item(), oracle.log_alpha(potentials, at, k))
            assert near(tables.log_beta[t, k].item(), oracle.log_beta(potentials, at, k))
            assert near(tables.marginals[t, k].item(), masses.get((at, k), 0.0))
            assert near(window.best[t, k].item(), oracle.best_prefix(potentials, at, k))
            if t + 1 < length:
                expected = [pairs.get((at, (k, after)), 0.0) for after in range(K)]
                assert all(map(near, tables.edge_marginals[t, k].tolist(), expected))
    for name, path in whole.paths.items():
        assert window.paths[name] == (path and path[first : first + length])
    if whole.viterbi is not None:
        assert window.viterbi.score == whole.viterbi.score
        assert window.viterbi.probability == whole.viterbi.probability
