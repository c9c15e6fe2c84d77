"""Somebody's table of α, β, Viterbi scores or backpointers, held against the right one.

The table may be in log or probability space, with or without the emission at t, either way round,
and rounded. Where it is wrong, the first wrong cell in the order of the computation is where the
mistake was made: every input of that cell is still right. The mistake is named if a program with
one known bug prints exactly this table (`homework_bugs`).

Letters: `T` tokens, `K` tags, `R` rows of the table as given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.homework.bugs import CATALOGUE, MASK_IGNORED, MISPLACED, Bug, known_bugs
from crfviz.chain.homework.programs import (
    KINDS,
    Program,
    right_program,
)
from crfviz.chain.homework.readings import (
    misplaced,
    pointer_fits,
    readings,
)
from crfviz.chain.homework.rounding import rounding_of
from crfviz.chain.homework.trial import Checked, Trial, WrongCell
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import CrfvizError, ShapeError


def check_table(potentials: Potentials, kind: str, table: Any) -> WrongCell | None:  # noqa: ANN401 - whatever holds numbers
    """The first wrong cell of somebody's table, and the likely bug; None if the table is right.

    Right is what lies within the tolerance that the table's own rounding asks for, see
    `crfviz.chain.homework.rounding`. For β, the first cell is the one computed first: of the last
    word. A backpointer is right if no other tag is better than the one it names.

    Args:
        potentials: the chain.
        kind: "alpha", "beta", "viterbi" or "backpointers".
        table: (T, K) or (K, T) numbers, in log or probability space, α with or without the emission
            at t (then also T-1 rows of messages); backpointers as tag ids, with or without the row
            of the first word. More than T rows are padding of a batch.

    Raises:
        ShapeError: the table has another shape, or holds something that is no number.
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


def check(potentials: Potentials, kind: str, table: Any) -> Checked:  # noqa: ANN401 - whatever holds numbers
    """Like `check_table`, with everything that a picture of it needs."""
    if kind not in KINDS:
        raise CrfvizError(f"expected one of the kinds {', '.join(KINDS)}, got {kind!r}")
    values = _numbers(table)
    ways = readings(kind, values.shape, potentials.num_tokens, potentials.num_tags)
    right = right_program(potentials, kind)
    rounding = rounding_of(values)
    tries = [Trial(kind, right, way, rounding, way.oriented(values)) for way in ways]
    solved = next((one for one in tries if one.solved), None)
    if solved is not None:
        return solved.checked(None)
    best, bug = _diagnosed(kind, tries, right)
    return best.checked(best.first_wrong(potentials, bug))


def _diagnosed(kind: str, tries: list[Trial], right: Program) -> tuple[Trial, Bug | None]:
    """The bug that gives exactly this table, and how to read it; of several, the closest."""
    padded = [one for one in tries if one.ok.all()]  # right but for the padding
    if padded:
        return padded[0], next(bug for bug in CATALOGUE if bug.name == MASK_IGNORED)
    found = [
        (round(distance, 3), way, number)
        for number, bug in enumerate(known_bugs(kind))
        for way, distance in _explained(bug, tries, right)
    ]
    if not found:
        return max(tries, key=Trial.closeness), None
    _, way, number = min(found)
    return tries[way], known_bugs(kind)[number]


def _explained(bug: Bug, tries: list[Trial], right: Program) -> Iterator[tuple[int, float]]:
    """The readings under which a bug gives exactly this table, each with the distance."""
    if bug.name == MISPLACED:
        for way, one in enumerate(tries):
            if any(
                len(choices) and _points(one.words[rows] - added, choices).all()
                for choices, rows, added in misplaced(right)
            ):
                yield way, 0.0
        return
    for mutant in bug.mutants(right):
        for way, one in enumerate(tries):
            if one.fit(mutant).all():
                yield way, one.distance(mutant)


def _points(given: Array, choices: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`pointer_fits`, the first row being one like the others."""
    above = np.concatenate([np.zeros_like(choices[:1]), choices])
    rows = np.concatenate([np.full_like(given[:1], np.nan), given])
    return pointer_fits(rows, above)[1:]


def _numbers(table: Any) -> Array:  # noqa: ANN401 - whatever holds numbers
    """A float64 copy."""
    if isinstance(table, Tensor):
        table = table.detach().cpu().numpy()
    try:
        return np.array(table, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"the table must be numbers in rows of one length: {error}") from error
