"""The engine is never wrong where it is fast: against log space, 80 bits, and known traps."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.crf import CRF
from crfviz.chain.engine.packing import pack, pack_one
from crfviz.chain.engine.sums import Scores, gold_score, gradient, sums
from crfviz.chain.engine.sweeps import chunks_for, exponentials
from crfviz.chain.forward_backward import forward_backward, normalise
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError
from tests.support.close import assert_close, assert_slopes

INF = math.inf
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def layer(transitions, start=None, end=None, dtype=torch.float64):
    """A CRF with these scores."""
    crf = CRF(len(transitions)).to(dtype)
    zeros = torch.zeros(len(transitions))
    with torch.no_grad():
        crf.transitions.copy_(torch.as_tensor(transitions))
        crf.start_transitions.copy_(zeros if start is None else torch.as_tensor(start))
        crf.end_transitions.copy_(zeros if end is None else torch.as_tensor(end))
    return crf


def moves(crf):
    return crf.transitions, crf.start_transitions, crf.end_transitions


def in_log_space(crf, emissions, tags, mask):
    """log Z, likelihoods and marginals by the recursions alone, which torch can differentiate."""
    words = torch.where(mask[..., None], emissions, 0.0)
    transitions, start, end = moves(crf)
    total = recursions.log_partition(words, transitions, start, end, mask)
    score = recursions.path_score(words, transitions, start, end, tags * mask, mask)
    table = recursions.forward(words, transitions, start, mask)
    table = normalise(table + recursions.backward(words, transitions, end, mask))
    likelihood = torch.where(torch.isneginf(score), score, score - total)
    return total, likelihood, table * mask[..., None]


def is_fast(crf, emissions, lengths=None):
    """Whether products hold the batch."""
    B, T = emissions.shape[:2]
    packed = pack(np.full(B, T) if lengths is None else np.asarray(lengths), T)
    rows = emissions.detach().flatten(0, 1).double().numpy()[packed.cells]
    return sums(rows, *(m.detach().double().numpy() for m in moves(crf)), packed) is not None


def check(crf, emissions, tags=None, mask=None, **close):
    """Likelihoods, marginals and gradients are those of log space; returns the likelihoods."""
    close = close or CLOSE
    B, T = emissions.shape[:2]
    mask = torch.ones(B, T, dtype=torch.bool) if mask is None else mask
    tags = torch.zeros(B, T, dtype=torch.long) if tags is None else tags
    leaves = [emissions.detach().clone().requires_grad_(), *moves(crf)]
    weights = torch.linspace(0.5, -2.0, B, dtype=emissions.dtype)
    found = crf.log_likelihood(leaves[0], tags, mask)
    _, expected, table = in_log_space(crf, leaves[0], tags, mask)
    assert_close(found, expected, **close)
    assert_close(crf.marginals(leaves[0], mask), table, **close)
    keep = torch.isfinite(expected)
    if keep.any():
        ours, theirs = (
            torch.autograd.grad((value * weights)[keep].sum(), leaves, allow_unused=True)
            for value in (found, expected)
        )
        for slope, other in zip(ours, theirs, strict=True):
            other = torch.zeros_like(slope) if other is None else other
            assert torch.isfinite(slope).all()
            assert_close(slope, other, **close)
    return found.detach()


def test_engine_keeps_the_better_of_two_tags_that_never_meet():
    """Other scaled methods lose the better path, which begins hopeless: they say 800 or 2365."""
    emissions = torch.zeros(1, 24, 2, dtype=torch.float64)
    emissions[0, :8, 0] = emissions[0, 8:, 1] = 100.0
    crf = layer([[0.0, -INF], [-INF, 0.0]])
    assert check(crf, emissions, torch.ones(1, 24, dtype=torch.long)).tolist() == [0.0]
    assert -crf.log_likelihood(emissions, torch.zeros(1, 24).long()).item() == 1600.0 - 800.0
    assert crf.marginals(emissions)[0, :, 1].tolist() == [1.0] * 24


@pytest.mark.parametrize("size", [420.0, 200.0, 100.0, 40.0])
def test_engine_finds_a_path_far_below_two_dead_ends(size):
    """The best prefix and the best suffix are dead: both sweeps pass, their product does not."""
    emissions = torch.zeros(1, 6, 3, dtype=torch.float64)
    emissions[0, :3, 0] = emissions[0, 3:, 1] = size
    transitions = torch.full((3, 3), -INF).fill_diagonal_(0.0)
    transitions[0, 2] = transitions[2, 1] = -size
    crf = layer(transitions, [0.0, -INF, -INF], [-INF, 0.0, -INF])
    path = torch.tensor([[0, 0, 0, 2, 1, 1]])
    assert check(crf, emissions, path).item() == pytest.approx(-math.log(2.0), abs=1e-12)


@pytest.mark.parametrize("depth", [60, 150, 280, 320, 340, 360, 400, 700, 740, 760])
def test_engine_finds_a_hopeless_tag_that_wins_in_the_end(depth):
    """However deep it was, in steps that products can hold: at the bounds and around them."""
    T = depth // 20
    emissions = torch.zeros(1, 2 * T + 1, 2, dtype=torch.float64)
    emissions[0, :T, 1] = -20.0
    emissions[0, T:, 0] = -20.0
    emissions[0, -1, 0] = -25.0
    crf = layer([[0.0, -INF], [-INF, 0.0]])
    check(crf, emissions, torch.ones(1, 2 * T + 1).long())
    total = in_log_space(
        crf, emissions, torch.ones(1, 2 * T + 1).long(), torch.ones(1, 2 * T + 1) > 0
    )
    assert total[0].item() >= -20.0 * T


@pytest.mark.parametrize("scale", [1000.0, -1000.0])
@pytest.mark.parametrize("where", ["emissions", "transitions", "both"])
def test_scores_of_a_thousand_leave_the_fast_path(scale, where):
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(4, 7, 3, generator=generator, dtype=torch.float64)
    transitions = torch.randn(3, 3, generator=generator, dtype=torch.float64)
    emissions = emissions * (scale if where != "transitions" else 1.0)
    crf = layer(transitions * (scale if where != "emissions" else 1.0))
    assert not is_fast(crf, emissions)
    check(crf, emissions, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("where", ["emissions", "transitions", "start", "end"])
def test_forbidden_scores_stay_on_the_fast_path(where):
    generator = torch.Generator().manual_seed(0)
    tables = {
        name: torch.randn(*shape, generator=generator, dtype=torch.float64)
        for name, shape in [("emissions", (4, 7, 3)), ("transitions", (3, 3)), ("start", (3,))]
    }
    tables["end"] = tables["start"].flip(0)
    tables[where][..., -1] = -INF
    emissions = tables.pop("emissions")
    assert is_fast(layer(**tables), emissions)
    check(layer(**tables), emissions)


@pytest.mark.parametrize("level", [1e15, -1e15, 1e6])
def test_constant_added_to_all_scores_stays_on_the_fast_path(level):
    emissions = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64) + level
    crf = layer([[0.0, -1.0], [0.0, 0.0]])
    assert is_fast(crf, emissions)
    check(crf, emissions, rtol=1e-12, atol=abs(level) * 1e-15)


@pytest.mark.parametrize("score", [0.0, -INF])
def test_sentence_without_a_path_has_minus_infinity_and_finite_gradients(score):
    emissions = torch.zeros(3, 4, 2, dtype=torch.float64)
    emissions[1] = -INF
    emissions.requires_grad_()
    crf = layer([[score, score], [score, score]])
    likelihood = crf.log_likelihood(emissions, torch.zeros(3, 4).long())
    assert likelihood[1].item() == -INF
    assert not crf.marginals(emissions)[1].any()
    likelihood.sum().backward()
    assert torch.isfinite(emissions.grad).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in crf.parameters())
    with pytest.raises(NoPathError, match=f"sentence {1 if score == 0.0 else 0} "):
        crf.decode(emissions)


@pytest.mark.parametrize(("T", "K"), [(1, 1), (1, 3), (5, 1), (2, 30)])
def test_shortest_and_longer_chains_stay_on_the_fast_path(T, K):
    generator = torch.Generator().manual_seed(T)
    emissions = torch.randn(3, T, K, generator=generator, dtype=torch.float64)
    crf = layer(torch.randn(K, K, generator=generator))
    assert is_fast(crf, emissions)
    check(crf, emissions)


def test_fast_path_sums_ten_thousand_words():
    emissions = torch.ones(1, 10_000, 2, dtype=torch.float64) * torch.tensor([1.0, 2.0])
    crf = layer([[0.0, 0.0], [0.0, 0.0]])
    assert is_fast(crf, emissions)
    expected = -10_000 * math.log(1.0 + math.e)
    found = crf.log_likelihood(emissions, torch.zeros(1, 10_000).long())
    assert found.item() == pytest.approx(expected, rel=1e-13)
    first = torch.full((10_000,), 1 / (1 + math.e), dtype=torch.float64)
    assert_close(crf.marginals(emissions)[0, :, 0].detach(), first, **CLOSE)
    assert crf.decode(emissions) == [[1] * 10_000]


def test_float32_is_computed_in_float64():
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(5, 60, 9, generator=generator)
    crf = layer(torch.randn(9, 9, generator=generator), dtype=torch.float32)
    exact = layer(crf.transitions.detach().double())
    tags = torch.randint(9, (5, 60), generator=generator)
    found = crf.log_likelihood(emissions, tags)
    assert found.dtype == torch.float32
    assert torch.equal(found, exact.log_likelihood(emissions.double(), tags).float())
    assert torch.equal(crf.marginals(emissions), exact.marginals(emissions.double()).float())


def random_batch(rng, B):
    """Chains of all tempers, some with forbidden scores of any kind: a layer, emissions, mask."""
    T, K = rng.integers(1, 9), rng.integers(1, 7)
    scale = rng.choice([0.0, 1.0, 5.0, 30.0, 60.0, 150.0])
    wall = rng.choice([0.0, 0.0, 0.05, 0.3])
    scores = [scale * rng.standard_normal(shape) for shape in [(B, T, K), (K, K), (K,), (K,)]]
    for table in scores:
        table[rng.random(table.shape) < wall] = -INF
    emissions, *others = map(torch.from_numpy, scores)
    mask = torch.arange(T) < torch.from_numpy(rng.integers(1, T + 1, B))[:, None]
    return layer(*others), emissions, mask


def test_twenty_thousand_chains_equal_log_space():
    rng, fast = np.random.default_rng(0), 0
    for _ in range(80):
        crf, emissions, mask = random_batch(rng, 250)
        tags = torch.from_numpy(rng.integers(0, crf.num_tags, mask.shape))
        fast += is_fast(crf, emissions, mask.sum(1).numpy())
        check(crf, emissions, tags, mask, rtol=1e-12, atol=2e-11)
    assert fast > 40


@st.composite
def batches(draw):
    """A layer with twenty chains, some with forbidden scores of any kind: as `random_batch`."""
    T, K = draw(st.integers(1, 8)), draw(st.integers(1, 6))
    scale = draw(st.sampled_from([1 / 8, 1 / 7, 0.0, 0.5, 1.5, 5.0]))
    wall = draw(st.sampled_from([256, 240, 200]))
    shapes = [(20, T, K), (K, K), (K,), (K,)]
    sizes = [math.prod(shape) for shape in shapes]
    drawn = np.frombuffer(draw(st.binary(min_size=sum(sizes), max_size=sum(sizes))), np.uint8)
    scores = np.where(drawn >= wall, -INF, drawn.astype(np.int8) * scale)  # byte 0 is 0
    tables = [
        torch.from_numpy(part.reshape(shape))
        for part, shape in zip(np.split(scores, np.cumsum(sizes)[:-1]), shapes, strict=True)
    ]
    words = np.frombuffer(draw(st.binary(min_size=20 * T, max_size=20 * T)), np.uint8)
    tags = torch.from_numpy(words.reshape(20, T) % K).long()
    lengths = draw(st.lists(st.integers(1, T), min_size=20, max_size=20))
    mask = torch.arange(T) < torch.tensor(lengths)[:, None]
    return layer(*tables[1:]), tables[0], tags, mask


@given(batches())
def test_hypothesis_chains_equal_log_space(batch):
    """Twenty in each example: 20,000 with `HYPOTHESIS_PROFILE=long`."""
    check(*batch, rtol=1e-12, atol=2e-11)


def test_decoded_paths_of_random_chains_are_best():
    rng = np.random.default_rng(1)
    for _ in range(60):
        crf, emissions, mask = random_batch(rng, 30)
        with torch.no_grad():
            scores = torch.where(mask[..., None], emissions, 0.0)
            transitions, start, end = moves(crf)
            best = recursions.forward(scores, transitions, start, mask, recursions.maximum)
            expected = recursions.maximum(best[:, -1] + end, -1)
            there = expected > -INF
            if not there.all():
                with pytest.raises(NoPathError, match=f"sentence {int((~there).int().argmax())} "):
                    crf.decode(emissions, mask)
            if there.any():
                paths = crf.decode(emissions[there], mask[there])
                rows = [path + [0] * (mask.shape[1] - len(path)) for path in paths]
                parts = (transitions, start, end, torch.tensor(rows), mask[there])
                found = recursions.path_score(scores[there], *parts)
                assert_close(found, expected[there], **CLOSE)


def test_decoding_is_the_same_after_other_batches_and_in_threads():
    generator = torch.Generator().manual_seed(0)
    crf = layer(torch.randn(4, 4, generator=generator))
    batches = [torch.randn(B, T, 4, generator=generator) for B, T in ((2, 3), (9, 30), (1, 5))]
    with torch.inference_mode():
        expected = [crf.decode(batch) for batch in batches]
    assert [crf.decode(batch) for batch in batches] == expected
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(crf.decode, batches * 20)) == expected * 20


@pytest.mark.parametrize("K", [3, 30])
def test_gradient_is_the_same_after_another_batch(K):
    generator = torch.Generator().manual_seed(0)
    crf = layer(torch.randn(K, K, generator=generator))
    first, other = (torch.randn(4, 6, K, generator=generator).double() for _ in range(2))
    tags = torch.zeros(4, 6, dtype=torch.long)
    slopes = []
    for after in ([], [other]):
        value = crf.log_likelihood(first.requires_grad_(), tags).sum()
        for batch in after:
            crf.log_likelihood(batch, tags)
        slopes.append(torch.autograd.grad(value, first)[0])
    assert torch.equal(*slopes)


def test_single_sentences_equal_their_batch():
    rng = np.random.default_rng(2)
    for _ in range(20):
        crf, emissions, mask = random_batch(rng, 8)
        tags = torch.zeros(mask.shape, dtype=torch.long)
        together, table = crf.log_likelihood(emissions, tags, mask), crf.marginals(emissions, mask)
        for i, n in enumerate(mask.sum(1).tolist()):
            pack_one = emissions[i : i + 1, :n]
            found = crf.log_likelihood(pack_one, tags[:1, :n])
            assert_close(found, together[i : i + 1], rtol=1e-12, atol=2e-11)
            assert_close(crf.marginals(pack_one)[0], table[i, :n], **CLOSE)


def in_80_bits(emissions, transitions, start, end):
    """Marginals and log Z of one chain in long doubles."""
    e, w, s, f = (np.asarray(x, np.longdouble) for x in (emissions, transitions, start, end))

    def add(table, axis):
        top = table.max(axis, keepdims=True)
        return (top + np.log(np.exp(table - top).sum(axis, keepdims=True))).squeeze(axis)

    alpha, beta = [s + e[0]], [f]
    for word in e[1:]:
        alpha.append(add(alpha[-1][:, None] + w, 0) + word)
    for word in e[:0:-1]:
        beta.append(add(w + word + beta[-1], 1))
    total = add(alpha[-1] + f, 0)
    return np.exp(np.array(alpha) + np.array(beta[::-1]) - total), total


def test_two_thousand_words_equal_80_bit_floats():
    generator = torch.Generator().manual_seed(0)
    emissions = 1.5 * torch.randn(1, 2000, 17, generator=generator, dtype=torch.float64)
    parts = [torch.randn(*s, generator=generator).double() for s in ((17, 17), (17,), (17,))]
    crf = layer(*parts)
    expected, total = in_80_bits(emissions[0], *parts)
    assert np.abs(crf.marginals(emissions)[0].detach().numpy() - expected).max() < 1e-13
    gold = recursions.path_score(emissions, *parts, torch.zeros(1, 2000).long()).item()
    found = gold - crf.log_likelihood(emissions, torch.zeros(1, 2000).long()).item()
    assert found == pytest.approx(float(total), rel=1e-14)


@pytest.mark.parametrize(
    ("T", "K", "scale"), [(500, 1, 1.0), (501, 2, 6.0), (777, 5, 1.0), (1003, 24, 0.5)]
)
def test_long_sentence_is_summed_in_chunks(T, K, scale):
    rng = np.random.default_rng(T)
    parts = [scale * rng.standard_normal(shape) for shape in [(T, K), (K, K), (K,), (K,)]]
    chain = Potentials(*parts)
    scores = exponentials(*chain.scores())
    assert chunks_for(scores, pack_one(T)).length >= 8
    tables = forward_backward(chain)
    close = {"rtol": 1e-12, "atol": 1e-10}
    steps = chain.arrays()[1]
    alpha = recursions.forward(parts[0], steps, parts[2])
    beta = recursions.backward(parts[0], steps, parts[3])
    np.testing.assert_allclose(tables.log_alpha, alpha, **close)
    np.testing.assert_allclose(tables.log_beta, beta, **close)
    pairs = alpha[:-1, :, None] + steps + (parts[0] + beta)[1:, None] - tables.log_partition
    np.testing.assert_allclose(tables.edge_marginals, np.exp(pairs), **close)
    check(layer(*map(torch.from_numpy, parts[1:])), torch.from_numpy(parts[0])[None], **close)


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ([[0.0, -INF], [0.0, 0.0]], "a forbidden step"),
        ([[0.0, -200.0], [0.0, 0.0]], "a division by the sum at every other word"),
    ],
)
def test_long_sentence_is_summed_in_one_chunk_for_extreme_scores(scores, why):
    emissions = torch.randn(1, 600, 2, generator=torch.Generator().manual_seed(0)).double()
    chain = Potentials(emissions[0], scores)
    assert chunks_for(exponentials(*chain.scores()), pack_one(600)) is None, why
    assert is_fast(layer(scores), emissions)
    check(layer(scores), emissions, rtol=1e-12, atol=1e-10)


def test_first_and_second_derivatives_equal_finite_differences():
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64).requires_grad_()
    tags, mask = torch.tensor([[0, 1, 1], [1, 0, 0]]), torch.tensor([[1, 1, 1], [1, 1, 0]]).bool()
    crf = layer(torch.randn(2, 2, generator=generator))

    def likelihood(words, *parts):
        other = CRF(2)
        for (name, _), part in zip(crf.named_parameters(), parts, strict=True):
            delattr(other, name)
            setattr(other, name, part)
        return (other.log_likelihood(words, tags, mask) * torch.tensor([1.0, -2.5])).sum()

    def slope(*inputs):
        """The gradient, weighted differently in every cell."""
        slopes = torch.autograd.grad(likelihood(*inputs), inputs, create_graph=True)
        flat = torch.cat([part.flatten() for part in slopes])
        return (flat * torch.linspace(-1.0, 2.0, len(flat), dtype=flat.dtype)).sum()

    def marginals(words):
        table = crf.marginals(words, mask)
        return (table * torch.linspace(-1.0, 2.0, table.numel()).view(table.shape)).sum()

    inputs = [emissions, *(part.detach().clone().requires_grad_() for part in crf.parameters())]
    assert_slopes(likelihood, inputs)
    assert_slopes(slope, inputs)
    assert_slopes(marginals, [emissions])


@pytest.mark.parametrize("K", [3, 40])
def test_tensors_and_arrays_take_the_same_steps(K):
    """What a GPU runs, here on the CPU."""
    rng = np.random.default_rng(0)
    packed = pack(np.array([3, 90, 41]), 90)
    N = len(packed.places)
    arrays = [rng.standard_normal(shape) for shape in [(N, K), (K, K), (K,), (K,)]]
    arrays[1][0, 1] = -INF
    tensors = [torch.from_numpy(array) for array in arrays]
    tags, weights = rng.integers(0, K, N), rng.random(3)
    there = packed.on(torch.device("cpu"))
    found, other = sums(*arrays, packed), sums(*tensors, there)
    assert torch.is_tensor(other.totals)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(other.log_partition().numpy(), found.log_partition(), **close)
    np.testing.assert_allclose(
        other.marginals(other.ahead()).numpy(), found.marginals(found.ahead()), **close
    )
    expected = gradient(found, tags, weights, weights)
    slopes = gradient(other, *map(torch.from_numpy, (tags, weights, weights)))
    for slope, array in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(slope.numpy(), array, **close)
    score = gold_score(Scores(*tensors), other, torch.from_numpy(tags))
    np.testing.assert_allclose(score.numpy(), gold_score(Scores(*arrays), found, tags), **close)
