"""A board of arrays that records what a student's program writes, and a safe way to run it.

The arrays are NumPy arrays: indexing, views, `out=` and in-place operators work, also on views.
Each assignment is one step of the journal. Other writes (`np.copyto`, `fill`) are detected by
comparison at the next step.

Letters: `T` tokens, `K` tags.
"""

import dis
import linecache
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from crfviz.chain.homework.programs import ALPHA, BACKPOINTERS, BETA, VITERBI
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import Ids

ARRAYS = {ALPHA: "alpha", BETA: "beta", VITERBI: "best", BACKPOINTERS: "backpointers"}  # of a board
MAX_LINES = 1_000_000  # lines of Python that a program may execute
LIBRARIES = frozenset({"numpy", "scipy", "torch", "crfviz"})  # their lines do not count
_EMPTY = {"backpointers": -1}  # initial value of a table; for others -inf, the log of 0

Program = Callable[["Board"], object]
Step = list[tuple[int, int, float]]  # position, tag and value of the cells of one assignment


class Run(NamedTuple):
    """The outcome of a program."""

    steps: list[Step]  # writes to the graded table, in order of time
    problem: str  # why the program did not finish, in a sentence; empty if it did


class OutOfBoundsError(IndexError):
    """Write to a cell outside the board."""


class Recorder(np.ndarray[Any, Any]):
    """A table of the board, or a view of part of a table; records writes."""

    _journal: "Journal | None" = None

    def __array_finalize__(self, parent: object) -> None:
        """Assign a view to the table of its parent."""
        self._journal = getattr(parent, "_journal", None)

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401 - as NumPy's
        """Read as NumPy does."""
        try:
            return super().__getitem__(key)
        except IndexError as error:
            raise self._outside(key, "reads") from error

    def __setitem__(self, key: Any, value: Any) -> None:  # noqa: ANN401 - as NumPy's
        """Write as NumPy does, and record it."""
        journal = self._journal
        if journal is not None:
            journal.catch_up()
        try:
            super().__setitem__(key, value)
        except IndexError as error:
            raise self._outside(key, "writes to") from error
        if journal is not None:
            journal.record(journal.cells_of(self, key))

    # ANN401: as NumPy calls it
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        """Compute with plain arrays; results in `out` are recorded."""
        out = options.get("out", ())
        if out:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        for target in out:
            if isinstance(target, Recorder) and target._journal is not None:
                target._journal.record(target._journal.cells_of(target, ...))
        return out[0] if len(out) == 1 else result

    def _outside(self, key: object, does: str) -> IndexError:
        name = "the table" if self._journal is None else self._journal.name
        rows = " by ".join(map(str, self.shape))
        return OutOfBoundsError(f"it {does} {name}[{_written(key)}], out of bounds of {rows} cells")


def _plain(value: object) -> object:
    return value.view(np.ndarray) if isinstance(value, Recorder) else value


def _written(key: object) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


