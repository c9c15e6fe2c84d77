"""Catalogue of typical bugs in linear-chain CRF programs, with the tables they produce.

Each bug is applied to the program of `right_program`. A table that a buggy program prints exactly
identifies the bug.

Letters: `T` tokens, `K` tags, `P` columns of padding.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crfviz.chain.homework.programs import (
    ALPHA,
    BACKPOINTERS,
    BETA,
    KINDS,
    VITERBI,
    Program,
    right_program,
)
from crfviz.chain.homework.readings import pointer_fits
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import logsumexp, maximum
from crfviz.exceptions import CrfvizError

MASK_IGNORED = "mask ignored"
MISPLACED = "backpointer off by one"
SCALED_LATER = "scaled from the second word on"
FORWARD = (ALPHA, VITERBI, BACKPOINTERS)
TABLES = (ALPHA, BETA, VITERBI)
FINITE_INFINITIES = (-1e4, -1e3, -100.0, -1e5, -1e6, -1e9)  # common substitutes for -inf
MAX_PADDING = 8  # maximum number of padding columns to try
LARGEST = {"float64": 709.78, "float32": 88.72}  # log of the largest number
SMALLEST = {"float64": -745.13, "float32": -103.97}  # log of the smallest positive number
_PARTS = {
    "all": ("steps", "start", "end", "emissions"),
    "steps": ("steps",),
    "transitions": ("steps", "start", "end"),
    "start": ("start",),
    "end": ("end",),
    "emissions": ("emissions",),
}


@dataclass(frozen=True)
class Bug:
    """One known mistake."""

    name: str
    explanation: str  # what such a program does, and how to fix it
    kinds: tuple[str, ...]  # kinds of tables that it can affect
    mutants: Callable[[Program], Iterable[Program]]  # yields a program per place of the mistake


def known_bugs(kind: str) -> list[Bug]:
    """Return the bugs that can affect one kind of table, likeliest first."""
    return [bug for bug in CATALOGUE if kind in bug.kinds]


def example_table(potentials: Potentials, kind: str, bug: str = "") -> Array:
    """Return a table of one of `programs.KINDS`, in log space, as a program would print it.

    The table is (T, K), or has more rows if the bug reads padding. Without a bug it is correct.

    Raises:
        CrfvizError: there is no such bug for this kind, or it has no effect on this chain.
    """
    right = right_program(potentials, kind)
    table = right.printed(kind)
    if not bug:
        return table
    known = next((one for one in known_bugs(kind) if one.name == bug), None)
    if known is None:
        raise CrfvizError(f"expected a bug of {kind} tables, got {bug!r}")
    wrong = (mutant.printed(kind) for mutant in known.mutants(right))
    misplaced = [np.concatenate([table[1:], table[:1]])]
    for other in misplaced if bug == MISPLACED else wrong:
        printed = np.where(np.isnan(other), 0.0, other)  # NaN: rows with arbitrary content
        if not _right(printed, right, kind):
            return printed
    raise CrfvizError(f"“{bug}” changes nothing here: the numbers it touches are 0 or symmetric.")


def _right(table: Array, right: Program, kind: str) -> bool:
    """Return whether a table is right; padding is right if it repeats the last row."""
    if kind == BACKPOINTERS:
        choices = right.choices()
        return len(table) != len(choices) or bool(pointer_fits(table, choices).all())
    held = right.printed(kind)
    rows = np.minimum(np.arange(len(table)), len(held) - 1)
    return np.array_equal(table, held[rows])


def _end_in_table(right: Program) -> Iterator[Program]:
    """Add the end scores to the last row."""
    yield replace(right, finish=lambda table: np.vstack([table[:-1], table[-1] + right.end]))


def _emissions(right: Program, change: Callable[[Array], Array]) -> Iterator[Program]:
    """Change the emissions at every word, at the first word only, or at all except the first."""
    for rows in (slice(None), slice(0, 1), slice(1, None)):
        emissions = right.emissions.copy()
        emissions[rows] = change(emissions[rows])
        yield replace(right, emissions=emissions)


def _emission_twice(right: Program) -> Iterator[Program]:
    """Count emissions twice: at some words, or in the finished table."""
    yield from _emissions(right, lambda emissions: 2 * emissions)
    yield replace(right, finish=lambda table: table + right.emissions[: len(table)])


def _wrong_word(right: Program) -> Iterator[Program]:
    """Use the emissions of a neighbouring word."""
    for shift in (1, -1):
        yield replace(right, emissions=np.roll(right.emissions, shift, axis=0))
    yield replace(right, emissions=np.vstack([right.emissions[0], right.emissions[:-1]]))


def _missing_log(right: Program) -> Iterator[Program]:
    """Omit the log after a sum of exp, or use exp of scores instead of scores."""
    if right.reduce is logsumexp:
        yield replace(right, reduce=lambda scores, axis: np.exp(scores).sum(axis))
    raw = {name: np.exp(getattr(right, name)) for name in ("start", "emissions", "steps", "end")}
    yield replace(right, **raw)
    for name, values in raw.items():
        yield replace(right, **{name: values})


def _maximum_lost(right: Program) -> Iterator[Program]:
    """Subtract the maximum inside log-sum-exp, and do not add it back."""

    def shrunk(scores: Array, axis: int) -> Array:
        top = scores.max(axis)
        return logsumexp(scores, axis) - np.where(np.isneginf(top), 0.0, top)

    yield replace(right, reduce=shrunk)


def _missing_exp(right: Program) -> Iterator[Program]:
    """Sum the scores without exp."""
    if right.reduce is logsumexp:
        yield replace(right, reduce=lambda scores, axis: scores.sum(axis))
        yield replace(right, reduce=lambda scores, axis: np.log(np.abs(scores).sum(axis)))


def _shifted(right: Program) -> Iterator[Program]:
    """Move every row one place up or down; the free row may have any content."""
    unknown = np.full_like(right.emissions[0], np.nan)
    yield replace(right, finish=lambda table: np.vstack([table[1:], unknown]))
    yield replace(right, finish=lambda table: np.vstack([unknown, table[:-1]]))


def _scaled_later(right: Program) -> Iterator[Program]:
    """Divide each row by its sum, but for the row that is computed first."""

    def after_first(table: Array) -> Array:
        return np.vstack([table[:1], _normalised(table[1:], 1)])

    def before_last(table: Array) -> Array:
        return np.vstack([_normalised(table[:-1], 1), table[-1:]])

    yield replace(right, finish=after_first)
    yield replace(right, finish=before_last)


def _beta_off_by_one(right: Program) -> Iterator[Program]:
    """Use the row of a neighbouring word, or the emissions at t instead of t+1."""
    yield from _shifted(right)
    # β_t takes the emission of t instead of that of t+1.
    yield replace(right, emissions=np.vstack([right.emissions[0], right.emissions[:-1]]))
    yield replace(right, emissions=np.vstack([right.emissions[1:], np.zeros_like(right.start)]))


def _padding_read(right: Program) -> Iterator[Program]:
    """Count padding as words with emissions of 0, after the sentence or before it."""
    T = len(right.emissions)
    if not len(right.steps):
        return
    for padding in range(1, MAX_PADDING + 1):
        longer = _padded(right, padding)
        yield replace(longer, finish=lambda table: table[:T])
        yield longer
        yield replace(_padded(right, -padding), finish=lambda table: table[-T:])
    for name in ("steps", "all"):
        yield _without_infinities(right, 0.0, name)


def _finite_infinity(right: Program) -> Iterator[Program]:
    """Use a large negative number instead of -inf."""
    for value in FINITE_INFINITIES:
        for name in _PARTS:
            yield _without_infinities(right, value, name)


def _wrong_axis(right: Program) -> Iterator[Program]:
    """Normalise the table, matrix or emissions along an axis, or sum over the wrong tag axis."""
    if right.reduce is logsumexp:
        yield replace(right, finish=lambda table: _normalised(table, 0))
    for axis in (1, 2):
        yield replace(right, steps=_normalised(right.steps, axis))
    for axis in (0, 1):
        yield replace(right, emissions=_normalised(right.emissions, axis))
    reduce = right.reduce
    yield replace(right, reduce=lambda scores, axis: reduce(scores, 1 - axis))


def _lost_below(limit: float) -> Callable[[Array], Array]:
    return lambda table: np.where(table < limit, -np.inf, table)


def _infinite_above(limit: float) -> Callable[[Array], Array]:
    return lambda table: np.where(table > limit, np.inf, table)


def _padded(right: Program, padding: int) -> Program:
    """Run the program over `padding` more columns of zeros, before the words if negative."""
    zeros = np.zeros((abs(padding), right.emissions.shape[1]))
    if padding > 0:
        steps = [right.steps, np.repeat(right.steps[-1:], padding, axis=0)]
        emissions = [right.emissions, zeros]
    else:
        steps = [np.repeat(right.steps[:1], -padding, axis=0), right.steps]
        emissions = [zeros, right.emissions]
    return replace(right, steps=np.concatenate(steps), emissions=np.concatenate(emissions))


def _without_infinities(right: Program, value: float, where: str) -> Program:
    """Return the program with `value` for -inf in the scores that `_PARTS` names."""
    scores = {name: getattr(right, name) for name in _PARTS[where]}
    finite: dict[str, Any] = {
        name: np.where(np.isneginf(old), value, old) for name, old in scores.items()
    }
    return replace(right, **finite)


def _normalised(table: Array, axis: int) -> Array:
    """Scale a table so that exp sums to 1 along an axis; NaN and rows of -inf stay."""
    if not table.size:
        return table
    with np.errstate(all="ignore"):
        known = np.where(np.isnan(table), -np.inf, table)
        sums = np.logaddexp.reduce(known, axis, keepdims=True)
        return np.asarray(table - np.where(np.isneginf(sums), 0.0, sums))


CATALOGUE = (
    Bug(
        "end score forgotten",
        "The sweep begins with 0 instead of the end scores. Start β at the last word with end(k).",
        (BETA,),
        lambda right: [replace(right, end=np.zeros_like(right.end))],
    ),
    Bug(
        "start forgotten",
        "The first word has its emissions alone. Add start(k) there.",
        FORWARD,
        lambda right: [replace(right, start=np.zeros_like(right.start))],
    ),
    Bug(
        "transposed matrix",
        "w is read as [to, from]. Here it is [from, to]: swap the two indices.",
        KINDS,
        lambda right: [replace(right, steps=right.steps.swapaxes(1, 2))],
    ),
    Bug(
        "max for sum",
        "The paths that meet in a tag are not summed, only the best one is kept, as in Viterbi. "
        "Take log Σ exp.",
        (ALPHA, BETA),
        lambda right: [replace(right, reduce=maximum)],
    ),
    Bug(
        "sum for max",
        "All paths that meet in a tag are summed, as in the forward table. Keep the best one only.",
        (VITERBI, BACKPOINTERS),
        lambda right: [replace(right, reduce=logsumexp)],
    ),
    Bug(
        "emission added twice",
        "The emission of a word counts twice. Add it once, and not again when the table is read.",
        KINDS,
        _emission_twice,
    ),
    Bug(
        "emission left out",
        "The emission of a word is missing from the step.",
        KINDS,
        lambda right: _emissions(right, np.zeros_like),
    ),
    Bug(
        "beta off by one",
        "β at t is that of a neighbour, or takes the emission of t instead of t+1. "
        "β at t holds what comes after t.",
        (BETA,),
        _beta_off_by_one,
    ),
    Bug(
        MISPLACED,
        "The pointers are one place off: in the word they belong to, or in the counting of tags. "
        "Row t names the tag at t−1, tags count from 0.",
        (BACKPOINTERS,),
        lambda right: [right],  # `readings.misplaced` has them
    ),
    Bug(
        MASK_IGNORED,
        "Padding, or a forbidden move, takes part in the sum. Hold the table still after the last "
        "word, and keep −∞ where something is forbidden.",
        KINDS,
        _padding_read,
    ),
    Bug(
        "-10000 leaking",
        "A finite number stands for “forbidden” and adds up with real scores. Use −∞.",
        KINDS,
        _finite_infinity,
    ),
    Bug(
        SCALED_LATER,
        "Each row is divided by its sum, but for the one that is computed first. Divide all rows, "
        "or none.",
        (ALPHA, BETA),
        _scaled_later,
    ),
    Bug(
        "wrong axis normalised",
        "A sum runs over the wrong axis: over the positions, or over the tags moved to. Only the "
        "tags of one word may be made to sum to 1.",
        KINDS,
        _wrong_axis,
    ),
    Bug(
        "missing log",
        "A number that should be a logarithm is not: a sum of exp without log, or probabilities "
        "added as if they were scores.",
        KINDS,
        _missing_log,
    ),
    Bug(
        "missing exp",
        "Scores are summed as they are. Take exp before the sum and log after it.",
        (ALPHA, BETA),
        _missing_exp,
    ),
    Bug(
        "maximum not added back",
        "log Σ exp(a − max) lacks the maximum. Add it after the logarithm.",
        (ALPHA, BETA),
        _maximum_lost,
    ),
    Bug(
        "transitions forgotten",
        "The step from word to word has no transition score.",
        KINDS,
        lambda right: [replace(right, steps=np.zeros_like(right.steps))],
    ),
    Bug(
        "emission of another word",
        "The emissions are read one word too early or too late.",
        FORWARD,
        _wrong_word,
    ),
    Bug(
        "end score in the table",
        "The end scores are in the last row. They belong to Z and to the last choice alone.",
        (ALPHA, VITERBI),
        _end_in_table,
    ),
    Bug(
        "table off by one",
        "Every row stands one word too early or too late.",
        FORWARD,
        _shifted,
    ),
    Bug(
        "overflow",
        "exp of a score is too large for its type and became ∞. Stay in log space.",
        TABLES,
        lambda right: [replace(right, finish=_infinite_above(log)) for log in LARGEST.values()],
    ),
    Bug(
        "underflow",
        "Products of probabilities became 0 before the logarithm was taken. Stay in log space.",
        TABLES,
        lambda right: [replace(right, finish=_lost_below(log)) for log in SMALLEST.values()],
    ),
)
