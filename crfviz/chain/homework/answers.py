"""Grading of one answer in an exercise: right, or wrong by a known mistake with its arithmetic.

A wrong value is named if a program of the bug catalogue gives it, from the right cells before it or
from its own ones. Everything is in nats; arithmetic of sums is written in factors, exp(score).

Letters: `T` tokens, `K` tags.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from crfviz.chain.homework.bugs import Bug, known_bugs
from crfviz.chain.homework.programs import BACKPOINTERS, BETA, VITERBI, Program
from crfviz.chain.potentials import Array
from crfviz.chain.recursions import maximum
from crfviz.chain.validation import tag_id, whole_number

Cell = tuple[int, int]  # position and tag id

MACHINES = {  # mistakes of programs, not of people
    "overflow",
    "underflow",
    "-10000 leaking",
    "mask ignored",
    "wrong axis normalised",
    "missing log",
    "maximum not added back",
}
LARGEST_LOG = 700.0  # of a factor
ROUNDED = 0.005 + 1e-9  # answers are rounded to two places
NOTHING = "none"  # the answer that a cell is computed from no other
LONGEST = 200  # maximum number of characters of an answer
_CELL = re.compile(r"(\d{1,4}),(\d{1,4})")
_NUMBER = re.compile(r"[+-]?(\d{1,9}(\.\d{0,12})?|\.\d{1,12})(/\d{1,9})?")


@dataclass(frozen=True)
class Verdict:
    """The grade of one answer."""

    right: bool
    mistake: str  # name of the known mistake behind a wrong answer; empty if none is known
    why: str  # what was done, with its arithmetic


@dataclass(frozen=True, eq=False)
class Slip:
    """A known mistake on one chain, and the table that it gives."""

    bug: Bug
    program: Program
    before: Array  # (T, K) the table whose cells each cell is computed from
    table: Array  # (T, K) NaN where the program writes nothing
    main: bool  # whether it is the usual form of the mistake

    @property
    def by_people(self) -> bool:
        """Whether people also make this mistake, not only programs."""
        return self.bug.name not in MACHINES


def known_slips(right: Program, kind: str) -> list[Slip]:
    """Return the mistakes that change some cell of a table, likeliest first."""
    table = right.printed(kind)
    found: list[Slip] = []
    for bug in known_bugs(kind):
        changed = False
        for program in [*bug.mutants(right), *_by_hand(bug, right, kind)]:
            own = np.nan_to_num(program.printed(kind)[: len(table)], posinf=np.inf, neginf=-np.inf)
            forms = [(own, own)]
            if program.emissions.shape == table.shape and program.start.shape == right.start.shape:
                forms.insert(0, (table, program.finish(one_step(program, kind, table))))
            for before, values in forms:
                if values.shape == table.shape and not np.allclose(values, table, atol=1e-9):
                    found.append(Slip(bug, program, before, values, main=not changed))
            changed = changed or bool(found and found[-1].bug is bug)

    def likelihood(slip: Slip) -> tuple[bool, bool, bool]:  # a slip in one cell is likelier
        return not slip.main, not slip.by_people, slip.before is slip.table

    return sorted(found, key=likelihood)


def _by_hand(bug: Bug, right: Program, kind: str) -> Iterator[Program]:
    """Yield the form of a mistake that only people make: adding up the scores themselves."""
    if bug.name == "sum for max" and kind == VITERBI:
        yield replace(right, reduce=lambda scores, axis: scores.sum(axis))


def one_step(program: Program, kind: str, before: Array) -> Array:
    """Return (T, K) each cell that a program computes from the neighbouring cells in `before`."""
    e, steps = program.emissions, program.steps
    with np.errstate(all="ignore"):
        if kind == BETA:
            rows = [
                program.reduce(steps[t] + e[t + 1] + before[t + 1], 1) for t in range(len(steps))
            ]
            return np.stack([*rows, program.end])
        rows = [program.reduce(before[t][:, None] + steps[t], 0) for t in range(len(steps))]
        return np.stack([program.start, *rows]) + e


def factor(score: float) -> float:
    """Return exp(score), the factor of a path's product; inf if it is too large."""
    return math.exp(score) if score < LARGEST_LOG else math.inf


def fits(value: float, number: float) -> bool:
    """Return whether an answer is this value, in nats or as a factor, rounded to two places."""
    return min(abs(value - number), abs(factor(value) - number)) <= ROUNDED


def slip_of(slips: Sequence[Slip], cell: Cell, number: float) -> Slip | None:
    """Return the likeliest mistake that gives a number in a cell."""
    finite = (slip for slip in slips if math.isfinite(slip.table[cell]))
    return next((slip for slip in finite if fits(float(slip.table[cell]), number)), None)