class Journal:
    """The writes to one table."""

    def __init__(self, name: str, shape: tuple[int, int]) -> None:
        whole = name == "backpointers"
        self.name = name
        self.backward = name == "beta"  # lists the cells of an assignment from the last word
        table = np.full(shape, _EMPTY.get(name, -np.inf), dtype=np.int64 if whole else np.float64)
        self.table = table.view(Recorder)
        self.table._journal = self
        self._memory = table
        self._numbers = np.arange(table.size)
        self._known = table.copy()
        self.steps: list[Step] = []

    def cells_of(self, view: Recorder, key: Any) -> Ids:  # noqa: ANN401 - an index
        """Return the indices of the cells at `key` of a view; none if the view is a copy."""
        start = view.__array_interface__["data"][0] - self._memory.__array_interface__["data"][0]
        if not 0 <= start < max(1, self._memory.nbytes):
            return self._numbers[:0]
        numbers = as_strided(self._numbers[start // 8 :], view.shape, view.strides)
        cells: Ids = np.unique(numbers[key])
        return cells

    def record(self, cells: Ids) -> None:
        """Add a step with the current values of these cells."""
        if not len(cells):
            return
        self._known.flat[cells] = self._memory.flat[cells]
        step = [
            (*divmod(cell, self._memory.shape[1]), self._value(cell)) for cell in cells.tolist()
        ]
        self.steps.append(sorted(step, key=lambda cell: -cell[0] if self.backward else cell[0]))

    def catch_up(self) -> None:
        """Record changes that were not assignments."""
        bits = self._memory.view(np.int64) != self._known.view(np.int64)
        if bits.any():
            self.record(np.flatnonzero(bits))

    def _value(self, cell: int) -> float:
        return float(self._memory.flat[cell])


class Board:
    """The input of a student's program: the scores of a chain, and empty tables to fill.

    The scores are `emissions` (T, K), `transitions` (K, K) or one matrix for each step, `start` and
    `end` (K,). The tables are `alpha`, `beta` and `best`, (T, K) in nats, filled with -inf, and
    `backpointers` (T, K) whole numbers, filled with -1.
    """

    alpha: Recorder
    beta: Recorder
    best: Recorder
    backpointers: Recorder

    def __init__(self, potentials: Potentials) -> None:
        self.potentials = potentials
        copies = [table.copy() for table in potentials.scores()]
        self.emissions, self.transitions, self.start, self.end = copies
        self.num_tokens, self.num_tags = potentials.num_tokens, potentials.num_tags
        shape = (self.num_tokens, self.num_tags)
        self._journals = {name: Journal(name, shape) for name in ARRAYS.values()}
        vars(self).update({name: journal.table for name, journal in self._journals.items()})

    def __setattr__(self, name: str, value: object) -> None:
        """Copy all cells if a whole table is assigned."""
        if name not in ARRAYS.values():
            super().__setattr__(name, value)
        elif value is not vars(self)[name]:  # `board.alpha += 1` assigns the table itself
            vars(self)[name][...] = value

    def journal(self, kind: str) -> Journal:
        """Return the writes to the table of one of `programs.KINDS`."""
        return self._journals[ARRAYS[kind]]


def run(program: Program, potentials: Potentials, kind: str, max_lines: int = MAX_LINES) -> Run:
    """Run a program on an empty board; exceptions of the program end up in the result.

    The run stops after `max_lines` lines of Python. A single call into a library has no limit.
    """
    board = Board(potentials)
    problem = _executed(program, board, max_lines)
    journal = board.journal(kind)
    journal.catch_up()
    return Run(journal.steps, problem)


class _TooLongError(BaseException):
    """Line limit exceeded; no Exception, so that handlers in the program do not catch it."""


def _executed(program: Program, board: Board, max_lines: int) -> str:
    left = max_lines

    def count(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - a trace function
        nonlocal left
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in LIBRARIES:
            return None
        if event == "call":
            frame.f_trace_opcodes = _jumps_to_itself(frame.f_code)
        left -= event in ("line", "opcode")
        if left < 0:
            raise _TooLongError
        return count

    before = sys.gettrace()
    try:
        with np.errstate(all="ignore"):
            sys.settrace(count)
            program(board)
    except _TooLongError:
        return f"The program was stopped after {max_lines:,} lines: a loop may have no end."
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a student's program raises
        sys.settrace(before)
        return _in_words(error)
    finally:
        sys.settrace(before)
    return ""


@cache
def _jumps_to_itself(code: CodeType) -> bool:
    """Return whether code has a one-instruction loop, as `while True: pass`: no line events."""
    return any(
        "JUMP" in step.opname and step.argval == step.offset for step in dis.get_instructions(code)
    )


def _in_words(error: BaseException) -> str:
    """Describe the exception that the program raised, and its line."""
    text = " ".join(str(error).split())
    where = _line_of(error.__traceback__)
    if isinstance(error, OutOfBoundsError):
        return f"The program stopped{where}: {text}."
    return f"The program raised {type(error).__name__}{where}: {text or 'no message'}."


def _line_of(traceback: TracebackType | None) -> str:
    """Return the innermost line of a traceback outside libraries."""
    place = ""
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in LIBRARIES:
            source = ""
            with suppress(OSError):
                source = linecache.getline(frame.f_code.co_filename, traceback.tb_lineno).strip()
            place = f" in line {traceback.tb_lineno}" + (f" ({source})" if source else "")
        traceback = traceback.tb_next
    return place
