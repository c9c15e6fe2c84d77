"""A program that fills the tables of a chain, as a value with replaceable parts.

These are the recursions of `crfviz.chain.recursions`, in the form that students use. Each mistake
is one replaced field: other scores, another reduction, or a change of the finished table.

Letters: `T` tokens, `K` tags. Everything is in nats.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import logsumexp, maximum

ALPHA, BETA, VITERBI, BACKPOINTERS = "alpha", "beta", "viterbi", "backpointers"
KINDS = (ALPHA, BETA, VITERBI, BACKPOINTERS)
INCLUDED = "included"  # α holds the emission at t
ARRIVING = "arriving"  # row t is the incoming sum at t, without the emission; row 0 is start
MESSAGES = "messages"  # row t is the message from t to t+1; the last row is empty or missing
NEAR = 1e-9  # relative difference up to which two candidates of a backpointer tie

Reduce = Callable[[Array, int], Array]  # reduces one axis of (K from, K to), to (K,)


@dataclass(frozen=True, eq=False)
class Program:
    """The inputs and operations of a program; `right_program` returns the correct one."""

    start: Array  # (K,)
    emissions: Array  # (T, K)
    steps: Array  # (T-1, K, K), from and to
    end: Array  # (K,)
    reduce: Reduce
    finish: Callable[[Array], Array] = np.asarray  # applied to the finished table
    _filled: dict[str, Mapping[str, Array]] = field(default_factory=dict, init=False, repr=False)

    def tables(self, kind: str) -> Mapping[str, Array]:
        """Fill alpha, beta or Viterbi in every convention, (R, K) nats; cached.

        R is T, or more if the program reads padding. NaN marks cells with arbitrary or no content.
        """
        if kind not in self._filled:
            self._filled[kind] = self._tables(kind)
        return self._filled[kind]

    def _tables(self, kind: str) -> Mapping[str, Array]:
        with np.errstate(all="ignore"):
            if kind == BETA:
                return {INCLUDED: self.finish(self._backward())}
            arriving = self._arriving()
            included = self.finish(arriving + self.emissions)
            if kind == VITERBI:
                return {INCLUDED: included}
            nothing = np.full((1, len(self.start)), np.nan)
            return {
                INCLUDED: included,
                ARRIVING: self.finish(arriving),
                MESSAGES: self.finish(np.concatenate([arriving[1:], nothing])),
            }

    def printed(self, kind: str) -> Array:
        """Return the (R, K) table that this program prints; ties go to the lowest tag id."""
        if kind != BACKPOINTERS:
            return self.tables(kind)[INCLUDED]
        pointers: Array = self.choices().argmax(2).astype(float)
        pointers[0] = -1.0
        return pointers

    def choices(self, *, after: bool = False) -> NDArray[np.bool_]:
        """Return (T, K, K) whether each previous tag ties with the best one; False in row 0.

        If no previous tag can be reached, all of them tie. With `after`, the scores of word t are
        used instead of those of word t-1.
        """
        with np.errstate(all="ignore"):
            table = self._arriving() + self.emissions
            before = table[1:] if after else table[:-1]
            candidates = before[:, :, None] + self.steps  # (T-1, K from, K to)
            best = candidates.max(1, keepdims=True)
            near = candidates >= best - NEAR * np.maximum(np.abs(best), 1.0)
        near |= np.isneginf(best)
        first = np.zeros((1, *near.shape[1:]), dtype=bool)
        return np.concatenate([first, near]).swapaxes(1, 2)

    def _arriving(self) -> Array:
        """Return (T, K): row t is the sum or maximum over prefixes before t, with the step to k."""
        rows = [self.start]
        for emission, step in zip(self.emissions[:-1], self.steps, strict=True):
            reached = rows[-1] + emission
            rows.append(self.reduce(reached[:, None] + step, 0))
        return _without_nan(np.stack(rows))

    def _backward(self) -> Array:
        rows = [self.end]
        for emission, step in zip(self.emissions[:0:-1], self.steps[::-1], strict=True):
            rows.append(self.reduce(step + (emission + rows[-1])[None, :], 1))
        return _without_nan(np.stack(rows[::-1]))


def _without_nan(table: Array) -> Array:
    """Replace NaN by +inf, because NaN means “any value” in a table, and no table has +inf."""
    return np.where(np.isnan(table), np.inf, table)


def right_program(potentials: Potentials, kind: str) -> Program:
    """Return the correct program for one kind of table."""
    emissions, steps, start, end = potentials.arrays()
    reduce: Reduce = logsumexp if kind in (ALPHA, BETA) else maximum
    return Program(start, emissions, steps, end, reduce)