def grade_value(
    program: Program, kind: str, cell: Cell, answer: object, slips: Sequence[Slip]
) -> Verdict:
    """Grade the value of a cell."""
    number = as_number(answer)
    table = program.printed(kind)
    if number is None:
        return Verdict(False, "", "A number is expected here, such as 3.5 or 7/2.")
    if fits(float(table[cell]), number):
        return Verdict(True, "", worked_out(program, kind, cell, table))
    slip = slip_of(slips, cell, number)
    if slip is None:
        return Verdict(False, "", f"No known mistake gives {_text(number)}.")
    done = worked_out(slip.program, kind, cell, slip.before)
    given = _written(kind, float(slip.table[cell]))
    shown = done if done.endswith(f" {given}") else f"It gives {given}."
    return Verdict(False, slip.bug.name, f"{slip.bug.explanation} {shown}")


def worked_out(program: Program, kind: str, cell: Cell, before: Array) -> str:
    """Return the arithmetic of one cell, computed from the cells in `before`.

    It is empty if the program adds words to the chain.
    """
    if program.emissions.shape != before.shape:
        return ""
    t, k = cell
    times = " + " if kind == VITERBI else " × "

    def joined(scores: Array) -> str:
        return _joined(times, (_written(kind, float(score)) for score in scores))

    value = _written(kind, float(one_step(program, kind, before)[cell]))
    if kind == BETA:
        if t == len(before) - 1:
            return f"END alone = {value}"
        own = ""
        parts = np.stack([program.steps[t][k], program.emissions[t + 1], before[t + 1]])
    else:
        own = joined(program.emissions[t, [k]])
        if t == 0:
            return f"{_joined(times, [joined(program.start[[k]]), own])} = {value}"
        parts = np.stack([before[t - 1], program.steps[t - 1][:, k]])
    terms = [joined(column) for column in parts.T]
    if program.reduce is maximum or kind == VITERBI:
        name = "max" if program.reduce is maximum else "log Σ exp"
        inside = f"{name}({', '.join(terms)})"
    else:
        inside = f"({' + '.join(terms)})" if own else " + ".join(terms)
    whole = _joined(times, [inside, own]) if own else inside
    return f"{whole} = {value}"


def sum_of_column(program: Program, kind: str, table: Array) -> str:
    """Return the arithmetic of Z, from α and END at the last word, or β and START at the first."""
    first = [program.start, program.emissions[0], table[0]]
    parts = np.stack(first if kind == BETA else [table[-1], program.end])
    terms = (_joined(" × ", (_written(kind, float(x)) for x in column)) for column in parts.T)
    total = float(np.logaddexp.reduce(parts.sum(0)))
    return f"Z = {' + '.join(terms)} = {_written(kind, total)}"


def grade_cells(way: int, step: Cell, answer: object, size: Cell) -> Verdict:
    """Grade the cells that the cell of a step is computed from; none at the edge of the sweep."""
    chosen, source = _cells_of(answer, size), step[0] + way
    T, K = size
    right = {(source, k) for k in range(K)} if 0 <= source < T else set()
    where = "after" if way > 0 else "before"
    alone = "END alone" if way > 0 else "START and the emission alone"
    if chosen is None:
        return Verdict(False, "", "Cells of the lattice are expected here.")
    if set(chosen) == right:
        return Verdict(True, "", f"All {K} cells of the word {where}." if right else f"{alone}.")
    steps = {(t - step[0]) * way for t, _ in chosen}
    if not chosen or (right and steps == {1}):
        return Verdict(False, "cells missing", "More than these: every way into the cell counts.")
    if min(steps) < 0:
        return Verdict(False, "other direction", "The sweep has not come there yet.")
    if min(steps) == 0:
        return Verdict(False, "own column", "Cells of the same word do not depend on each other.")
    return Verdict(False, "cells too far", "Only the neighbouring word counts: it holds the rest.")


def grade_write(way: int, step: Cell, answer: object, size: Cell) -> Verdict:
    """Grade the cell that can be computed now: the last empty one of its column."""
    chosen = _cells_of(answer, size)
    if chosen is None or len(chosen) != 1:
        return Verdict(False, "", "One cell of the lattice is expected here.")
    if chosen == [step]:
        return Verdict(True, "", "All that it is computed from is there.")
    if (chosen[0][0] - step[0]) * way < 0:
        return Verdict(False, "too early", "A cell that it is computed from is still empty.")
    return Verdict(False, "already computed", "This cell has its number already.")


def _cells_of(answer: object, size: Cell) -> list[Cell] | None:
    """Return the cells of an answer; None if it names none, or others than those of the lattice."""
    cells = as_cells(answer)
    T, K = size
    return cells if cells is not None and all(0 <= t < T and 0 <= k < K for t, k in cells) else None


