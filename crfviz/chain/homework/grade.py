"""Grading of a program that fills a table on a board, and the trace of its writes.

Only the last value written to a cell counts, so filling a table with -inf first, or adding up in
place, is no mistake. Of the cells that end up wrong, the report is on the one that got its final
value first: every write before it is right. The readings of tables and the known bugs are those of
`crfviz.chain.homework.check`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.chain.array_arguments import chain_of
from crfviz.chain.homework.arithmetic import number
from crfviz.chain.homework.board import ARRAYS, MAX_LINES, Program, Run, Step, run
from crfviz.chain.homework.check import Checked, diagnose
from crfviz.chain.homework.programs import BACKPOINTERS, KINDS
from crfviz.chain.homework.readings import readings
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.text.files import abbreviate_value

FORMAT, VERSION = "crfviz trace", 1
MAX_TRACE = 20_000_000  # maximum size of a trace file, bytes
_SCORES = ("emissions", "transitions", "start", "end")


@dataclass(frozen=True)
class Grade:
    """Verdict on a program, with the first wrong write if there is one."""

    correct: bool
    message: str  # the whole verdict, in sentences
    step: int | None = None  # of the write, from 0; None if the cell was never written
    position: int | None = None  # of the word, from 0; None if the program is right or failed
    tag: int | None = None  # id
    tag_name: str = ""
    expected: float = math.nan  # in the space and convention of the table; a tag id for pointers
    got: float = math.nan  # the value written
    arithmetic: str = ""  # of both values, one line each; words count from 1 there
    bug: str | None = None  # the likely mistake; None if no known one gives this table
    explanation: str = ""  # of the bug


@dataclass(frozen=True, eq=False, repr=False)
class Trace(NotebookRepr):
    """The writes of a program, step by step, and its grade; `crfviz.show` plays it."""

    potentials: Potentials
    table: str  # "alpha", "beta", "viterbi" or "backpointers"
    steps: Sequence[Step]  # position, tag and value of the cells of each assignment
    problem: str  # why the program did not finish; empty if it did
    grade: Grade

    def to_json(self) -> str:
        """Return the trace as text that `Trace.from_json` and the page Homework read."""
        potentials = self.potentials
        scores = {
            name: _listed(table) for name, table in zip(_SCORES, potentials.scores(), strict=True)
        }
        names = {"tags": potentials.tag_names, "words": potentials.tokens}
        steps = [[[t, k, _number(value)] for t, k, value in step] for step in self.steps]
        content = {"format": FORMAT, "version": VERSION, "table": self.table, **names, **scores}
        return json.dumps({**content, "problem": self.problem, "steps": steps}, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the file that the page Homework plays."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> "Trace":
        """Read a trace and grade it again.

        Raises:
            FormatError: the text is no trace; the message names the wrong field.
        """
        if len(text) > MAX_TRACE:
            raise FormatError(f"a trace has at most {MAX_TRACE:,} characters, got {len(text):,}")
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"expected a trace as JSON: {error}") from error
        return _read(content)


def grade(
    program: Program, potentials: Potentials, table: str, *, max_lines: int = MAX_LINES
) -> Grade:
    """Run a program that fills a table, and find its first wrong write.

    Args:
        program: a function of one argument, the board: see `crfviz.chain.homework.board.Board`.
            It runs in this process, with all its rights.
        potentials: the chain.
        table: "alpha", "beta", "viterbi" or "backpointers"; the program fills `board.alpha`,
            `board.beta`, `board.best` or `board.backpointers`, in any order.
        max_lines: maximum number of lines of Python that it may execute.

    Raises:
        CrfvizError: there is no such table, or the program is no function.

    Example:
        >>> chain = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> def forgetful(board):
        ...     board.best[0] = board.emissions[0]
        ...     for k in range(2):
        ...         board.best[1, k] = max(board.best[0] + board.transitions[:, k])
        >>> found = grade(forgetful, chain, "viterbi")
        >>> found.correct, found.position, found.tag, found.got, found.expected
        (False, 1, 1, 0.0, 0.5)
        >>> found.bug
        'emission left out'
    """
    return trace(program, potentials, table, max_lines=max_lines).grade


def trace(
    program: Program, potentials: Potentials, table: str, *, max_lines: int = MAX_LINES
) -> Trace:
    """Grade a program, and record its writes: `show` plays them, `save` stores them in a file."""
    if table not in KINDS:
        raise CrfvizError(f"expected one of the tables {', '.join(KINDS)}, got {table!r}")
    if not callable(program):
        raise CrfvizError(
            f"expected a function of one argument, the board, got {abbreviate_value(program)}"
        )
    potentials = chain_of(potentials)
    lines = require_count("max_lines", max_lines)
    return traced(potentials, table, run(program, potentials, table, lines))


def traced(potentials: Potentials, table: str, result: Run) -> Trace:
    """Return the trace of a run, with its grade."""
    return Trace(
        potentials, table, result.steps, result.problem, _graded(potentials, table, result)
    )


def table_after(potentials: Potentials, table: str, steps: Sequence[Step]) -> Array:
    """Return the (T, K) table after these steps."""
    values = np.full((potentials.num_tokens, potentials.num_tags), _empty(table))
    for step in steps:
        for t, k, value in step:
            values[t, k] = value
    return values


def _empty(table: str) -> float:
    return -1.0 if table == BACKPOINTERS else -math.inf


def _graded(potentials: Potentials, table: str, result: Run) -> Grade:
    name = f"board.{ARRAYS[table]}"
    if result.problem:
        return Grade(correct=False, message=result.problem)
    values = table_after(potentials, table, result.steps)
    written = np.full(values.shape, math.inf)  # number of the last write to each cell
    for index, cells in enumerate(result.steps):
        for place, (t, k, _) in enumerate(cells):
            written[t, k] = index + place / len(cells)
    ways = readings(table, values.shape, *values.shape)
    checked = diagnose(potentials, table, values, [way for way in ways if not way.flipped], written)
    if checked.first_wrong is None:
        return Grade(correct=True, message=f"Right: all {values.size} cells of {name}.")
    if not result.steps:
        return Grade(correct=False, message=f"The program wrote nothing to {name}.")
    return _wrong(potentials, table, checked, written)


def _wrong(potentials: Potentials, table: str, checked: Checked, written: Array) -> Grade:
    """Return the grade of a table with a wrong cell."""
    wrong = checked.first_wrong
    assert wrong is not None
    when = written[wrong.position, wrong.tag]
    step = int(when) if math.isfinite(when) else None
    cell = f"board.{ARRAYS[table]}[{wrong.position}, {wrong.tag}]"
    word = "" if potentials.tokens is None else f" at “{potentials.tokens[wrong.position]}”"
    pointers = table == BACKPOINTERS
    got, expected = (
        f"{value:g}" if pointers else number(value) for value in (wrong.found, wrong.expected)
    )
    happened = (
        f"never written, it is {got}" if step is None else f"write {step + 1} sets it to {got}"
    )
    parts = [f"The first wrong cell is {cell} ({wrong.tag_name}{word}): {happened}; "]
    parts[0] += f"correct is {expected}."
    if math.isnan(wrong.found):
        parts.append("NaN comes from −∞ − (−∞), 0 · ∞, or the logarithm of a negative number.")
    explanation = wrong.explanation
    if checked.out_of_order:
        explanation = "The numbers are right for the tags in another order."
    if wrong.bug:
        parts.append(f"Likely bug: {wrong.bug}.")
    parts.append(explanation or "No known bug gives exactly this table.")
    yours = wrong.yours or got
    if not wrong.yours and not pointers:
        yours += f", {_difference(wrong.found - wrong.expected)}"
    return Grade(
        correct=False,
        message=" ".join(parts),
        step=step,
        position=wrong.position,
        tag=wrong.tag,
        tag_name=wrong.tag_name,
        expected=wrong.expected,
        got=wrong.found,
        arithmetic=f"correct: {wrong.arithmetic}\nyours: {yours}",
        bug=wrong.bug,
        explanation=explanation,
    )


def _difference(gap: float) -> str:
    if not math.isfinite(gap):
        return "which no sum of these scores gives"
    return f"{number(abs(gap))} {'more' if gap > 0 else 'less'}"


def _number(value: float) -> float | str:
    """Convert a number for JSON; non-finite numbers become text."""
    return value if math.isfinite(value) else str(value)


def _listed(table: Array) -> Any:  # noqa: ANN401 - nested lists
    if table.ndim:
        return [_listed(row) for row in table]
    return _number(float(table))


def _read(content: object) -> Trace:
    """Return the trace of a JSON value."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FormatError(f"expected a file with the format {FORMAT!r}, as `trace.save` writes it")
    if content.get("version") != VERSION:
        raise FormatError(f"field 'version' must be {VERSION}, got {content.get('version')!r}")
    table, problem = content.get("table"), content.get("problem", "")
    if table not in KINDS or not isinstance(problem, str):
        raise FormatError(f"field 'table' must be one of {', '.join(KINDS)}, got {table!r}")
    scores = {name: _numbers(name, content.get(name)) for name in _SCORES}
    if scores["transitions"] == []:  # one word, so no per-step matrices
        scores["transitions"] = np.zeros((0, np.size(scores["start"]), np.size(scores["start"])))
    words = content.get("words")
    try:
        potentials = Potentials(
            **scores,
            tags=_names("tags", content.get("tags")),
            tokens=None if words is None else _names("words", words),
        )
    except CrfvizError as error:
        raise FormatError(f"the scores of the trace: {error}") from error
    return traced(potentials, table, Run(_steps(content, potentials), problem))


