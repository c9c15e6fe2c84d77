"""Compiled loops find what those by arrays find, which other tests hold to plain enumeration."""

import logging
import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain import recursions
from crfviz.chain.crf import CRF
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import best_paths, viterbi
from crfviz.chain.engine import compiled
from crfviz.chain.forward_backward import forward_backward, log_partition, posteriors
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, fewer_examples
from tests.unit.chain.engine import test_engine

numba = pytest.importorskip("numba")
INF = math.inf
TABLES = ("log_alpha", "log_beta", "marginals", "edge_marginals")
CLOSE = {"rtol": 1e-12, "atol": 1e-10}


@pytest.fixture(scope="module")
def loops():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(compiled.VARIABLE, "on")
        compiled.kernels.cache_clear()
        found = compiled.kernels()
        yield found
    compiled.kernels.cache_clear()


@pytest.fixture(autouse=True)
def chosen(loops, monkeypatch):
    """Chooses what answers: `chosen(loops)`, or `chosen(None)` for arrays; at first the loops."""
    assert loops is not None

    def choose(kernels):
        monkeypatch.setattr(compiled, "kernels", lambda: kernels)

    choose(loops)
    return choose


def anew(chain):
    """The same chain, of which nothing is known yet."""
    return Potentials(chain.emissions, chain.transitions, chain.start, chain.end)


def by_arrays(chain):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "kernels", lambda: None)
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
        torch.testing.assert_close(getattr(sums, name), getattr(expected, name), **CLOSE)
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


@fewer_examples
@given(chains())
def test_what_arrays_find(chain):
    check(chain)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3), st.integers(1, 100))
def test_paths_come_in_the_same_order_to_the_last_one(chain, k):
    def ranked():
        try:
            return [(path.tags, path.score) for path in k_best(anew(chain), k)]
        except NoPathError as error:
            return str(error)

    found = ranked()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "kernels", lambda: None)
        assert ranked() == found


def test_random_chains_of_all_tempers():
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


@pytest.mark.parametrize(
    ("trap", "values"),
    [
        (test_engine.test_two_tags_that_never_meet, [()]),
        (test_engine.test_a_path_far_below_two_dead_ends, [(420.0,), (100.0,), (40.0,)]),
        (test_engine.test_a_hopeless_tag_wins_in_the_end, [(150,), (320,), (360,), (740,)]),
        (test_engine.test_a_forbidden_score, [("emissions",), ("transitions",), ("end",)]),
        (test_engine.test_no_path_at_all, [(0.0,), (-INF,)]),
        (test_engine.test_one_word_one_tag_and_many, [(1, 1), (5, 1), (2, 30)]),
        (test_engine.test_ten_thousand_words, [()]),
        (test_engine.test_twenty_thousand_chains_equal_log_space, [()]),
        (test_engine.test_alone_and_in_a_batch_are_one, [()]),
        (test_engine.test_two_thousand_words_against_80_bits, [()]),
    ],
)
def test_the_traps_of_the_engine(trap, values):
    for each in values:
        trap(*each)


@pytest.mark.parametrize("lengths", [[1], [1, 1], [600], [5, 5, 5], [7, 1, 90, 3, 90]])
@pytest.mark.parametrize("hole", [0.0, 0.1])
def test_sums_of_batches(chosen, loops, lengths, hole):
    rng = np.random.default_rng(len(lengths))
    transitions = 3.0 * rng.standard_normal((6, 6))
    transitions[rng.random((6, 6)) < hole] = -INF
    batch = []
    for length in lengths:  # each with a start and an end of its own
        start, end = rng.standard_normal((2, 6))
        batch.append(Potentials(2.0 * rng.standard_normal((length, 6)), transitions, start, end))
    found = posteriors(batch)
    chosen(None)
    for one, other in zip(found, posteriors(batch), strict=True):
        assert one.log_partition == pytest.approx(other.log_partition, rel=1e-12)
        for name in ("log_alpha", "log_beta", "marginals"):
            torch.testing.assert_close(getattr(one, name), getattr(other, name), **CLOSE)
    chosen(loops)
    for one, chain in zip(found, batch, strict=True):  # alone as beside others
        assert torch.equal(one.marginals, posteriors([chain])[0].marginals)


def test_two_tags_that_never_meet():
    emissions = np.zeros((24, 2))
    emissions[:8, 0] = emissions[8:, 1] = 100.0
    chain = Potentials(emissions, [[0.0, -INF], [-INF, 0.0]])
    assert not is_compiled(chain)
    check(chain)
    assert log_partition(chain) == 1600.0


@pytest.mark.parametrize("size", [420.0, 200.0, 100.0, 40.0])
def test_a_path_far_below_two_dead_ends(size):
    emissions = np.zeros((6, 3))
    emissions[:3, 0] = emissions[3:, 1] = size
    transitions = np.where(np.eye(3) > 0, 0.0, -INF)
    transitions[0, 2] = transitions[2, 1] = -size
    chain = Potentials(emissions, transitions, [0.0, -INF, -INF], [-INF, 0.0, -INF])
    check(chain)
    assert log_partition(chain) == pytest.approx(3 * size + math.log(2.0), rel=1e-12)


