"""Forward and backward as products, both in one loop over rows of packed sentences.

With x, E, s and f the exponentials of emissions, transitions, start and end:

    prefixes   a_1 = s ∘ x_1        a_t = (a_{t-1} E) ∘ x_t
    suffixes   b_T = f ∘ x_T        b_t = (b_{t+1} Eᵀ) ∘ x_t

A suffix is a prefix of the sentence read from its end, so that one product serves both. What
arrives at a word, before x_t is multiplied, is kept, too: for the suffixes it is β_t, and a_t ∘ β_t
adds up to Z at every word, but for what the rows were divided by.

Source: Rabiner, "A tutorial on hidden Markov models" (1989), sections III.A and V.A.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crfviz.chain.engine.arrays import Array, empty, library, log, take
from crfviz.chain.engine.exponentials import Exponentials
from crfviz.chain.engine.packed import Packed

FEW_TAGS = 24  # up to here one product of 2K x 2K with zeros is faster than two of K x K


@dataclass(frozen=True, eq=False)
class Sweeps:
    """What the loop leaves: index 0 reads from the start of a sentence, index 1 from its end."""

    arriving: Array  # (2, N, K) before the emission; the first rows are s and f
    reached: Array  # (2, N, K) with the emission
    divided: Array | None  # (2, N) log of all that a row was divided by; None if by nothing


def sweeps(e: Exponentials, packed: Packed) -> Sweeps:
    """Prefixes and suffixes of all words, each direction in the order in which it reads."""
    alone = packed.first.stop == 1 and isinstance(e.emissions, np.ndarray)
    layout = _Side if alone or e.emissions.shape[1] <= FEW_TAGS else _Stacked
    emissions, arriving, reached = (layout.room(e.emissions) for _ in range(3))
    emissions[0], emissions[1] = e.emissions, take(e.emissions, packed.mirrored)
    arriving[0, packed.first], arriving[1, packed.first] = e.start, e.end
    reached[:, packed.first] = arriving[:, packed.first] * emissions[:, packed.first]
    divided = None
    if len(packed.columns) >= e.stride:
        divided = library(e.emissions).zeros_like(emissions[..., 0])
    found = Sweeps(arriving, reached, divided)
    factors = [layout.factors(table) for table in (emissions, arriving, reached)]
    loop = _word_by_word if alone else _column_by_column
    loop(e, packed, _steps(e, packed, layout.step), factors, found)
    return found


def _column_by_column(
    e: Exponentials, packed: Packed, steps: Sequence[Array], factors: list[Array], found: Sweeps
) -> None:
    """Fill the tables from their first column on."""
    xp = library(e.emissions)
    x, a, r = factors
    if e.stride == 1:
        _divide(found, packed.first)
    for t, (before, here) in enumerate(pairwise(packed.columns)):
        there = slice(before.start, before.start + here.stop - here.start)
        xp.matmul(r[..., there, :], steps[t], out=a[..., here, :])
        xp.multiply(a[..., here, :], x[..., here, :], out=r[..., here, :])
        if found.divided is not None:
            found.divided[:, here] = found.divided[:, there]
            if (t + 2) % e.stride == 0:
                _divide(found, here)


def _word_by_word(
    e: Exponentials, packed: Packed, steps: Sequence[Array], factors: list[Array], found: Sweeps
) -> None:
    """The same for one sentence, with vectors, which cost less a step."""
    x, a, r = factors
    for begin in range(0, len(packed.columns), e.stride):
        rows = slice(max(begin, 1), begin + e.stride)
        moves = steps[rows.start - 1 : rows.stop - 1]
        before = r[rows.start - 1]
        for arriving, word, reached, step in zip(a[rows], x[rows], r[rows], moves, strict=True):
            np.dot(before, step, out=arriving)
            before = np.multiply(arriving, word, out=reached)
        if found.divided is not None:
            found.divided[:, rows] = found.divided[:, rows.start - 1, None]
            _divide(found, slice(rows.stop - 1, rows.stop))


def _divide(found: Sweeps, rows: slice) -> None:
    """Divide rows of one column by their sums, in place, if anything is to be divided."""
    if found.divided is not None:
        sums = found.reached[:, rows].sum(-1)
        sums[sums == 0.0] = 1.0  # nothing is allowed
        found.reached[:, rows] /= sums[..., None]
        found.divided[:, rows] += log(sums)


class _Side:
    """Both directions in one row, (N, 2K), with one product: zeros keep them apart."""

    @staticmethod
    def room(words: Array) -> Array:
        """Room for two tables like `words` (N, K), seen as (2, N, K)."""
        return empty((len(words), 2, words.shape[1]), words).swapaxes(0, 1)

    @staticmethod
    def factors(table: Array) -> Array:
        """The same room as it is multiplied."""
        return table.swapaxes(0, 1).reshape(table.shape[1], -1)

    @staticmethod
    def step(forward: Array, backward: Array) -> Array:
        """What the factors are multiplied by."""
        num_tags = len(forward)
        both = empty((2 * num_tags, 2 * num_tags), forward)
        both[:] = 0.0
        both[:num_tags, :num_tags], both[num_tags:, num_tags:] = forward, backward
        return both


class _Stacked:
    """Both directions one after the other, (2, N, K), with a product of two matrices."""

    @staticmethod
    def room(words: Array) -> Array:
        """Room for two tables like `words` (N, K)."""
        return empty((2, *words.shape), words)

    @staticmethod
    def factors(table: Array) -> Array:
        """The same room as it is multiplied."""
        return table

    @staticmethod
    def step(forward: Array, backward: Array) -> Array:
        """What the factors are multiplied by."""
        return library(forward).stack([forward, backward])


def _steps(
    e: Exponentials, packed: Packed, both_ways: Callable[[Array, Array], Array]
) -> Sequence[Array]:
    """What the rows of each column but the last are multiplied by on the way to the next one."""
    if e.transitions.ndim == 2:
        return [both_ways(e.transitions, e.transitions.T)] * (len(packed.columns) - 1)
    backward = library(e.transitions).flip(e.transitions, (0,)).swapaxes(-1, -2)
    return list(map(both_ways, e.transitions, backward))


def exact(e: Exponentials, found: Sweeps, totals: Array, packed: Packed) -> bool:
    """Whether nothing was lost: the check after, of `crfviz.chain.engine.exponentials`.

    Args:
        e: what the sweeps are of.
        found: the sweeps.
        totals: (N,) sums of the products of both sweeps.
        packed: whose rows they are.
    """
    if e.smallest == 0.0:
        return float(totals.min()) > 0.0
    alive = totals > 0.0
    if not (alive == alive[packed.first][packed.places]).all():
        return False
    positive = library(totals).where(found.reached > 0.0, found.reached, math.inf)
    return float(positive.min()) >= e.smallest
