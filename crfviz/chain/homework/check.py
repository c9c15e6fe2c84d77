"""Check of a student's table of α, β, Viterbi scores or backpointers.

The table may be in log or probability space, with or without the emission at t, transposed, and
rounded. In a wrong table, the mistake was made at the first wrong cell in the order of computation,
because every input of that cell is still right. The mistake gets a name if a program with one known
bug prints exactly this table (`crfviz.chain.homework.bugs`).

Letters: `T` tokens, `K` tags, `R` rows of the submitted table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.homework.arithmetic import arithmetic, arithmetic_of
from crfviz.chain.homework.bugs import CATALOGUE, MASK_IGNORED, MISPLACED, Bug, known_bugs
from crfviz.chain.homework.columns import assign_columns, in_order, pointer_columns, pointer_order
from crfviz.chain.homework.partial import with_all_words
from crfviz.chain.homework.programs import (
    BACKPOINTERS,
    BETA,
    KINDS,
    Program,
    right_program,
)
from crfviz.chain.homework.readings import (
    LOG,
    Layout,
    Rounding,
    coarsest,
    fits,
    misplaced,
    names_a_best,
    pointer_fits,
    readings,
    rounding_of,
    tolerance,
)
from crfviz.chain.potentials import Array, ArrayLike, Potentials
from crfviz.chain.validation import as_numbers
from crfviz.exceptions import CrfvizError

MAX_UNKNOWN = 0.5  # maximum share of cells that a bug may leave undetermined


@dataclass(frozen=True)
class WrongCell:
    """The first wrong cell of a table, in the order in which the table is computed."""

    position: int  # from 0
    tag: int  # id
    tag_name: str
    found: float  # the value in the table; NaN for an empty cell
    expected: float  # in the space and convention of the table; a tag id for backpointers
    arithmetic: str  # of `expected`; words count from 1 there
    bug: str | None  # the likely mistake; None if no known one gives this table
    explanation: str  # of the bug; empty without one
    wrong_cells: int  # total number
    yours: str = ""  # arithmetic of `found` in a program with that bug; empty if unknown


@dataclass(frozen=True, eq=False)
class Checked:
    """The reading of a table, and its wrong cells."""

    reading: Layout
    rounding: Rounding
    given: Array  # (R, K) the submitted table, with a row per word
    expected: Array  # (T, K) the right table in the same space and convention
    right: NDArray[np.bool_]  # (T, K) whether each cell is right
    first_wrong: WrongCell | None  # None if the table is right
    order: tuple[int, ...] = ()  # K tag ids of the columns of `given`, if this order makes it right
    renamed: bool = False  # whether backpointers in the cells use that order, too
    num_empty: int = 0  # cells that are not filled in yet, which no verdict is about

    @property
    def out_of_order(self) -> bool:
        return self.order != tuple(range(len(self.order)))

    @property
    def ordered(self) -> Array:
        """(T, K) the table with its tags in the order of the model."""
        return in_order(self.given, self.order, renamed=self.renamed)


def check_table(potentials: Potentials, kind: str, table: ArrayLike) -> WrongCell | None:
    """Find the first wrong cell of a table, and the likely bug; None if the table is right.

    A cell is right if it is within the tolerance implied by the table's rounding, see
    `crfviz.chain.homework.readings`. For β, the first cell is the one computed first, at the last
    word. A backpointer is right if no other tag is better than its own.

    Args:
        potentials: the chain.
        kind: "alpha", "beta", "viterbi" or "backpointers".
        table: (T, K) or (K, T) numbers, in log or probability space, α with or without the emission
            at t (then also T-1 rows of messages); backpointers as tag ids, with or without the row
            of the first word. Rows beyond T are padding of a batch.

    Raises:
        ShapeError: the table has another shape, or contains something that is no number.
        CrfvizError: there is no such kind.

    Example:
        >>> chain = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> wrong = check_table(chain, "viterbi", [[1.0, 0.0], [1.0, 0.0]])
        >>> wrong.position, wrong.tag, wrong.found, wrong.expected
        (1, 1, 0.0, 0.5)
        >>> wrong.bug
        'emission left out'
    """
    return check(potentials, kind, table).first_wrong


def check(
    potentials: Potentials, kind: str, table: ArrayLike, units: Array | None = None
) -> Checked:
    """Check a table as `check_table` does; return all details for a picture.

    Args:
        potentials: as for `check_table`.
        kind: as for `check_table`.
        table: as for `check_table`; with `units` it may have fewer rows.
        units: of the last digit that each cell has, as it was pasted: 0 if unknown, NaN for cells
            that are not filled in yet.
    """
    if kind not in KINDS:
        raise CrfvizError(f"expected one of the kinds {', '.join(KINDS)}, got {kind!r}")
    values = as_numbers("the table", table).detach().numpy()
    if units is not None:
        values, units = with_all_words(potentials, kind, values, units)
    ways = readings(kind, values.shape, potentials.num_tokens, potentials.num_tags)
    return diagnose(potentials, kind, values, ways, units=units)


def diagnose(
    potentials: Potentials,
    kind: str,
    values: Array,
    ways: Sequence[Layout],
    written: Array | None = None,
    units: Array | None = None,
) -> Checked:
    """Check a table under several readings.

    If the step at which each cell was `written`, (T, K), is known, the first wrong cell is the one
    written first; otherwise it is the first in the order of computation. For `units` see `check`.
    """
    right = right_program(potentials, kind)
    rounding = rounding_of(values)
    tries = [
        Trial(
            kind,
            right,
            way,
            rounding,
            way.oriented(values),
            None if units is None else way.oriented(units),
        )
        for way in ways
    ]
    solved = next((one for one in tries if one.solved), None)
    if solved is not None:
        return solved.checked(None)
    for one in tries:
        if order := one.order():
            return replace(one.checked(one.first_wrong(potentials, written=written)), order=order)
    best, bug = _diagnosed(kind, tries, right)
    if bug is None and kind == BACKPOINTERS:  # a small table may match both; prefer the bug
        for one in tries:
            order, renamed = one.pointer_order()
            if order:
                checked = one.checked(one.first_wrong(potentials, written=written))
                return replace(checked, order=order, renamed=renamed)
    return best.checked(best.first_wrong(potentials, bug, written))


def _diagnosed(kind: str, tries: list[Trial], right: Program) -> tuple[Trial, Bug | None]:
    """Return the bug that gives exactly this table, and the reading; the closest of several."""
    padded = [one for one in tries if one.ok.all()]  # right except for padding
    if padded:
        return padded[0], next(bug for bug in CATALOGUE if bug.name == MASK_IGNORED)
    explained = [
        (round(distance, 3), way, number)
        for number, bug in enumerate(known_bugs(kind))
        for way, distance in _explained(bug, tries, right)
    ]
    if not explained:
        return max(tries, key=Trial.closeness), None
    _, way, number = min(explained)
    return tries[way], known_bugs(kind)[number]


def _explained(bug: Bug, tries: list[Trial], right: Program) -> Iterator[tuple[int, float]]:
    """Yield the readings under which a bug gives exactly this table, each with the distance."""
    if bug.name == MISPLACED:
        for way, one in enumerate(tries):
            if any(
                len(choices) and names_a_best(one.words[rows] - added, choices).all()
                for choices, rows, added in misplaced(right)
            ):
                yield way, 0.0
        return
    for mutant in bug.mutants(right):
        for way, one in enumerate(tries):
            if one.explained_by(mutant):
                yield way, one.distance(mutant)


class Trial:
    """Comparison of the table with the right one under one reading."""

    def __init__(
        self,
        kind: str,
        right: Program,
        reading: Layout,
        rounding: Rounding,
        given: Array,
        units: Array | None = None,
    ) -> None:
        self.kind, self.reading, self.rounding = kind, reading, rounding
        self.num_tokens = len(right.emissions)
        missing = self.num_tokens - len(given)  # some tables omit a row
        if missing > 0:
            empty = np.full((missing, given.shape[1]), np.nan)
            given = np.concatenate([empty, given] if reading.first else [given, empty])
            if units is not None:
                units = np.concatenate([empty * 0, units] if reading.first else [units, empty])
        self.given = given
        units = np.zeros_like(given) if units is None else units
        self.empty = np.isnan(units) & np.isnan(given)
        self.units = np.where(np.isnan(units), 0.0, units)
        self.words = given[: self.num_tokens]
        self.choices = right.choices() if kind == BACKPOINTERS else None
        if self.choices is None:
            self.expected = reading.shown(right.tables(kind))
        else:
            self.expected = right.printed(kind)
        self.ok = self.fit(right)
        first = int(self.choices is not None)  # the first word has no backpointers
        self.num_empty = int(self.empty[first : self.num_tokens].sum())

    @property
    def solved(self) -> bool:
        """Return whether the table is right in this reading; a first row of zeros is accepted."""
        ok = self.ok
        if self.choices is not None and not self.given[0].any():
            ok = ok[1:]
        return bool(ok.all()) and not self.padding_wrong

    @property
    def padding_wrong(self) -> bool:
        """Return whether rows after the last word neither repeat its row nor are empty."""
        padding = self.given[self.num_tokens :]
        if not len(padding) or self.choices is not None or self._held_still(padding).all():
            return False
        return not (np.isnan(padding).all() or not padding.any())

    def _held_still(self, padding: Array) -> NDArray[np.bool_]:
        """Return (R - T, K) which cells after the last word repeat the row of the last word."""
        held = np.broadcast_to(self.expected[-1], padding.shape)
        return fits(padding, held, self._tolerance(held, self.units[self.num_tokens :]))

    def _printed(self, program: Program) -> tuple[Array, Array]:
        """Return a program's table in this reading, and the rows to compare it with."""
        table = self.reading.shown(program.tables(self.kind))
        return table, self.given if len(table) == len(self.given) else self.words

    def fit(self, program: Program) -> NDArray[np.bool_]:
        """Return (T, K) whether a program prints each cell; (R, K) if it prints all R rows."""
        if self.choices is not None:
            choices = program.choices()
            if len(choices) != self.num_tokens:  # padding shows in the other tables
                return np.zeros_like(self.words, dtype=bool)
            return pointer_fits(self.words, choices) | self.empty[: self.num_tokens]
        table, given = self._printed(program)
        unknown = np.count_nonzero(np.isnan(table))
        if len(table) != len(given) or unknown > MAX_UNKNOWN * table.size:
            return np.zeros_like(given, dtype=bool)
        near = fits(given, table, self._tolerance(table, self.units[: len(given)]))
        return near | self.empty[: len(given)]

    def explained_by(self, program: Program) -> bool:
        """Return whether a program prints this table; a few cells rule out most programs."""
        if self.choices is None:
            table, given = self._printed(program)
            if len(table) != len(given):
                return False
            with np.errstate(all="ignore"):
                limit = coarsest(self.rounding, table, float(self.units.max(initial=0.0)))
                if (np.abs(given - table) > limit).any():
                    return False
        return bool(self.fit(program).all())

    def distance(self, program: Program) -> float:
        """Return the distance of a program's table from the submitted one, in tolerances."""
        if self.choices is not None:
            return 0.0
        table, given = self._printed(program)
        known = np.isfinite(table) & np.isfinite(given)
        gaps = np.abs(np.where(known, given - np.where(known, table, 0.0), 0.0))
        allowed = self._tolerance(table, self.units[: len(table)])
        return float((gaps / allowed)[known].mean()) if known.any() else 0.0

    def _tolerance(self, table: Array, own: Array) -> Array:
        steps = np.arange(len(table))[:: -1 if self.kind == BETA else 1]
        products = self.reading.space != LOG
        return tolerance(self.rounding, table, steps, products=products, own=own)

    def order(self) -> tuple[int, ...]:
        """Return the K tag ids of the columns if another order of tags makes them right, else ().

        Cells of backpointers are tag ids, too: see `pointer_order`.
        """
        if self.choices is not None or len(self.given) != self.num_tokens:
            return ()
        columns = []
        for column, own, empty in zip(self.given.T, self.units.T, self.empty.T, strict=True):
            allowed = self._tolerance(self.expected, own[:, None])
            whole = np.broadcast_to(column[:, None], self.expected.shape)
            near = fits(whole, self.expected, allowed) | empty[:, None]
            columns.append(np.flatnonzero(near.all(axis=0)).tolist())
        return assign_columns(columns)

    def pointer_order(self) -> tuple[tuple[int, ...], bool]:
        """Return the same for backpointers, and whether the cells use that order, too."""
        assert self.choices is not None
        given, choices = self.words[1:], self.choices[1:]
        if order := pointer_order(given, choices):
            return order, True
        return pointer_columns(given, choices), False

    def closeness(self) -> tuple[int, float]:
        """Rate a reading of a table that no bug explains: more is likelier."""
        with np.errstate(all="ignore"):
            gaps = np.abs(self.words - self.expected)
            if self.reading.space != LOG:
                gaps = np.abs(np.log(self.words) - np.log(self.expected))
        gaps = np.where(self.words == self.expected, 0.0, gaps)
        known = gaps[~np.isnan(gaps)]
        return int(self.ok.sum()), -float(np.median(known)) if known.size else -np.inf

    def first_wrong(
        self, potentials: Potentials, bug: Bug | None = None, written: Array | None = None
    ) -> WrongCell:
        """Return the first wrong cell, in the order of `written` if known, else of computation."""
        wrong = ~self.ok
        if bug is None or bug.name != MISPLACED:
            wrong[0] &= self.choices is None or bool(self.given[0].any())
        order = range(self.num_tokens)[::-1] if self.kind == BETA else range(self.num_tokens)
        cells = [(t, int(k)) for t in order for k in np.flatnonzero(wrong[t])]
        if not cells:  # only padding is wrong
            padding = np.argwhere(~self._held_still(self.given[self.num_tokens :])).tolist()
            cells = [(self.num_tokens + row, tag) for row, tag in padding]
        elif written is not None:
            cells.sort(key=lambda cell: float(written[cell]))
        t, k = cells[0]
        inside = min(t, self.num_tokens - 1)
        expected = float(self.expected[inside, k])
        return WrongCell(
            position=t,
            tag=k,
            tag_name=potentials.tag_names[k],
            found=float(self.given[t, k]),
            expected=expected,
            arithmetic=arithmetic(potentials, self.kind, self.reading, t, k),
            bug=bug.name if bug else None,
            explanation=bug.explanation if bug else "",
            wrong_cells=int(wrong.sum()),
            yours=self._arithmetic_of(bug, potentials, t, k),
        )

    def _arithmetic_of(self, bug: Bug | None, potentials: Potentials, t: int, k: int) -> str:
        """Return the arithmetic of the program with this bug; empty if it is unknown."""
        if bug is None or self.choices is not None or t >= self.num_tokens:
            return ""
        mutants = bug.mutants(right_program(potentials, self.kind))
        buggy = next(filter(self.explained_by, mutants), None)
        if buggy is None:
            return ""
        return arithmetic_of(buggy, potentials.tag_names, self.kind, self.reading, (t, k))

    def checked(self, first_wrong: WrongCell | None) -> Checked:
        return Checked(
            self.reading,
            self.rounding,
            self.given,
            self.expected,
            self.ok,
            first_wrong,
            num_empty=self.num_empty,
        )
