"""Compiled loops find what those by arrays find, which other tests hold to plain enumeration.

Numba compiles them once for all cases, which takes most of a minute: one test holds them all.
"""

import logging
import math
import re
import sys
import tracemalloc
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import best_paths, k_best, viterbi
from crfviz.chain.engine import compiled, kernel_cache
from crfviz.chain.forward_backward import forward_backward, log_partition, posteriors
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError, ScoreError, UnknownTagError
from crfviz.settings import settings
from tests.support.close import assert_close
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, fewer_examples
from tests.unit.chain import test_forward_backward
from tests.unit.chain.engine import test_engine

numba = pytest.importorskip("numba")
INF = math.inf
TABLES = ("log_alpha", "log_beta", "marginals", "edge_marginals")
CLOSE = {"rtol": 1e-12, "atol": 1e-10}


CASES = []


def case(*values):
    """Run the function once with each of the values, or once without any."""

    def add(work):
        CASES.extend((work, value) for value in values or [()])
        return work

    return add


@contextmanager
def answered_by(loops):
    """Answers come from compiled loops, or from arrays where that is None."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "kernels", lambda: loops)
        yield


@pytest.fixture
def loops(monkeypatch):
    monkeypatch.setenv("CRFVIZ_COMPILED", "on")
    kernel_cache.fill()
    compiled.kernels.cache_clear()
    yield compiled.kernels()
    compiled.kernels.cache_clear()


def anew(chain):
    """The same chain, of which nothing is known yet."""
    return Potentials(chain.emissions, chain.transitions, chain.start, chain.end)


def by_arrays(chain):
    with answered_by(None):
        return results(chain)


def results(chain):
    """Sums, Viterbi and best paths of a chain; None for those that no path has."""
    chain = anew(chain)
    total, sums = log_partition(chain), forward_backward(chain)
    try:
        return sums, total, viterbi(chain), k_best(chain, 7), best_paths([chain, chain])
    except NoPathError as error:
        return sums, total, str(error)


def check(chain):
    """Loops and arrays find the same: tables to the last digits, paths and their order exactly."""
    (sums, total, *found), (expected, other, *paths) = results(chain), by_arrays(chain)
    for name in TABLES:
        assert_close(getattr(sums, name), getattr(expected, name), **CLOSE)
    assert sums.log_partition == pytest.approx(expected.log_partition, rel=1e-12, abs=1e-10)
    assert (total, other) == (sums.log_partition, expected.log_partition)
    if len(found) == 1:
        assert found == paths
        return
    (best, ranked, together), (best_then, ranked_then, together_then) = found, paths
    assert together == together_then == [best.path] * 2
    assert (best.path, best.ties, best.score) == (best_then.path, best_then.ties, best_then.score)
    assert torch.equal(best.best, best_then.best)
    assert torch.equal(best.backpointers, best_then.backpointers)
    assert [(p.tags, p.score) for p in ranked] == [(p.tags, p.score) for p in ranked_then]


def is_compiled(chain):
    """Whether products hold the chain."""
    return compiled.tables(chain.scores()) is not None


@case()
@fewer_examples
@given(chains())
def small_chains(chain):
    check(chain)


@case()
@fewer_examples
@given(chains(max_tokens=4, max_tags=3), st.integers(1, 100))
def best_paths_in_the_same_order_to_the_last_one(chain, k):
    def ranked():
        try:
            return [(path.tags, path.score) for path in k_best(anew(chain), k)]
        except NoPathError as error:
            return str(error)

    found = ranked()
    with answered_by(None):
        assert ranked() == found


TRAPS = {
    test_engine.test_engine_keeps_the_better_of_two_tags_that_never_meet: [()],
    test_engine.test_engine_finds_a_path_far_below_two_dead_ends: [(420.0,), (100.0,), (40.0,)],
    test_engine.test_engine_finds_a_hopeless_tag_that_wins_in_the_end: [
        (150,),
        (320,),
        (360,),
        (740,),
    ],
    test_engine.test_forbidden_scores_stay_on_the_fast_path: [
        ("emissions",),
        ("transitions",),
        ("end",),
    ],
    test_engine.test_sentence_without_a_path_has_minus_infinity_and_finite_gradients: [
        (0.0,),
        (-INF,),
    ],
    test_engine.test_shortest_and_longer_chains_stay_on_the_fast_path: [(1, 1), (5, 1), (2, 30)],
    test_engine.test_fast_path_sums_ten_thousand_words: [()],
    test_engine.test_twenty_thousand_chains_equal_log_space: [()],
    test_engine.test_single_sentences_equal_their_batch: [()],
    test_engine.test_two_thousand_words_equal_80_bit_floats: [()],
    test_engine.test_float32_is_computed_in_float64: [()],
    test_engine.test_gradient_is_the_same_after_another_batch: [(3,), (30,)],
    test_engine.test_first_and_second_derivatives_equal_finite_differences: [()],
    test_forward_backward.test_large_opposing_scores_sum_exactly: [()],
    test_forward_backward.test_log_space_finds_a_path_far_below_dead_ends: [()],
    test_forward_backward.test_ten_thousand_words_stay_finite: [()],
}
CASES.extend((trap, value) for trap, values in TRAPS.items() for value in values)


@case()
def random_chains_of_all_tempers():
    rng, fast = np.random.default_rng(0), 0
    for _ in range(150):
        T, K = rng.integers(1, 30), rng.integers(1, 20)
        scale = rng.choice([0.0, 1.0, 5.0, 30.0, 60.0, 150.0])
        scores = [scale * rng.standard_normal(shape) for shape in [(T, K), (K, K), (K,), (K,)]]
        for table in scores:
            table[rng.random(table.shape) < rng.choice([0.0, 0.05, 0.3])] = -INF
        chain = Potentials(*scores)
        fast += is_compiled(chain)
        check(chain)
    assert fast > 75


@case(*product([[1], [1, 1], [600], [5, 5, 5], [7, 1, 90, 3, 90]], [0.0, 0.1]))
def sums_of_batches(lengths, hole):
    rng = np.random.default_rng(len(lengths))
    transitions = 3.0 * rng.standard_normal((6, 6))
    transitions[rng.random((6, 6)) < hole] = -INF
    batch = []
    for length in lengths:  # each with a start and an end of its own
        start, end = rng.standard_normal((2, 6))
        batch.append(Potentials(2.0 * rng.standard_normal((length, 6)), transitions, start, end))
    found = posteriors(batch)
    with answered_by(None):
        expected = posteriors(batch)
    for one, other in zip(found, expected, strict=True):
        assert one.log_partition == pytest.approx(other.log_partition, rel=1e-12)
        for name in ("log_alpha", "log_beta", "marginals"):
            assert_close(getattr(one, name), getattr(other, name), **CLOSE)
    for one, chain in zip(found, batch, strict=True):  # alone as beside others
        assert torch.equal(one.marginals, posteriors([chain])[0].marginals)


def hopeless_tag_that_wins(depth):
    """The tag that is behind by `depth` in mid-sentence is the better one in the end."""
    T = depth // 20
    emissions = np.zeros((2 * T + 1, 2))
    emissions[:T, 1] = emissions[T:, 0] = -20.0
    emissions[-1, 0] = -25.0
    return Potentials(emissions, [[0.0, -INF], [-INF, 0.0]])


def random_tables(**shapes):
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def forbidden(where):
    tables = random_tables(emissions=(7, 3), transitions=(3, 3), start=3, end=3)
    tables[where][..., -1] = -INF
    return Potentials(**tables)


def thousandfold(scale, where):
    tables = random_tables(emissions=(7, 3), transitions=(3, 3))
    tables[where] *= scale
    return Potentials(**tables)


SIZES = [(1, 1), (1, 3), (5, 1), (2, 30), (600, 2)]


@case(
    *[(hopeless_tag_that_wins(depth), None) for depth in (60, 150, 320, 360, 740)],
    *[(forbidden(where), True) for where in ("emissions", "transitions", "start", "end")],
    *[(Potentials(**random_tables(emissions=(T, K), transitions=(K, K))), True) for T, K in SIZES],
    *[(thousandfold(*each), False) for each in product([1e3, -1e3], ["emissions", "transitions"])],
    (ice_cream(), True),  # whose best weeks tie but for the last bit
    (Potentials(*(table.T for table in random_tables(e=(3, 5), w=(3, 3)).values())), True),
)
def odd_chains(chain, by_products):
    """Where products hold a chain and where log space has to, as is known of most of them."""
    assert by_products in (None, is_compiled(chain))
    check(chain)


@case((1e15,), (-1e15,), (1e6,))
def a_level_that_all_scores_share(level):
    chain = Potentials(np.eye(2) + level, [[0.0, -1.0], [0.0, 0.0]])
    assert is_compiled(chain)
    expected = float(recursions.log_partition(*chain.arrays()))
    assert log_partition(chain) == pytest.approx(expected, rel=1e-15)


@case((0.0,), (-INF,))
def no_path_at_all(score):
    emissions = np.zeros((4, 2))
    emissions[1] = -INF
    chain = Potentials(emissions, [[score, score], [score, score]])
    check(chain)
    assert log_partition(chain) == -INF
    with pytest.raises(NoPathError, match="position 1"):
        viterbi(chain)
    crf = CRF(2)
    with pytest.raises(NoPathError, match="sentence 1 "):
        crf.decode(torch.from_numpy(np.stack([np.zeros((4, 2)), emissions])))


@case((torch.float32,), (torch.float64,))
def a_batch_is_decoded_as_by_arrays(dtype):
    generator = torch.Generator().manual_seed(0)
    crf = CRF(5).to(dtype)
    emissions = torch.randint(-1, 2, (9, 12, 5), generator=generator).to(dtype)  # ties everywhere
    emissions[torch.rand(emissions.shape, generator=generator) < 0.1] = -INF
    emissions[..., 0] = 0.0
    mask = torch.arange(12) < torch.randint(1, 13, (9, 1), generator=generator)
    with torch.no_grad():
        crf.transitions.copy_(torch.randint(-1, 2, (5, 5), generator=generator))
    found = crf.decode(emissions, mask)
    with answered_by(None):
        assert crf.decode(emissions, mask) == found
    alone = [crf.decode(e[None, : len(path)])[0] for e, path in zip(emissions, found, strict=True)]
    assert alone == found


def training_batch(B=8, T=30, K=5):
    """A layer, emissions, tags and mask, for a step in which nothing is forbidden."""
    generator = torch.Generator().manual_seed(0)
    crf = CRF(K).double()
    emissions = torch.randn(B, T, K, generator=generator, dtype=torch.float64)
    tags = torch.randint(K, (B, T), generator=generator)
    mask = torch.arange(T) < torch.randint(2, T + 1, (B, 1), generator=generator)
    mask[0] = True
    return crf, emissions.requires_grad_(), tags, mask


@case(("another order",), ("a gradient twice",), ("tags in 32 bits",), ("the longest last",))
def a_training_step_is_that_of_arrays(what):
    crf, emissions, tags, mask = training_batch()
    if what == "another order":
        emissions = emissions.detach().mT.contiguous().mT.requires_grad_()
    tags = tags.int() if what == "tags in 32 bits" else tags
    mask = mask.flip(0) if what == "the longest last" else mask
    leaves, weights = [emissions, *crf.parameters()], torch.linspace(-1.0, 2.0, len(mask))

    def step():
        value = (crf.log_likelihood(emissions, tags, mask) * weights).sum()
        slopes = torch.autograd.grad(value, leaves, retain_graph=True)
        if what == "a gradient twice":
            for slope, other in zip(slopes, torch.autograd.grad(value, leaves), strict=True):
                assert torch.equal(slope, other)
        return [value, *slopes]

    found = step()
    with answered_by(None):
        for mine, other in zip(found, step(), strict=True):
            assert_close(mine.detach(), other.detach(), **CLOSE)


@case((math.nan, 0), (INF, 0), (0.0, 5), (0.0, -1))
def a_training_step_refuses_what_arrays_refuse(score, tag):
    crf, emissions, tags, mask = training_batch()
    with torch.no_grad():
        emissions[2, 1, 3], tags[2, 1] = score, tag
    with pytest.raises((ScoreError, UnknownTagError)) as refused:
        crf.log_likelihood(emissions, tags, mask)
    with answered_by(None), pytest.raises(refused.type, match=re.escape(str(refused.value))):
        crf.log_likelihood(emissions, tags, mask)


@case()
def a_training_step_allocates_three_tables_and_two_for_its_gradient():
    """The sweeps stay until the gradient is wanted: three tables of words, and little else."""
    crf, emissions, tags, mask = training_batch(B=64, T=60, K=17)
    crf.log_likelihood(emissions, tags, mask).sum().backward()
    words, table = int(mask.sum()) * 17 * 8, mask.numel() * 17 * 8
    small = int(mask.sum()) * 8 * 8 + 17 * 17 * 8 * 8  # eight numbers a word, and eight matrices
    tracemalloc.start()
    try:
        value = crf.log_likelihood(emissions, tags, mask).sum()
        kept, most = tracemalloc.get_traced_memory()
        assert 3 * words < kept < 3 * words + small
        assert most < 4 * words + small  # and the exponentials of the words
        tracemalloc.reset_peak()
        value.backward()
        assert tracemalloc.get_traced_memory()[1] < 4 * words + table + small
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("broken", ["missing", "too old"])
def test_without_numba_arrays_are_used(broken, monkeypatch, caplog):
    name = "crfviz.chain.engine.kernels"
    for module in [m for m in sys.modules if m.startswith(name)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr("crfviz.chain.engine.kernels", raising=False)
    monkeypatch.setenv("CRFVIZ_COMPILED", "on")
    monkeypatch.setattr(kernel_cache, "is_filled", lambda: True)
    if broken == "missing":
        monkeypatch.setitem(sys.modules, "numba", None)
    else:
        monkeypatch.setattr(numba, "njit", lambda *_, **__: 1 / 0)
    compiled.kernels.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert compiled.kernels() is None
    assert len(caplog.records) == (broken != "missing")
    assert viterbi(Potentials([[1.0, 0.0]], np.zeros((2, 2)))).path == [0]
    compiled.kernels.cache_clear()


def is_switched_off(loops):
    for setting, wanted in (("off", None), ("", loops)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CRFVIZ_COMPILED", setting)
            settings.cache_clear()
            compiled.kernels.cache_clear()
            assert compiled.kernels() == wanted
    settings.cache_clear()


def test_compiled_loops_equal_arrays(loops, subtests):
    assert loops is not None
    with answered_by(loops):
        for work, values in CASES:
            with subtests.test(work.__name__, values=values):
                work(*values)
    is_switched_off(loops)
