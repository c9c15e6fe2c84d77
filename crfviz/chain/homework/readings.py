"""The ways to read a table of numbers: which way round, in which space, in which convention.

Letters: `T` tokens, `K` tags, `R` rows of a table as given: T, T-1, or T and padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.homework.programs import (
    ALPHA,
    ARRIVING,
    BACKPOINTERS,
    INCLUDED,
    MESSAGES,
    VITERBI,
    Program,
)
from crfviz.chain.potentials import Array
from crfviz.exceptions import ShapeError

LOG, PROBABILITY, NORMALISED = "log", "probability", "normalised"
SPACES = (LOG, PROBABILITY, NORMALISED)


@dataclass(frozen=True)
class Reading:
    """One way to read a table."""

    flipped: bool  # the table has a row per tag and a column per word
    space: str  # one of `SPACES`; normalised: probabilities, each word's sum to 1
    convention: str  # "included", "arriving" or "messages"; "included" for all but α
    first: int = 0  # the word of the first row: 1 for backpointers without a row of their own

    def oriented(self, table: Array) -> Array:
        """The table with a row per word."""
        return table.T if self.flipped else table

    def shown(self, tables: Mapping[str, Array]) -> Array:
        """A program's table, as this reading would write it."""
        return in_space(tables[self.convention], self.space)


def in_space(log_table: Array, space: str) -> Array:
    """A table of logarithms in another space; NaN stays NaN."""
    with np.errstate(all="ignore"):
        if space == LOG:
            return log_table
        if space == PROBABILITY:
            return np.exp(log_table)
        top = log_table.max(1, keepdims=True)
        weights = np.exp(log_table - np.where(np.isfinite(top), top, 0.0))
        sums = weights.sum(1, keepdims=True)
        shares = weights / np.where(sums == 0, 1.0, sums)
        # What infinity turned into NaN must not pass for a cell that may hold anything.
        return np.where(np.isnan(shares) & ~np.isnan(log_table), np.inf, shares)


def readings(kind: str, shape: tuple[int, ...], num_tokens: int, num_tags: int) -> list[Reading]:
    """The ways to read a table of this shape, the likeliest first.

    Raises:
        ShapeError: there is none.
    """
    found = list(_readings(kind, shape, num_tokens, num_tags))
    if not found:
        raise ShapeError(
            f"expected a table of {num_tokens} words by {num_tags} tags, or the other way round, "
            f"got {' × '.join(map(str, shape)) or 'a single number'}"
        )
    return found


def fits(given: Array, table: Array, tolerances: Array) -> NDArray[np.bool_]:
    """(R, K) which cells are what a program would write; NaN in `table` is met by anything."""
    with np.errstate(invalid="ignore"):
        near = np.abs(given - table) <= tolerances
    return np.asarray(near | (given == table) | np.isnan(table))


def pointer_fits(given: Array, choices: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(T, K) which backpointers name a tag that is as good as the best one.

    Row 0 has none: -1 or an empty cell. So may a cell where all tags are as good as each other: it
    may be one that nothing reaches.
    """
    K = choices.shape[1]
    whole = np.isfinite(given) & (given == np.floor(given)) & (given >= 0) & (given < K)
    named = np.where(whole, given, 0).astype(int)
    chosen = np.take_along_axis(choices, named[..., None], 2)[..., 0]
    empty = np.isnan(given) | (given == -1)
    ok: NDArray[np.bool_] = (chosen & whole) | (choices.all(2) & empty)
    ok[0] = empty[0]
    return ok


def misplaced(right: Program) -> Iterator[tuple[NDArray[np.bool_], slice, int]]:
    """Backpointers one place off: choices, the rows that have them, what is added to each id."""
    choices = right.choices()
    yield choices[1:], slice(0, -1), 0
    yield choices[1:-1], slice(2, None), 0
    yield choices[1:], slice(1, None), 1
    yield choices[1:], slice(1, None), -1
    yield right.choices(after=True)[1:], slice(1, None), 0


def _readings(
    kind: str, shape: tuple[int, ...], num_tokens: int, num_tags: int
) -> Iterator[Reading]:
    if len(shape) != 2:
        return
    spaces = {BACKPOINTERS: SPACES[:1], VITERBI: SPACES[:2]}.get(kind, SPACES)
    for flipped in (False, True):
        rows, columns = shape[::-1] if flipped else shape
        if columns == num_tags:
            for space in spaces:
                for convention in _conventions(kind, rows - num_tokens, single=num_tokens == 1):
                    first = int(kind == BACKPOINTERS and rows < num_tokens)
                    yield Reading(flipped, space, convention, first)


def _conventions(kind: str, more: int, *, single: bool) -> list[str]:
    """The conventions of a table with so many more rows than words; one word passes nothing on."""
    if more == -1 and not single:
        return {ALPHA: [MESSAGES], BACKPOINTERS: [INCLUDED]}.get(kind, [])
    if more < 0:
        return []
    if kind != ALPHA:
        return [INCLUDED]
    return [INCLUDED, ARRIVING, MESSAGES] if more == 0 and not single else [INCLUDED, ARRIVING]
