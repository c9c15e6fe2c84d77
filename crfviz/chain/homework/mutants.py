"""Programs for a linear-chain CRF with one mistake each, made from the program without one.

Several programs for each mistake, because the same slip can be made in several places.

Letters: `T` tokens, `K` tags, `P` columns of padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from crfviz.chain.homework.programs import Program, largest, log_sum
from crfviz.chain.potentials import Array

FINITE_INFINITIES = (-1e4, -1e3, -100.0, -1e5, -1e6, -1e9)  # written where -inf is meant
MOST_PADDING = 8  # columns of padding that are tried
LARGEST = {"float64": 709.78, "float32": 88.72}  # log of the largest number
SMALLEST = {"float64": -745.13, "float32": -103.97}  # log of the smallest positive number


def end_forgotten(right: Program) -> Iterator[Program]:
    """β begins with 0 instead of the end scores."""
    yield replace(right, end=np.zeros_like(right.end))


def end_in_table(right: Program) -> Iterator[Program]:
    """The end scores are added to the last row."""

    def add(table: Array) -> Array:
        return np.concatenate([table[:-1], table[-1:] + right.end])

    yield replace(right, finish=add)


def start_forgotten(right: Program) -> Iterator[Program]:
    """The start scores are taken for 0."""
    yield replace(right, start=np.zeros_like(right.start))


def transposed(right: Program) -> Iterator[Program]:
    """The matrix is read as [to, from]."""
    yield replace(right, steps=right.steps.swapaxes(1, 2))


def transitions_forgotten(right: Program) -> Iterator[Program]:
    """The transitions are taken for 0."""
    yield replace(right, steps=np.zeros_like(right.steps))


def emission_twice(right: Program) -> Iterator[Program]:
    """Emissions count twice: in all rows, the first, the others, or the finished table."""
    for rows in _row_choices():
        emissions = right.emissions.copy()
        emissions[rows] *= 2
        yield replace(right, emissions=emissions)
    yield replace(right, finish=lambda table: table + right.emissions[: len(table)])


def emission_left_out(right: Program) -> Iterator[Program]:
    """Emissions are missing: everywhere, in the first row, or in the others."""
    for rows in _row_choices():
        emissions = right.emissions.copy()
        emissions[rows] = 0.0
        yield replace(right, emissions=emissions)


def wrong_word(right: Program) -> Iterator[Program]:
    """Emissions of a neighbour are taken."""
    for shift in (1, -1):
        yield replace(right, emissions=np.roll(right.emissions, shift, axis=0))
    before = np.concatenate([right.emissions[:1], right.emissions[:-1]])
    yield replace(right, emissions=before)


def max_for_sum(right: Program) -> Iterator[Program]:
    """Maximum instead of log-sum-exp."""
    yield replace(right, reduce=largest)


def sum_for_max(right: Program) -> Iterator[Program]:
    """Log-sum-exp instead of the maximum."""
    yield replace(right, reduce=log_sum)


def missing_log(right: Program) -> Iterator[Program]:
    """A sum of exp without its log, or exp of scores where scores belong."""
    if right.reduce is log_sum:
        yield replace(right, reduce=lambda scores, axis: np.exp(scores).sum(axis))
    raw = {name: np.exp(getattr(right, name)) for name in ("start", "emissions", "steps", "end")}
    yield replace(right, **raw)
    for name, values in raw.items():
        yield replace(right, **{name: values})


def maximum_lost(right: Program) -> Iterator[Program]:
    """The maximum is taken out of the sum and not added back."""

    def shrunk(scores: Array, axis: int) -> Array:
        top = scores.max(axis)
        return log_sum(scores, axis) - np.where(np.isneginf(top), 0.0, top)

    yield replace(right, reduce=shrunk)


def missing_exp(right: Program) -> Iterator[Program]:
    """Scores are summed as they are."""
    if right.reduce is log_sum:
        yield replace(right, reduce=lambda scores, axis: scores.sum(axis))
        yield replace(right, reduce=lambda scores, axis: np.log(np.abs(scores).sum(axis)))


def shifted(right: Program) -> Iterator[Program]:
    """Every row stands one place too early or too late; what fills the free row is not known."""

    def early(table: Array) -> Array:
        return np.concatenate([table[1:], np.full_like(table[:1], np.nan)])

    def late(table: Array) -> Array:
        return np.concatenate([np.full_like(table[:1], np.nan), table[:-1]])

    yield replace(right, finish=early)
    yield replace(right, finish=late)


def beta_off_by_one(right: Program) -> Iterator[Program]:
    """Rows of a neighbour, or emissions of t where those of t+1 belong."""
    yield from shifted(right)
    # β_t takes the emission of t instead of that of t+1.
    yield replace(right, emissions=np.concatenate([right.emissions[:1], right.emissions[:-1]]))
    later = np.concatenate([right.emissions[1:], np.zeros_like(right.emissions[:1])])
    yield replace(right, emissions=later)


def padding_read(right: Program) -> Iterator[Program]:
    """Padding counted as words with emissions of 0, after the sentence or before it."""
    T = len(right.emissions)
    if not len(right.steps):
        return
    for padding in range(1, MOST_PADDING + 1):
        longer = _padded(right, padding)
        yield replace(longer, finish=lambda table: table[:T])
        yield longer
        yield replace(_padded(right, -padding), finish=lambda table: table[-T:])
    for name in ("steps", "all"):
        yield _without_infinities(right, 0.0, name)


def finite_infinity(right: Program) -> Iterator[Program]:
    """A finite number for -inf."""
    for value in FINITE_INFINITIES:
        for name in _PARTS:
            yield _without_infinities(right, value, name)


def wrong_axis(right: Program) -> Iterator[Program]:
    """Table, matrix or emissions normalised along an axis, or the sum over the tags moved to."""
    if right.reduce is log_sum:
        yield replace(right, finish=_normalised_over_positions)
    for axis in (1, 2):
        yield replace(right, steps=_normalised(right.steps, axis))
    for axis in (0, 1):
        yield replace(right, emissions=_normalised(right.emissions, axis))
    reduce = right.reduce
    yield replace(right, reduce=lambda scores, axis: reduce(scores, 1 - axis))


def underflow(right: Program) -> Iterator[Program]:
    """Products too small for their type became 0."""
    for smallest in SMALLEST.values():
        yield replace(right, finish=_lost_below(smallest))


def overflow(right: Program) -> Iterator[Program]:
    """Products too large for their type became infinite."""
    for largest_log in LARGEST.values():
        yield replace(right, finish=_infinite_above(largest_log))


def _infinite_above(largest_log: float) -> Callable[[Array], Array]:
    return lambda table: np.where(table > largest_log, np.inf, table)


def _lost_below(smallest: float) -> Callable[[Array], Array]:
    return lambda table: np.where(table < smallest, -np.inf, table)


def _row_choices() -> list[slice]:
    """Every word, the first one alone, all but the first."""
    return [slice(None), slice(0, 1), slice(1, None)]


def _padded(right: Program, padding: int) -> Program:
    """The program over `padding` more columns of zeros, before the words if it is negative."""
    zeros = np.zeros((abs(padding), right.emissions.shape[1]))
    if padding > 0:
        steps = [right.steps, np.repeat(right.steps[-1:], padding, axis=0)]
        emissions = [right.emissions, zeros]
    else:
        steps = [np.repeat(right.steps[:1], -padding, axis=0), right.steps]
        emissions = [zeros, right.emissions]
    return replace(right, steps=np.concatenate(steps), emissions=np.concatenate(emissions))


def _without_infinities(right: Program, value: float, where: str) -> Program:
    """The program with `value` for -inf in the scores that `_PARTS` names."""

    def changed(name: str) -> Array:
        old: Array = getattr(right, name)
        meant = name in _PARTS[where]
        return np.where(np.isneginf(old), value, old) if meant else old

    return replace(
        right,
        start=changed("start"),
        emissions=changed("emissions"),
        steps=changed("steps"),
        end=changed("end"),
    )


_PARTS = {
    "all": ("steps", "start", "end", "emissions"),
    "steps": ("steps",),
    "transitions": ("steps", "start", "end"),
    "start": ("start",),
    "end": ("end",),
    "emissions": ("emissions",),
}


def _normalised_over_positions(table: Array) -> Array:
    return _normalised(table, 0)


def _normalised(table: Array, axis: int) -> Array:
    """The table with an exp that sums to 1 along an axis; NaN and rows of -inf stay."""
    if not table.size:
        return table
    with np.errstate(all="ignore"):
        known = np.where(np.isnan(table), -np.inf, table)
        sums = np.logaddexp.reduce(known, axis, keepdims=True)
        return np.asarray(table - np.where(np.isneginf(sums), 0.0, sums))
