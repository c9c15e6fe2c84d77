"""A gradient step and how far a nudge reaches, against autograd and enumeration."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import (
    expected_counts,
    gradient_step,
    influence,
    observed_counts,
)
from crfviz.exceptions import CrfvizError, ScoreError, ShapeError
from tests.support import oracle
from tests.support.close import assert_close
from tests.support.icecream import COLD, HOT, ice_cream
from tests.support.strategies import chains, fewer_examples

INF = math.inf
COIN = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]], tags=["A", "B"])
SIZES = st.sampled_from([0.5, 1.0, -2.0, 0.0])


@st.composite
def chains_with_path(draw, **sizes):
    chain = draw(chains(**sizes).filter(oracle.allowed))
    path = draw(st.sampled_from([path for path, _ in oracle.allowed(chain)]))
    return chain, list(path)


@given(chains_with_path(max_tokens=4, max_tags=4), SIZES)
def test_gradient_step_equals_autograd_and_its_losses_enumeration(case, size):
    chain, path = case
    weights = [
        tensor.clone().requires_grad_() for tensor in (chain.transitions, chain.start, chain.end)
    ]
    transitions, start, end = weights
    log_partition = recursions.log_partition(chain.emissions, transitions, start, end)
    score = recursions.path_score(chain.emissions, transitions, start, end, torch.tensor(path))
    (log_partition - score).backward()
    step = gradient_step(chain, path, size)
    moved = step.potentials
    for loss, there in ((step.loss_before, chain), (step.loss_after, moved)):
        expected = oracle.log_partition(there) - oracle.paths(there)[tuple(path)]
        assert loss == pytest.approx(expected, abs=1e-9)
        assert loss >= 0.0
    for weight, found in zip(weights, (moved.transitions, moved.start, moved.end), strict=True):
        gradient = torch.zeros_like(weight) if weight.grad is None else weight.grad
        assert_close(found, weight.detach() - size * gradient, atol=1e-6, rtol=0)
    assert torch.equal(moved.emissions, chain.emissions)


@given(chains_with_path(max_tokens=4, max_tags=4), SIZES)
def test_predicted_loss_change_equals_the_directional_derivative(case, size):
    """d loss / d size at 0, from the loss of weights that move along the step, times the size."""
    chain, path = case
    step = gradient_step(chain, path, size)
    length = torch.zeros((), dtype=torch.float64, requires_grad=True)
    shared = chain.transitions.dim() == 2
    moves = step.difference.transitions if shared else step.difference.steps
    weights = [
        table + length * size * move
        for table, move in (
            (chain.transitions, moves),
            (chain.start, step.difference.start),
            (chain.end, step.difference.end),
        )
    ]
    score = recursions.path_score(chain.emissions, *weights, torch.tensor(path))
    loss = recursions.log_partition(chain.emissions, *weights) - score
    loss.backward()
    assert step.predicted == pytest.approx(length.grad.item(), abs=1e-6)


def test_gradient_step_equals_sgd_on_the_crf_layer():
    """CRF.log_likelihood with plain gradient descent moves its parameters to the same values."""
    generator = torch.Generator().manual_seed(1)
    layer = CRF(3).double()
    emissions = torch.randn(1, 5, 3, generator=generator, dtype=torch.float64)
    path = [0, 2, 1, 1, 0]
    chain = Potentials(
        emissions[0], layer.transitions, layer.start_transitions, layer.end_transitions
    )
    step = gradient_step(chain, path, 0.7)
    loss = -layer.log_likelihood(emissions, torch.tensor([path]), None).sum()
    assert loss.item() == pytest.approx(step.loss_before, abs=1e-9)
    loss.backward()
    with torch.no_grad():
        for weight in layer.parameters():
            weight -= 0.7 * weight.grad
    assert_close(step.potentials.transitions, layer.transitions.data)
    assert_close(step.potentials.start, layer.start_transitions.data)
    assert_close(step.potentials.end, layer.end_transitions.data)
    assert not step.potentials.transitions.requires_grad


def test_gradient_step_keeps_forbidden_scores_and_names():
    chain = Potentials(
        torch.zeros(2, 2), [[0.0, -INF], [0.0, 0.0]], tags=["A", "B"], tokens=["x", "y"]
    )
    moved = gradient_step(chain, ["B", "A"], 10.0).potentials
    assert moved.transitions[0, 1] == -INF
    assert (moved.tags, moved.tokens) == (chain.tags, chain.tokens)
    assert chain.transitions.tolist() == [[0.0, -INF], [0.0, 0.0]]


def test_step_size_that_overflows_scores_is_rejected():
    with pytest.raises(ScoreError, match="must be -inf"):
        gradient_step(COIN, "ABA", 1e200)
    assert gradient_step(COIN, "ABA", np.float32(0.5)).loss_after < 2.0


def test_gradient_step_on_a_forbidden_path_is_rejected():
    wall = COIN.with_transition("A", "B", -INF)
    with pytest.raises(CrfvizError, match="the path is forbidden"):
        gradient_step(wall, "ABA", 1.0)


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
        assert_close(found, torch.tensor(table, dtype=torch.float64), atol=1e-9, rtol=0)
    assert_close(counts.steps.sum(0), counts.transitions)


@given(chains(max_tokens=5, max_tags=4))
def test_expected_counts_equal_enumeration(chain):
    assume(oracle.allowed(chain))
    total = oracle.log_partition(chain)
    weighted = [(path, math.exp(score - total)) for path, score in oracle.allowed(chain)]
    assert_counts(expected_counts(chain), counted(chain, weighted))


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_observed_counts_equal_those_of_the_path(chain):
    assume(oracle.allowed(chain))
    path = viterbi(chain).path
    assert_counts(observed_counts(chain, path), counted(chain, [(path, 1.0)]))


def test_single_word_has_no_transition_counts():
    chain = Potentials([[0.0, 0.0]], torch.zeros(2, 2), tags=["A", "B"])
    for counts in (expected_counts(chain), observed_counts(chain, ["B"])):
        assert counts.transitions.shape == (2, 2)
        assert counts.steps.shape == (0, 2, 2)
        assert counts.transitions.sum() == 0
        assert counts.start.sum() == 1


STAY = Potentials([[0.0, 0.0]] * 9, [[1.0, 0.0], [0.0, 1.0]], tags=["A", "B"])


@given(chains(max_tokens=4, max_tags=3).filter(oracle.allowed), st.floats(-3.0, 3.0), st.data())
def test_influence_equals_enumeration(chain, delta, data):
    position = data.draw(st.integers(0, chain.num_tokens - 1))
    found = influence(chain, position, delta)
    assert found.tag == viterbi(chain).path[position]
    score = chain.emissions[position, found.tag].item() + delta
    before = oracle.marginals(chain)
    after = oracle.marginals(chain.with_emission(position, found.tag, score))
    for t in range(chain.num_tokens):
        moved = 0.0
        for k in range(chain.num_tags):
            expected = after.get((t, k), 0.0) - before.get((t, k), 0.0)
            assert found.change[t, k].item() == pytest.approx(expected, abs=1e-9)
            moved += abs(expected) / 2
        assert found.reach[t].item() == pytest.approx(moved, abs=1e-9)


def test_influence_of_one_ice_cream_equals_the_spreadsheet():
    """Only the ratio p(1 | C) / p(1 | H) = 7 in place of 1 counts, so one emission is enough."""
    diary = ice_cream()
    found = influence(diary, 0, math.log(7.0), COLD)
    hot = forward_backward(diary).marginals[:3, HOT]
    assert hot.tolist() == pytest.approx([0.8709, 0.9769, 0.9893], abs=5e-5)
    assert (hot + found.change[:3, HOT]).tolist() == pytest.approx(
        [0.4909, 0.9176, 0.9749], abs=5e-5
    )


def test_horizon_is_the_farthest_noticeably_changed_word():
    found = influence(STAY, 4, 1.0, "A")
    assert found.reach[4] == found.reach.max()
    assert found.horizon(4, noticeable=1.0) == 0
    assert found.horizon(4, noticeable=0.0) == 4
    reach = found.reach.tolist()
    assert found.horizon(4, noticeable=reach[2]) == 2
    assert influence(STAY, 0, 1.0, "A").horizon(0, noticeable=0.0) == 8


def test_influence_of_zero_delta_is_zero():
    found = influence(STAY, 3, 0)
    assert not found.change.any()
    assert found.horizon(3) == 0


@given(chains_with_path(max_tokens=4, max_tags=3), st.data())
def test_gradient_step_sums_over_unknown_tags(case, data):
    chain, path = case
    known = data.draw(st.lists(st.booleans(), min_size=len(path), max_size=len(path)))
    partial = [tag if given else None for tag, given in zip(path, known, strict=True)]
    weights = {
        each: math.exp(score - oracle.log_partition(chain)) for each, score in oracle.allowed(chain)
    }
    free = {
        each: p
        for each, p in weights.items()
        if all(tag in (None, mine) for tag, mine in zip(partial, each, strict=True))
    }
    total = sum(free.values())
    assume(total > 1e-100)
    step = gradient_step(chain, partial, 0.5)
    assert step.loss_before == pytest.approx(-math.log(total), abs=1e-8)
    for paths, found in ((free, step.observed), (weights, expected_counts(chain))):
        start = torch.zeros(chain.num_tags, dtype=torch.float64)
        moves = torch.zeros(chain.num_tags, chain.num_tags, dtype=torch.float64)
        for each, p in paths.items():
            start[each[0]] += p / sum(paths.values())
            for before, after in pairwise(each):
                moves[before, after] += p / sum(paths.values())
        assert_close(found.start, start, atol=1e-8, rtol=0)
        assert_close(found.transitions, moves, atol=1e-8, rtol=0)
    if not any(known):
        assert step.loss_before == 0.0
        assert step.predicted == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ShapeError, match="path must have"):
        gradient_step(chain, [*partial, None], 0.5)