@pytest.mark.parametrize("depth", [60, 150, 280, 320, 340, 360, 400, 700, 740, 760])
def test_a_hopeless_tag_wins_in_the_end(depth):
    T = depth // 20
    emissions = np.zeros((2 * T + 1, 2))
    emissions[:T, 1] = emissions[T:, 0] = -20.0
    emissions[-1, 0] = -25.0
    check(Potentials(emissions, [[0.0, -INF], [-INF, 0.0]]))


@pytest.mark.parametrize("scale", [1000.0, -1000.0])
@pytest.mark.parametrize("where", ["emissions", "transitions"])
def test_scores_of_a_thousand_are_left_to_log_space(scale, where):
    rng = np.random.default_rng(0)
    scores = {"emissions": rng.standard_normal((7, 3)), "transitions": rng.standard_normal((3, 3))}
    scores[where] *= scale
    assert not is_compiled(Potentials(**scores))
    check(Potentials(**scores))


@pytest.mark.parametrize("where", ["emissions", "transitions", "start", "end"])
def test_a_forbidden_score(where):
    rng = np.random.default_rng(0)
    shapes = {"emissions": (7, 3), "transitions": (3, 3), "start": (3,), "end": (3,)}
    scores = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    scores[where][..., -1] = -INF
    assert is_compiled(Potentials(**scores))
    check(Potentials(**scores))


@pytest.mark.parametrize("level", [1e15, -1e15, 1e6])
def test_a_level_that_all_scores_share(level):
    chain = Potentials(np.eye(2) + level, [[0.0, -1.0], [0.0, 0.0]])
    assert is_compiled(chain)
    expected = float(recursions.log_partition(*chain.arrays()))
    assert log_partition(chain) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("score", [0.0, -INF])
def test_no_path_at_all(score):
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


@pytest.mark.parametrize(("T", "K"), [(1, 1), (1, 3), (5, 1), (2, 30), (600, 2)])
def test_one_word_one_tag_and_many(T, K):
    rng = np.random.default_rng(T)
    chain = Potentials(rng.standard_normal((T, K)), rng.standard_normal((K, K)))
    assert is_compiled(chain)
    check(chain)


def test_ten_thousand_words():
    chain = Potentials(np.ones((10_000, 2)) * [1.0, 2.0], np.zeros((2, 2)))
    assert is_compiled(chain)
    total = 10_000 * math.log(math.e + math.e**2)
    assert log_partition(chain) == pytest.approx(total, rel=1e-13)
    first = forward_backward(chain).marginals[:, 0].numpy()
    np.testing.assert_allclose(first, 1 / (1 + math.e), rtol=1e-12)
    assert viterbi(chain).path == [1] * 10_000


def test_weeks_of_the_ice_cream_diary_that_tie_but_for_the_last_bit():
    check(ice_cream())


def test_scores_that_lie_column_after_column_in_memory():
    rng = np.random.default_rng(0)
    tables = [torch.from_numpy(rng.standard_normal(shape)).t() for shape in ((3, 5), (3, 3))]
    check(Potentials(*tables))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_batch_is_decoded_as_by_arrays(dtype, chosen, loops):
    generator = torch.Generator().manual_seed(0)
    crf = CRF(5).to(dtype)
    emissions = torch.randint(-1, 2, (9, 12, 5), generator=generator).to(dtype)  # ties everywhere
    emissions[torch.rand(emissions.shape, generator=generator) < 0.1] = -INF
    emissions[..., 0] = 0.0
    mask = torch.arange(12) < torch.randint(1, 13, (9, 1), generator=generator)
    with torch.no_grad():
        crf.transitions.copy_(torch.randint(-1, 2, (5, 5), generator=generator))
    found = crf.decode(emissions, mask)
    chosen(None)
    assert crf.decode(emissions, mask) == found
    chosen(loops)
    alone = [crf.decode(e[None, : len(path)])[0] for e, path in zip(emissions, found, strict=True)]
    assert alone == found


def test_it_can_be_switched_off(monkeypatch, loops):
    monkeypatch.undo()
    for setting, wanted in (("off", None), ("", loops)):
        monkeypatch.setenv(compiled.VARIABLE, setting)
        compiled.kernels.cache_clear()
        assert compiled.kernels() is wanted
    compiled.kernels.cache_clear()


@pytest.mark.parametrize("broken", ["missing", "too old"])
def test_without_numba_arrays_answer(broken, monkeypatch, caplog):
    monkeypatch.undo()
    name = "crfviz.chain.engine.kernels"
    for module in [m for m in sys.modules if m.startswith(name)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr("crfviz.chain.engine.kernels")
    monkeypatch.setenv(compiled.VARIABLE, "on")
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


def test_where_nothing_can_be_written_a_loop_is_compiled_in_memory(loops, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")  # which nobody can make, not even root
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserWideCacheLocator")

    def twice(number):
        return 2.0 * number

    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit((numba.types.float64,), cache=True)(twice)
    assert loops.compiling.compiled(numba.types.float64)(twice)(21.0) == 42.0