def grade_tag(program: Program, cell: Cell | None, answer: object, names: Sequence[str]) -> Verdict:
    """Grade the tag before a cell on the best path to it; without a cell, the last tag."""
    tag = as_tag(answer, names)
    if tag is None:
        return Verdict(False, "", f"One of {', '.join(names)} is expected here.")
    table = program.printed(VITERBI)
    parts = np.stack(_arriving(program, table, cell))  # (2, K)
    texts = [f"{names[j]} {_sum(parts[:, j])}" for j in range(len(names))]
    if tag == parts.sum(0).argmax():
        return Verdict(True, "", f"The largest of {', '.join(texts)}.")
    slip = next((slip for slip in _wrong_tags(program, table, cell) if slip[0] == tag), None)
    name, what = slip[1:] if slip else ("", "Another tag comes to more.")
    return Verdict(False, name, f"{what} Here {texts[tag]}.")


def as_number(answer: object) -> float | None:
    """Return a number or the text of one, also with a comma or as a fraction; None if neither."""
    number = math.nan
    with suppress(Exception):  # an object may raise anything
        if isinstance(answer, str):
            plain = answer.strip()[:LONGEST].replace("−", "-").replace(",", ".").replace("½", ".5")
            number = float(Fraction(plain)) if _NUMBER.fullmatch(plain) else math.nan
        elif not isinstance(answer, bool | bytes | bytearray | memoryview):
            number = float(answer)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None


def as_cells(answer: object) -> list[Cell] | None:
    """Return the cells of a list or text, "0,1 0,2" or "none"; None if it names no cells."""
    with suppress(Exception):  # an object may raise anything
        if isinstance(answer, str):
            parts = [] if answer.strip() == NOTHING else answer[:LONGEST].split() or [""]
            found = [_CELL.fullmatch(part) for part in parts]
            return None if None in found else [(int(one[1]), int(one[2])) for one in found if one]
        given = [] if isinstance(answer, Mapping) else [*islice(answer, LONGEST)]  # type: ignore[call-overload]
        if not given and not isinstance(answer, list | tuple | AbstractSet):
            return None  # an empty answer counts only as a list of no cells
        whole = len(given) == 2 and not any(np.ndim(part) for part in given)
        return [(_whole(t), _whole(k)) for t, k in ([given] if whole else given)]
    return None


def as_tag(answer: object, names: Sequence[str]) -> int | None:
    """Return the id of a tag that is given by id or name; None if there is no such tag."""
    with suppress(Exception):  # an object may raise anything
        text = answer.strip() if isinstance(answer, str) else answer
        return tag_id(int(text) if isinstance(text, str) and text not in names else text, names)
    return None


def _whole(value: object) -> int:
    number = whole_number(value)
    if number is None:
        raise ValueError
    return number


def _arriving(program: Program, table: Array, cell: Cell | None) -> tuple[Array, Array]:
    """Return (K,) the scores before a cell, or at the last word, and of the steps from there."""
    if cell is None:
        return table[len(program.emissions) - 1], program.end
    t, k = cell
    return table[t - 1], program.steps[t - 1][:, k]


def _wrong_tags(right: Program, table: Array, cell: Cell | None) -> Iterator[tuple[int, str, str]]:
    """Yield tags that known mistakes choose before a cell, with name and description."""
    scores, steps = _arriving(right, table, cell)
    if cell is None:
        yield int(scores.argmax()), "end score forgotten", "END counts as well."
        yield int(steps.argmax()), "transition alone", "END does not decide alone."
        yield int(right.emissions[-1].argmax()), "independent", "The word does not decide alone."
        return
    t, k = cell
    yield int(scores.argmax()), "transitions forgotten", "The step from there counts as well."
    yield int(steps.argmax()), "transition alone", "Where the step comes from counts as well."
    other = table[t - 1] + right.steps[t - 1][k]
    yield int(other.argmax()), "transposed matrix", "The step is read in the other direction."
    for bug in known_bugs(BACKPOINTERS):
        for program in bug.mutants(right):
            if program.emissions.shape == table.shape and bug.name not in MACHINES:
                yield int(program.choices()[t, k].argmax()), bug.name, bug.explanation
    yield int(right.emissions[t - 1].argmax()), "independent", "That word does not decide alone."


def _sum(parts: Array) -> str:
    return f"{_joined(' + ', (_text(float(x)) for x in parts))} = {_text(float(parts.sum()))}"


def _joined(sign: str, terms: Iterable[str]) -> str:
    return sign.join(terms).replace("+ −", "− ")


def _written(kind: str, score: float) -> str:
    """Write a score, or its factor exp(score) for sums."""
    return _text(score if kind == VITERBI else factor(score))


def _text(value: float) -> str:
    return f"{round(value, 2):g}".replace("-", "−")
