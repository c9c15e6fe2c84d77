"""A program that fills the tables of a chain, as a value with replaceable parts.

The same recursions as in `crfviz.chain.recursions`, written out once more as students write them,
so that a mistake is one replaced field: other scores, another way to reduce, or something done to
the finished table.

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
ARRIVING = "arriving"  # row t is what arrives at t: the emission at t is left out, row 0 is start
MESSAGES = "messages"  # row t is what t passes on to t+1; the last row is empty or missing
NEAR = 1e-9  # two candidates of a backpointer are as good as each other, relative to their size

Reduce = Callable[[Array, int], Array]  # (K from, K to) and the axis that goes, to (K,)


@dataclass(frozen=True, eq=False)
class Program:
    """Everything a table is made from. The program of `right_program` makes no mistake."""

    start: Array  # (K,)
    emissions: Array  # (T, K)
    steps: Array  # (T-1, K, K), from and to
    end: Array  # (K,)
    reduce: Reduce
    finish: Callable[[Array], Array] = np.asarray  # what is done to the finished table: nothing
    _filled: dict[str, Mapping[str, Array]] = field(default_factory=dict, init=False, repr=False)

    def tables(self, kind: str) -> Mapping[str, Array]:
        """Fill alpha, beta or Viterbi in every convention, (R, K) nats, once.

        R is T, or more where padding is read. NaN stands where this program writes anything or
        nothing.
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
        """(R, K) the table as this program prints it: of several tags as good the lowest id."""
        if kind != BACKPOINTERS:
            return self.tables(kind)[INCLUDED]
        pointers: Array = self.choices().argmax(2).astype(float)
        pointers[0] = -1.0
        return pointers

    def choices(self, *, after: bool = False) -> NDArray[np.bool_]:
        """Return (T, K, K) which tags before are as good as the best one; row 0 has none.

        Where no tag before can be reached, every one is as good. With `after`, the scores of word t
        are taken where those of word t-1 belong.
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
        """Return (T, K) row t is the sum or maximum over all prefixes before t, moved on to k."""
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
    """Replace NaN by +inf: in a table NaN means “anything”, and no table has +inf."""
    return np.where(np.isnan(table), np.inf, table)


def right_program(potentials: Potentials, kind: str) -> Program:
    """Return the program without a mistake for one kind of table."""
    emissions, steps, start, end = potentials.arrays()
    reduce: Reduce = logsumexp if kind in (ALPHA, BETA) else maximum
    return Program(start, emissions, steps, end, reduce)
