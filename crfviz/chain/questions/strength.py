"""At which strength of the CRF does the best path change?

With the strength s, transitions, start and end count s times (`Potentials.scale_transitions`), so a
path scores E + s * C: its emissions plus s times everything else. Single scores that were edited
stay as they are at every strength and belong to E. That is a line in s, and the best
path changes where the upper envelope of these lines bends. Between two strengths with different
best paths, look where their lines cross: either no path is better there, and it is a breakpoint, or
one is, and there is one on each side of it.

Source: Eisner and Severance, "Mathematical techniques for efficient record segmentation in large
shared databases" (1976), for the subdivision.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from crfviz.chain.arguments import require_number
from crfviz.chain.decoding.viterbi import best_path_of
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Array, Potentials, Tag
from crfviz.chain.questions.tipping import Interval, Line, crossing, intervals, pieces
from crfviz.chain.recursions import TOLERANCE


def strength_intervals(
    potentials: Potentials,
    highest: float = 2.0,
    *,
    edits: Edits | None = None,
    pins: Mapping[int, Tag] | None = None,
) -> list[Interval]:
    """The intervals of the strength in which each path is best, from 0 to `highest`.

    Each begins where the one before ends: there the decode flips. Inside, the path is that of
    `viterbi` on `potentials.scale_transitions(strength)`. What is forbidden stays so at every
    strength, 0 included; scores of `edits` and `pins` hold at every strength, and the strength that
    the edits have does not matter. A few O(T K^2) recursions for each interval.

    Raises:
        CrfvizError: `highest` is no finite number, or negative; an edit or a pin names a tag that
            the chain does not have.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> for low, high, path in strength_intervals(potentials):
        ...     print(low, high, path)
        0.0 0.5 [0, 1]
        0.5 2.0 [0, 0]
    """
    edits = edits or Edits()

    def edited_at(strength: float) -> Potentials:
        edited = replace(edits, strength=strength).apply(potentials)
        return edited.pin(pins) if pins else edited

    return intervals_between(edited_at(0.0), edited_at(1.0), highest)


def intervals_between(none: Potentials, full: Potentials, highest: float = 2.0) -> list[Interval]:
    """The same from the chain at strength 0 and at 1, with edits and pins in both.

    Raises:
        CrfvizError: `highest` is no finite number, or negative.
    """
    highest = require_number("highest", highest, at_least=0.0)
    emissions, *flat = none.scores()
    steep = [_rises(before, after) for before, after in zip(flat, full.scores()[1:], strict=True)]

    def solve(strength: float) -> list[int]:
        moves = (at_none + strength * rise for at_none, rise in zip(flat, steep, strict=True))
        return best_path_of(emissions, *moves)

    def line(strength: float) -> Line:
        path = solve(strength)
        intercept = none.score(path)
        return Line(full.score(path) - intercept, intercept)

    left, right = line(0.0), line(highest)
    return intervals(pieces([left, *_between(left, right, line), right], 0.0, highest), solve)


def _rises(none: Array, full: Array) -> Array:
    """What each score gains from strength 0 to 1; what is forbidden stays so."""
    with np.errstate(invalid="ignore"):
        return np.where(none > -np.inf, full - none, 0.0)


def _between(left: Line, right: Line, best_at: Callable[[float], Line]) -> list[Line]:
    """The lines of the envelope between two of its lines."""
    between: list[Line] = []
    gaps = [(left, right)]
    while gaps:
        left, right = gaps.pop()
        if left.slope >= right.slope:  # the same line
            continue
        value = crossing(left, right)
        middle = best_at(value)
        score = left.at(value)
        if middle.at(value) > score + TOLERANCE * max(1.0, abs(score)):
            between.append(middle)
            gaps += [(left, middle), (middle, right)]
    return between
