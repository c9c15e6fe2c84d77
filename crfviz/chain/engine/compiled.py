"""Optional Numba kernels, and the decision to use them.

A NumPy call takes a microsecond, and a recursion over a sentence makes two calls per word. With
compiled loops, the tables of a sentence take a fifth of the time, with the same checks and the same
tie rule. Batches gain less: sweeps of 32 sentences take two thirds of the time with 17 tags, and
the same time with 100.

Numba is an extra, `crfviz[fast]`. No answer waits for its compiler. The first chain of a process
loads the loops if they are in Numba's cache, unless the environment variable CRFVIZ_COMPILED is
off; else NumPy answers. `crfviz compile` fills the cache, and so does a long training or evaluation
in the background; see `kernel_cache`.
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.engine import kernel_cache
from crfviz.chain.engine.packing import Packed
from crfviz.chain.engine.sweeps import (
    MAX_DECAY,
    MAX_SPREAD,
    Exponentials,
    Sweeps,
    exponentials_below,
)
from crfviz.chain.recursions import TOLERANCE
from crfviz.settings import settings

MAX_HEAPLESS_PATHS = 300  # for more paths, a search with a heap is faster
Table = NDArray[np.float64]
Ids = NDArray[np.int64]
Scores = tuple[Table, Table, Table, Table]  # emissions, transitions, start and end

_FREE = SimpleNamespace()  # stands for: what `kernels` returns now
_CHOSEN: ContextVar[SimpleNamespace | None] = ContextVar("chosen", default=_FREE)


@cache
def kernels() -> SimpleNamespace | None:
    """Return the functions of `crfviz.chain.engine.kernels`; None unless they are in the cache."""
    if not settings().compiled or not kernel_cache.is_filled():
        return None
    try:
        with kernel_cache.without_compiler():
            from crfviz.chain.engine import kernels as sums
            from crfviz.chain.engine.kernels import paths
    except (ModuleNotFoundError, kernel_cache.NotCachedError):
        return None
    except Exception as error:  # noqa: BLE001 - of any kind: the results are the same without Numba
        logging.getLogger(__name__).warning("Going on without Numba: %s", error)
        return None
    return SimpleNamespace(
        best_path=paths.best_path,
        best_paths=paths.best_paths,
        k_best=paths.k_best,
        below_best=sums.below_best,
        likelihoods=sums.likelihoods,
        slopes=sums.slopes,
        sweeps=sums.sweeps,
        tables=sums.tables,
    )


@contextmanager
def without_kernels() -> Iterator[None]:
    """Disable Numba in a `with` block, for a few sentences: loading it would take longer."""
    with _choice(None):
        yield


@contextmanager
def long_work() -> Iterator[None]:
    """Keep to one engine for a training or an evaluation, and fill an empty cache meanwhile.

    Loops and arrays differ in the last bits. Work after the block gets the compiled loops.
    """
    loops, missing = kernels(), settings().compiled and kernel_cache.numba_version()
    cancel = kernel_cache.fill_later(kernels.cache_clear) if missing and loops is None else None
    try:
        with _choice(loops):
            yield
    finally:
        if cancel:
            cancel()


@contextmanager
def _choice(loops: SimpleNamespace | None) -> Iterator[None]:
    before = _CHOSEN.set(loops)
    try:
        yield
    finally:
        _CHOSEN.reset(before)


class Tables(NamedTuple):
    """The fields of `crfviz.chain.forward_backward.ForwardBackward` as arrays."""

    log_partition: float
    log_alpha: Table
    log_beta: Table
    marginals: Table
    edge_marginals: Table


class Best(NamedTuple):
    """The fields of `crfviz.chain.decoding.viterbi.Viterbi` as arrays."""

    score: float  # -inf if no path is allowed
    ties: bool
    path: Ids
    best: Table
    backpointers: Ids


def tables(scores: Scores) -> Tables | None:
    """Return the tables of one chain; None if kernels do not apply or products are inexact."""
    if (loops := _kernels_for(scores)) is None:
        return None
    exact, *rest = loops.tables(*_contiguous(scores), MAX_SPREAD, MAX_DECAY)
    return Tables(*rest) if exact else None


def sweeps(e: Exponentials, packed: Packed) -> Sweeps | None:
    """Return the sweeps of packed sentences; None as in `tables`, or if they are not on the CPU."""
    scores = (e.emissions, e.transitions, e.start, e.end)
    if isinstance(e.emissions, Tensor) or (loops := _kernels_for(scores)) is None:
        return None
    rows = _contiguous((*scores[:2], np.atleast_2d(e.start), np.atleast_2d(e.end)))
    prefixes, arriving, suffixes, logs = loops.sweeps(
        *rows, packed.bounds, packed.lengths, e.stride
    )
    some = len(packed.columns) >= e.stride
    divided = (logs[0], logs[1, packed.mirrored]) if some else None
    return Sweeps(prefixes, arriving, suffixes, divided)


Slopes = tuple[Table, Table, Table, Table]  # the gradient, in the shapes of `Scores`


def likelihoods(
    scores: Scores, tags: Ids, packed: Packed
) -> tuple[Table, Callable[[Table], Slopes]] | None:
    """Return the log-likelihoods of a padded batch, and their gradient, by two kernel calls.

    None as in `tables`, and if a score is not finite or a tag is unknown.

    Args:
        scores: emissions (B * T, K), transitions, start and end.
        tags: (B * T,).
        packed: the layout of the words.

    Returns:
        (B,) nats of each place, and a function from (B,) weights of the places to the gradient of
        the weighted sum.
    """
    if (loops := _kernels_for(scores)) is None:
        return None
    padded, tags = _contiguous((scores[0], tags))
    lowest, rows, best, own = loops.below_best(padded, tags, packed.cells)
    e = exponentials_below(rows, best, (lowest, False), *scores[1:])
    if e is None or e.smallest > 0.0 or (result := sweeps(e, packed)) is None:
        return None
    best += e.best_move
    best[packed.last] += e.best_move
    if result.divided is not None:
        best[packed.last] += result.divided[0][packed.last]
    moves = np.concatenate([scores[1], *np.atleast_2d(*scores[2:])])
    values, totals = loops.likelihoods(
        padded,
        own,
        packed.cells,
        moves,
        result.prefixes,
        result.arriving,
        best,
        packed.bounds,
        packed.lengths,
    )
    if not totals.min() > 0.0:
        return None

    size, steps = len(padded), e.transitions  # so that the closure does not keep the rows

    def gradient(weights: Table) -> Slopes:
        given = np.ascontiguousarray(weights)
        where = packed.cells, packed.bounds, packed.lengths, size
        emissions, moves, ahead = loops.slopes(
            result.prefixes, result.arriving, totals, given, own, *where
        )
        used = ahead.T @ result.suffixes[packed.later]
        return emissions, moves[:-2] + used * steps, moves[-2], moves[-1]

    return values, gradient


def best_path(scores: Scores) -> Best | None:
    """Return the best path and tables of one chain; None if kernels do not apply."""
    if (loops := _kernels_for(scores)) is None:
        return None
    return Best(*loops.best_path(*_contiguous(scores), TOLERANCE))


def best_paths(scores: Scores, packed: Packed) -> tuple[Ids, NDArray[np.bool_]] | None:
    """Return (N,) the tag of each row and (B,) whether a path is allowed; None as in `tables`."""
    if (loops := _kernels_for(scores)) is None:
        return None
    emissions, transitions, start, end = scores
    rows = _contiguous((emissions, transitions.T, np.atleast_2d(start), np.atleast_2d(end)))
    tags, allowed = loops.best_paths(*rows, packed.bounds, packed.lengths, TOLERANCE)
    return tags, allowed


def k_best(scores: Scores, k: int) -> tuple[float, list[float], list[list[int]]] | None:
    """Return the score of the best path, the loss of each of the k best, and their tags.

    None if kernels do not apply, or every path is forbidden.
    """
    if k > MAX_HEAPLESS_PATHS or (loops := _kernels_for(scores)) is None:
        return None
    best, losses, backwards = loops.k_best(*_contiguous(scores), TOLERANCE, k)
    if not best > -math.inf:
        return None
    return best, losses.tolist(), backwards[:, ::-1].tolist()


def _kernels_for(scores: Scores) -> SimpleNamespace | None:
    if scores[1].ndim != 2:
        return None
    chosen = _CHOSEN.get()
    return kernels() if chosen is _FREE else chosen


def _contiguous(scores: Iterable[Any]) -> list[Any]:
    return [np.ascontiguousarray(table) for table in scores]