def _names(field: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise FormatError(f"field {field!r} must be a list of texts, got {abbreviate_value(value)}")
    return value


def _numbers(field: str, value: object) -> Any:  # noqa: ANN401 - nested lists
    if isinstance(value, list):
        return [_numbers(field, part) for part in value]
    return _float(field, value)


def _float(field: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if value in ("-inf", "inf", "nan"):
        return float(str(value))
    raise FormatError(f"field {field!r} must hold numbers, got {abbreviate_value(value)}")


def _steps(content: Mapping[str, Any], potentials: Potentials) -> list[Step]:
    """Return the writes of a file; check that each is within the table."""
    T, K = potentials.num_tokens, potentials.num_tags
    steps = content.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, list) for step in steps):
        raise FormatError(f"field 'steps' must be a list of lists, got {abbreviate_value(steps)}")
    writes: list[Step] = []
    for number_, step in enumerate(steps, start=1):
        cells: Step = []
        for cell in step:
            match cell:
                case [int(t), int(k), value] if 0 <= t < T and 0 <= k < K:
                    cells.append((int(t), int(k), _float("steps", value)))
                case _:
                    raise FormatError(
                        f"field 'steps', step {number_}: expected position, tag and value within "
                        f"{T} × {K} cells, got {abbreviate_value(cell)}"
                    )
        if cells:
            writes.append(cells)
    return writes
