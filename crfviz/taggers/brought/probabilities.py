"""Probabilities that somebody brought: what their rows sum to, and their logarithms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crfviz.chain.potentials import Array
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.draft import MOST_SAID, STEPS, Part
from crfviz.taggers.textbook.markov import TOLERANCE


class Logarithms:
    """Scores for p(word | tag), p(tag | tag before), p(first tag) and p(END | tag).

    Args:
        shared: the tables of all sentences, worked out once.
        normalise: divide each row by its sum first.
    """

    def __init__(self, shared: Mapping[str, Array], *, normalise: bool) -> None:
        self._shared = shared
        self._normalise = normalise
        self._known: dict[str, Array] | None = None

    def of(self, part: Part) -> Part:
        """The sentence with logarithms.

        Raises:
            FormatError: a row of zeros should be divided by its sum.
        """
        return replace(part, emissions=_logarithm(part.emissions), **self._steps(part))

    def _steps(self, part: Part) -> dict[str, Any]:
        usual = all(getattr(part, name) is self._shared.get(name) for name in STEPS)
        if usual and self._known is not None:
            return self._known
        whole = _normalised(part) if self._normalise else part
        tables = {name: getattr(whole, name) for name in STEPS}
        logs = {name: _logarithm(table) for name, table in tables.items() if table is not None}
        if usual:
            self._known = logs
        return logs


def _logarithm(table: Array) -> Array:
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
        logs: Array = np.log(table)
    return logs


def unnormalised(parts: Sequence[Part], tags: Sequence[str]) -> tuple[str, ...]:
    """The rows that do not sum to one, in words, each once; at most five of them."""
    said: dict[str, None] = {}
    seen = None
    for part in parts:
        tables = [getattr(part, name) for name in STEPS]
        if seen is not None and all(one is other for one, other in zip(tables, seen, strict=True)):
            continue
        seen = tables
        sums = [] if part.start is None else [("start", part.start.sum())]
        name = "transitions" if part.end is None else "transitions with end"
        for rows in np.atleast_2d(_leaving(part)):
            sums += [
                (f"{name}, row {tag!r},", total) for tag, total in zip(tags, rows, strict=False)
            ]
        for row, total in sums:
            if abs(total - 1.0) > TOLERANCE:
                said[f"{row} sums to {total:.6g}"] = None
    return tuple(said)[:MOST_SAID]


def _leaving(part: Part) -> Array:
    """(K,) or (T-1, K): what each row of the transitions sums to, END included."""
    total: Array = part.transitions.sum(-1)
    return total if part.end is None else total + part.end


def _normalised(part: Part) -> Part:
    """Each row divided by its sum; END belongs to the rows of transitions."""
    leaving = _leaving(part)
    starts = np.ones(1) if part.start is None else np.atleast_1d(part.start.sum())
    if not (leaving > 0).all() or not (starts > 0).all():
        raise FormatError(f"{part.where}: a row of zeros cannot be divided by its sum.")
    if part.end is not None and leaving.ndim > 1 and np.ptp(leaving, axis=0).max() > TOLERANCE:
        raise FormatError(
            f"{part.where}: the rows of the steps have different sums, so one row of end scores "
            "cannot be divided by all of them."
        )
    ends = leaving if leaving.ndim == 1 else leaving[0]
    return replace(
        part,
        transitions=part.transitions / leaving[..., None],
        start=None if part.start is None else part.start / starts,
        end=None if part.end is None else part.end / ends,
    )
