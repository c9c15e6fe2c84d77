"""Tables to look at: the right one, and what a program with a known bug would print."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crfviz.chain.homework.bugs import MISPLACED, known_bugs
from crfviz.chain.homework.programs import BACKPOINTERS, INCLUDED, Program, right_program
from crfviz.chain.homework.readings import pointer_fits
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import CrfvizError


def example_table(potentials: Potentials, kind: str, bug: str = "") -> Array:
    """A table of one kind, in log space, as a program would print it.

    Args:
        potentials: the chain.
        kind: of `homework_programs.KINDS`.
        bug: its name; none gives the right table.

    Returns:
        (T, K), or more rows where padding is read.

    Raises:
        CrfvizError: there is no such bug for this kind, or it changes nothing on this chain.
    """
    right = right_program(potentials, kind)
    table = _printed(right, kind)
    if not bug:
        return table
    known = next((one for one in known_bugs(kind) if one.name == bug), None)
    if known is None:
        raise CrfvizError(f"expected a bug of {kind} tables, got {bug!r}")
    wrong = (_printed(mutant, kind) for mutant in known.mutants(right))
    for found in _misplaced(table) if bug == MISPLACED else wrong:
        printed = np.where(np.isnan(found), 0.0, found)  # rows that such a program fills anyhow
        if not _right(printed, right, kind):
            return printed
    raise CrfvizError(f"“{bug}” changes nothing here: the numbers it touches are 0 or symmetric.")


def _printed(program: Program, kind: str) -> Array:
    if kind != BACKPOINTERS:
        return program.tables(kind)[INCLUDED]
    table: Array = program.choices().argmax(2).astype(float)
    table[0] = -1.0
    return table


def _misplaced(table: Array) -> Iterator[Array]:
    yield np.concatenate([table[1:], table[:1]])


def _right(table: Array, right: Program, kind: str) -> bool:
    """Whether a table is right after all; padding is, where it is held still."""
    if kind == BACKPOINTERS:
        choices = right.choices()
        return len(table) != len(choices) or bool(pointer_fits(table, choices).all())
    held = _printed(right, kind)
    rows = np.minimum(np.arange(len(table)), len(held) - 1)
    return np.array_equal(table, held[rows])
