"""One gradient step against autograd and enumeration."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.crf import CRF
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gradient import gradient_step
from crfviz.exceptions import CrfvizError, NoPathError, ScoreError, ShapeError, UnknownTagError
from tests.support import oracle
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
def test_the_step_equals_autograd(case, size):
    chain, path = case
    weights = [
        tensor.clone().requires_grad_() for tensor in (chain.transitions, chain.start, chain.end)
    ]
    transitions, start, end = weights
    log_partition = recursions.log_partition(chain.emissions, transitions, start, end)
    score = recursions.path_score(chain.emissions, transitions, start, end, torch.tensor(path))
    (log_partition - score).backward()
    moved = gradient_step(chain, path, size).potentials
    for weight, found in zip(weights, (moved.transitions, moved.start, moved.end), strict=True):
        gradient = torch.zeros_like(weight) if weight.grad is None else weight.grad
        torch.testing.assert_close(found, weight.detach() - size * gradient, atol=1e-6, rtol=0)
    assert torch.equal(moved.emissions, chain.emissions)


@given(chains_with_path(max_tokens=4, max_tags=4), SIZES)
def test_losses_equal_enumeration(case, size):
    chain, path = case
    step = gradient_step(chain, path, size)
    for found, there in ((step.loss_before, chain), (step.loss_after, step.potentials)):
        loss = oracle.log_partition(there) - oracle.paths(there)[tuple(path)]
        assert found == pytest.approx(loss, abs=1e-9)
        assert found >= 0.0


@fewer_examples
@given(chains_with_path(max_tokens=4, max_tags=3))
def test_a_small_step_lowers_the_loss_by_the_squared_gradient(case):
    chain, path = case
    step = gradient_step(chain, path, 1e-4)
    shared = chain.transitions.dim() == 2
    moves = step.difference.transitions if shared else step.difference.steps
    squares = sum(
        (part**2).sum().item() for part in (moves, step.difference.start, step.difference.end)
    )
    assert step.loss_before - step.loss_after == pytest.approx(1e-4 * squares, abs=1e-6)


@given(chains_with_path(max_tokens=4, max_tags=4), SIZES)
def test_the_prediction_is_autograd_along_the_step(case, size):
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


def test_the_step_is_what_the_layer_learns():
    """CRF.log_likelihood with plain SGD moves its parameters to the same values."""
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
    torch.optim.SGD(layer.parameters(), lr=0.7).step()
    torch.testing.assert_close(step.potentials.transitions, layer.transitions.data)
    torch.testing.assert_close(step.potentials.start, layer.start_transitions.data)
    torch.testing.assert_close(step.potentials.end, layer.end_transitions.data)
    assert not step.potentials.transitions.requires_grad


def test_what_is_forbidden_stays_forbidden_and_names_stay():
    chain = Potentials(
        torch.zeros(2, 2), [[0.0, -INF], [0.0, 0.0]], tags=["A", "B"], tokens=["x", "y"]
    )
    moved = gradient_step(chain, ["B", "A"], 10.0).potentials
    assert moved.transitions[0, 1] == -INF
    assert (moved.tags, moved.tokens) == (chain.tags, chain.tokens)
    assert chain.transitions.tolist() == [[0.0, -INF], [0.0, 0.0]]


def test_no_step_changes_no_bit():
    moved = gradient_step(COIN, "ABA", 0).potentials
    assert torch.equal(moved.transitions, COIN.transitions)


@pytest.mark.parametrize("size", [math.nan, INF, -INF, "1", None])
def test_a_size_that_is_no_number_is_refused(size):
    with pytest.raises(CrfvizError, match="the size of a step must be a finite number, got"):
        gradient_step(COIN, "ABA", size)


def test_a_size_beyond_all_scores_is_refused():
    with pytest.raises(ScoreError, match="must be -inf"):
        gradient_step(COIN, "ABA", 1e200)
    assert gradient_step(COIN, "ABA", np.float32(0.5)).loss_after < 2.0


def test_bad_paths_are_refused():
    with pytest.raises(ShapeError, match="path must have 3 tags, got 2"):
        gradient_step(COIN, "AB", 1.0)
    with pytest.raises(UnknownTagError, match="expected one of the tags A, B"):
        gradient_step(COIN, "ABC", 1.0)
    wall = COIN.with_transition("A", "B", -INF)
    with pytest.raises(CrfvizError, match="the path is forbidden"):
        gradient_step(wall, "ABA", 1.0)


def test_nothing_allowed():
    dead = Potentials(torch.zeros(2, 2), torch.full((2, 2), -INF))
    with pytest.raises(NoPathError, match="every path is forbidden"):
        gradient_step(dead, [0, 0], 1.0)
