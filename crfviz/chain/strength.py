"""At which strength of the CRF does the best path change?

With the strength s, transitions, start and end count s times (`Potentials.scale_transitions`), so a
path scores E + s * C: its emissions plus s times everything else. That is a line in s, and the best
path changes where the upper envelope of these lines bends. Between two strengths with different
best paths, look where their lines cross: either no path is better there, and it is a breakpoint, or
one is, and there is one on each side of it.

Source: Eisner and Severance, "Mathematical techniques for efficient record segmentation in large
shared databases" (1976), for the subdivision.
"""

import math
from collections.abc import Callable

from crfviz.chain.arguments import require_number
from crfviz.chain.best_paths import best_path, terms
from crfviz.chain.intervals import Interval, Line, crossing, intervals, pieces
from crfviz.chain.potentials import Potentials
from crfviz.chain.ties import TOLERANCE


def strength_intervals(potentials: Potentials, highest: float = 2.0) -> list[Interval]:
    """The intervals of the strength in which each path is best, from 0 to `highest`.

    Each begins where the one before ends: there the decode flips. Inside, the path is that of
    `viterbi` on `potentials.scale_transitions(strength)`. What is forbidden stays so at every
    strength, 0 included. A few O(T K^2) recursions for each interval.

    Args:
        potentials: scores of one sentence, at strength 1.
        highest: the strength to end at.

    Raises:
        NoPathError: every path is forbidden.
        CrfvizError: `highest` is no finite number, or negative.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> for low, high, path in strength_intervals(potentials):
        ...     print(low, high, path)
        0.0 0.5 [0, 1]
        0.5 2.0 [0, 0]
    """
    highest = require_number("highest", highest, at_least=0.0)

    def solve(strength: float) -> list[int]:
        return best_path(potentials.scale_transitions(strength))

    def line(strength: float) -> Line:
        parts = terms(potentials, solve(strength))
        return Line(math.fsum(parts.transitions), math.fsum(parts.emissions))

    left, right = line(0.0), line(highest)
    return intervals(pieces([left, *_between(left, right, line), right], 0.0, highest), solve)


def _between(left: Line, right: Line, best_at: Callable[[float], Line]) -> list[Line]:
    """The lines of the envelope between two of its lines."""
    found: list[Line] = []
    gaps = [(left, right)]
    while gaps:
        left, right = gaps.pop()
        if left.slope >= right.slope:  # the same line
            continue
        value = crossing(left, right)
        middle = best_at(value)
        score = left.at(value)
        if middle.at(value) > score + TOLERANCE * max(1.0, abs(score)):
            found.append(middle)
            gaps += [(left, middle), (middle, right)]
    return found
