"""The correct value of one cell, as one line of arithmetic.

Words count from 1 here, as on the screen. If there are many terms, the largest are written out and
the others counted.
"""

from collections.abc import Sequence

import numpy as np

from crfviz.chain.homework.programs import (
    ARRIVING,
    BACKPOINTERS,
    BETA,
    INCLUDED,
    MESSAGES,
    VITERBI,
    Program,
    right_program,
)
from crfviz.chain.homework.readings import NORMALISED, PROBABILITY, Layout
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import logsumexp, maximum

MAX_TERMS = 4  # maximum number of terms written out


def arithmetic(potentials: Potentials, kind: str, reading: Layout, t: int, k: int) -> str:
    """Return the arithmetic of the right value of tag k at position t, with its numbers.

    Positions count from 0; from T on they are padding.
    """
    if t >= potentials.num_tokens:
        return "After the last word the table is held still: each row repeats the one before."
    if kind == BACKPOINTERS:
        return _pointer(potentials, t, k)
    if reading.convention == MESSAGES and t == potentials.num_tokens - 1:
        return "The last word passes nothing on."
    return _Line(
        right_program(potentials, kind), potentials.tag_names, kind, reading, (t, k)
    ).text()


def arithmetic_of(
    program: Program, names: Sequence[str], kind: str, reading: Layout, cell: tuple[int, int]
) -> str:
    """Return the arithmetic of a program with a mistake, with the numbers that it uses.

    It is empty if one line cannot show the mistake: the program reduces differently, or changes the
    finished table.
    """
    if program.reduce not in (logsumexp, maximum) or len(program.emissions) <= cell[0]:
        return ""
    line = _Line(program, names, kind, reading, cell)
    return line.text() if line.adds_up() else ""


class _Line:
    """The arithmetic of one cell, as a sum of logarithms or a product of probabilities."""

    def __init__(
        self,
        program: Program,
        names: Sequence[str],
        kind: str,
        reading: Layout,
        cell: tuple[int, int],
    ) -> None:
        self.kind, self.reading, (self.t, self.k) = kind, reading, cell
        self.names = names
        self.products = reading.space == PROBABILITY
        self.largest = program.reduce is maximum
        self.program = program
        tables = self.program.tables(kind)
        self.table = tables[INCLUDED]
        self.arriving = tables.get(ARRIVING, self.table)
        self.row = tables[reading.convention][self.t : self.t + 1]  # (1, K)
        self.value = float(self.row[0, self.k])
        self.letter = {BETA: "β", VITERBI: "best"}.get(kind, "α")

    def text(self) -> str:
        """Write the line in logarithms, or in probabilities: exp of every score."""
        added, joined = self._parts()
        times = " · " if self.products else " + "
        terms = [self._number(value) for value, _ in added]
        words = [self._score(name) for _, name in added]
        if joined is not None:
            names, values = joined
            own = len(names) - 1 if self.kind == BETA else 0  # the cell of the table itself
            factors = [name if i == own else self._score(name) for i, name in enumerate(names)]
            total = "Σ" if self.products else "log Σ exp"
            operator = "max" if self.largest else total
            words.append(f"{operator} over j of [{times.join(factors)}]")
            terms.append(self._joined(values))
        cell = f"{self.letter}({self.t + 1}, {self.names[self.k]})"
        line = f"{cell} = {times.join(words)} = {times.join(terms)} = {self._number(self.value)}"
        if self.reading.space == NORMALISED:
            share = self.reading.shown({self.reading.convention: self.row})[0, self.k]
            return f"{line}; divided by the sum of its word: {number(share)}"
        return line

    def adds_up(self) -> bool:
        """Return whether the terms give the value in the table."""
        added, joined = self._parts()
        total = sum(value for value, _ in added)
        if joined is not None:
            with np.errstate(all="ignore"):
                total += float(self.program.reduce(joined[1].sum(0), 0))
        return bool(np.isclose(total, self.value, 1e-9, 1e-9))

    def _number(self, value: float) -> str:
        return number(np.exp(value)) if self.products else number(value)

    def _score(self, name: str) -> str:
        return f"exp {name}" if self.products else name

    def _parts(self) -> tuple[list[tuple[float, str]], tuple[list[str], Array] | None]:
        """Return the summands outside the sum over tags, and names and (n, K) terms inside it."""
        program, t, k, name = self.program, self.t, self.k, self.names[self.k]
        if self.kind == BETA:
            if t == len(self.table) - 1:
                return [(float(program.end[k]), f"end({name})")], None
            inside = np.stack([program.steps[t][k], program.emissions[t + 1], self.table[t + 1]])
            return [], ([f"w({name}, j)", f"e({t + 2}, j)", f"β({t + 2}, j)"], inside)
        own = self.reading.convention == INCLUDED
        emission = [(float(program.emissions[t, k]), f"e({t + 1}, {name})")] if own else []
        before = t if self.reading.convention == MESSAGES else t - 1
        if before < 0:
            return [(float(program.start[k]), f"start({name})"), *emission], None
        step, move = program.steps[before][:, k], f"w(j, {name})"
        if own:
            inside = np.stack([self.table[before], step])
            return emission, ([f"{self.letter}({before + 1}, j)", move], inside)
        inside = np.stack([self.arriving[before], program.emissions[before], step])
        row = before if self.reading.convention == MESSAGES else before + 1
        arriving = f"α({row}, j)" if before else "start(j)"
        return [], ([arriving, f"e({before + 1}, j)", move], inside)

    def _joined(self, values: Array) -> str:
        """Return the sum or maximum over tags, its largest terms written out."""
        totals = values.sum(0)
        order = np.argsort(-totals, kind="stable")
        shown = order[:MAX_TERMS]
        rest = len(order) - len(shown)
        if self.products:
            terms = [" × ".join(number(np.exp(v)) for v in values[:, j]) for j in shown]
        else:
            terms = [number(totals[j]) for j in shown]
        named = [f"{term} [{self.names[j]}]" for term, j in zip(terms, shown, strict=True)]
        more = [f"{rest} more"] if rest else []
        if self.largest:
            return f"max({', '.join([*named, *more])})"
        if self.products:
            return f"({' + '.join([*named, *more])})"
        return f"log({' + '.join([*(f'exp {term}' for term in named), *more])})"


def _pointer(potentials: Potentials, t: int, k: int) -> str:
    names: Sequence[str] = potentials.tag_names
    if t == 0:
        return "The first word has no word before it: its backpointers are −1 or empty."
    program = right_program(potentials, BACKPOINTERS)
    table = program.tables(VITERBI)[INCLUDED]
    totals = table[t - 1] + program.steps[t - 1][:, k]
    order = np.argsort(-totals, kind="stable")
    terms = [f"{names[j]}: {number(totals[j])}" for j in order[:MAX_TERMS]]
    rest = len(order) - len(terms)
    more = [f"{rest} more below"] if rest else []
    return (
        f"pointer({t + 1}, {names[k]}) = arg max over j of [best({t}, j) + w(j, {names[k]})]: "
        f"{', '.join([*terms, *more])}"
    )


def number(value: float) -> str:
    """Format a number for display, with a true minus sign."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.3g}"
    return text.replace("-", "−")
