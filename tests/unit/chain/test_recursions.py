"""The loops: safe at -inf, differentiable, the same for NumPy, tensors, sentences and batches."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.engine.packing import lowest_best
from crfviz.chain.recursions import TOLERANCE
from tests.support import oracle
from tests.support.close import assert_close, assert_slopes
from tests.support.strategies import chains, fewer_examples
from tests.support.weights import lines, uses

INF = math.inf


@st.composite
def batches(draw):
    """One to four chains with the same transitions, start and end, as singles and as a batch."""
    shared = draw(chains())
    per_step = shared.transitions.dim() == 3
    T, K = shared.num_tokens, shared.num_tags
    others = st.lists(st.integers(1, T), max_size=3)
    lengths = [T, *draw(others if not per_step else st.just([]))]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    emissions = torch.randn(len(lengths), T, K, generator=generator, dtype=torch.float64)
    emissions[0] = shared.emissions
    mask = torch.arange(T) < torch.tensor(lengths)[:, None]
    return emissions, shared.transitions, shared.start, shared.end, mask


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_logsumexp_equals_torch_except_for_dead_rows(scale):
    scores = torch.randn(4, 5, generator=torch.Generator().manual_seed(0)).double() * scale
    scores[1, 2] = -INF
    for dim in (0, 1):
        expected = torch.logsumexp(scores, dim)
        assert_close(recursions.logsumexp(scores, dim), expected)
        assert_close(recursions.logsumexp(scores.clone().requires_grad_(), dim).detach(), expected)
        found = torch.from_numpy(recursions.logsumexp(scores.numpy(), dim))
        assert_close(found, expected)


def test_logsumexp_of_a_dead_row_has_gradient_zero():
    scores = torch.tensor([[-INF, -INF], [0.0, -INF]], requires_grad=True)
    total = recursions.logsumexp(scores, 1)
    assert total.tolist() == [-INF, 0.0]
    total[1].backward(retain_graph=True)
    total[0].backward()
    assert scores.grad.tolist() == [[0.0, 0.0], [1.0, 0.0]]


@given(chains(max_tokens=4, max_tags=3))
def test_recursion_tables_equal_enumeration(potentials):
    emissions, transitions, start, end = (
        getattr(potentials, name) for name in ("emissions", "transitions", "start", "end")
    )
    log_alpha = recursions.forward(emissions, transitions, start)
    best = recursions.forward(emissions, transitions, start, reduce=recursions.maximum)
    log_beta = recursions.backward(emissions, transitions, end)
    total = recursions.log_partition(emissions, transitions, start, end).item()
    assert total == pytest.approx(oracle.log_partition(potentials), abs=1e-9)
    for t in range(potentials.num_tokens):
        for k in range(potentials.num_tags):
            expected = oracle.log_alpha(potentials, t, k)
            assert log_alpha[t, k].item() == pytest.approx(expected, abs=1e-9)
            expected = oracle.best_prefix(potentials, t, k)
            assert best[t, k].item() == pytest.approx(expected, abs=1e-9)
            expected = oracle.log_beta(potentials, t, k)
            assert log_beta[t, k].item() == pytest.approx(expected, abs=1e-9)


@fewer_examples
@given(chains())
def test_numpy_and_tensors_give_equal_tables(potentials):
    emissions, transitions, start, end = potentials.arrays()
    tensors = (potentials.emissions, potentials.transitions, potentials.start, potentials.end)
    for reduce in (recursions.logsumexp, recursions.maximum):
        expected = recursions.forward(*tensors[:3], reduce=reduce)
        found = torch.from_numpy(recursions.forward(emissions, transitions, start, reduce=reduce))
        assert_close(found, expected, rtol=0, atol=1e-9)
    expected = recursions.backward(*tensors[:2], tensors[3])
    found = torch.from_numpy(recursions.backward(emissions, transitions, end))
    assert_close(found, expected, rtol=0, atol=1e-9)


@fewer_examples
@given(batches())
def test_batch_equals_its_sentences_for_any_padding(batch):
    emissions, transitions, start, end, mask = batch
    log_alpha = recursions.forward(emissions, transitions, start, mask)
    log_beta = recursions.backward(emissions, transitions, end, mask)
    totals = recursions.log_partition(emissions, transitions, start, end, mask)
    for i, length in enumerate(mask.sum(-1).tolist()):
        alone = emissions[i, :length]
        steps = transitions if transitions.dim() == 2 else transitions[: length - 1]
        assert_close(
            log_alpha[i, :length], recursions.forward(alone, steps, start), rtol=0, atol=1e-9
        )
        assert_close(
            log_beta[i, :length], recursions.backward(alone, steps, end), rtol=0, atol=1e-9
        )
        total = recursions.log_partition(alone, steps, start, end)
        assert totals[i].item() == pytest.approx(total.item(), abs=1e-9)
    for padding in (0.0, 1e6, -INF):
        padded = torch.where(mask[..., None], emissions, padding)
        after = recursions.log_partition(padded, transitions, start, end, mask)
        assert torch.equal(after, totals)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3), st.data())
def test_path_scores_of_many_paths_equal_enumeration(potentials, data):
    tag = st.integers(0, potentials.num_tags - 1)
    path = st.tuples(*[tag] * potentials.num_tokens)
    paths = data.draw(st.lists(path, min_size=1, max_size=4))
    scores = (potentials.emissions, potentials.transitions, potentials.start, potentials.end)
    found = recursions.path_score(*scores, torch.tensor(paths))
    expected = oracle.paths(potentials)
    assert found.tolist() == pytest.approx([expected[path] for path in paths], abs=1e-9)


def test_gradients_equal_finite_differences():
    generator = torch.Generator().manual_seed(0)
    shapes = [(2, 3, 2), (2, 2), (2,), (2,)]
    leaves = [
        torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in shapes
    ]
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert_slopes(lambda *x: recursions.log_partition(*x, mask).sum(), leaves)


def test_follow_traces_backpointers():
    assert recursions.follow(1, []) == [1]
    assert recursions.follow(1, [[5, 0], [1, 9]]) == [1, 0, 1]


def test_products_multiply_matrices_in_order():
    first = torch.tensor([1.0, 0.0])
    weights = torch.tensor([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.25, 0.5]]])
    assert recursions.products(first, weights).tolist() == [[1, 0], [0, 1], [0.25, 0.5]]
    assert recursions.products(first, weights[:0]).tolist() == [[1, 0]]


@given(chains(max_tokens=5, max_tags=4), st.data())
def test_best_by_uses_equals_enumeration(potentials, data):
    tags = st.integers(0, potentials.num_tags - 1)
    before, after = data.draw(tags), data.draw(tags)
    expected = lines(potentials, ("transition", before, after))
    found = recursions.best_by_uses(*potentials.arrays(), before, after).tolist()
    assert len(found) == potentials.num_tokens
    for count, score in enumerate(found):
        assert score == pytest.approx(expected.get(count, -math.inf), abs=1e-9)


@given(chains(max_tokens=4, max_tags=3), st.floats(-10, 10))
def test_best_with_change_equals_enumeration(potentials, change):
    if not potentials.homogeneous:
        return
    moves = np.argwhere(np.ones((potentials.num_tags,) * 2))
    emissions, _, start, end = potentials.arrays()
    changes = np.full(len(moves), change)
    matrix = potentials.transitions.numpy()
    found = recursions.best_with_change(emissions, matrix, start, end, moves, changes)
    for (before, after), score, count in zip(moves.tolist(), found.score, found.uses, strict=True):
        value = potentials.transitions[before, after].item() + change
        best = oracle.best_score(potentials.with_transition(before, after, value))
        assert score == pytest.approx(best, abs=1e-9)
        if best > -math.inf:
            counts = {
                uses(("transition", before, after), path)
                for path in oracle.best_paths(potentials.with_transition(before, after, value))
            }
            assert count in counts


INF = torch.inf


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1.0, 2.0, 2.0], 1),
        ([2.0, 2.0, 1.0], 0),
        ([-INF, -INF], 0),
        ([-INF, -5.0], 1),
        ([-1e5, -1e5 * (1 + TOLERANCE / 10)], 0),
        ([-1e5 * (1 + TOLERANCE / 10), -1e5], 0),
        ([-1e5 * (1 + TOLERANCE * 10), -1e5], 1),
        ([0.0, TOLERANCE / 10], 0),
        ([0.0, TOLERANCE * 10], 1),
    ],
    ids=[
        "tie above",
        "tie first",
        "nothing allowed",
        "one allowed",
        "last bits, best first",
        "last bits, best second",
        "more than the last bits",
        "last bits around zero",
        "more around zero",
    ],
)
def test_lowest_best_returns_the_lowest_tied_index(scores, expected):
    assert lowest_best(np.array([scores, scores])).tolist() == [expected] * 2
