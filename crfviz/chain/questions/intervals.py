"""Which path is best, as a function of one number.

If every path's score is a line in some number v, intercept + slope * v, then the best score is the
upper envelope of these lines: convex, made of pieces, one line on each. At a breakpoint the paths
of both sides tie, and the rule for ties decides; so it does between paths with the same line.

Source: Macherey, Och, Thayer and Uszkoreit, "Lattice-based Minimum Error Rate Training for
Statistical Machine Translation" (2008): the same envelope over the paths of a lattice.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from crfviz.chain.ties import TOLERANCE


class Interval(NamedTuple):
    """Where one path is best: from `low` to `high`, both included (there it ties)."""

    low: float  # -inf in the first of the real line
    high: float  # inf in the last; the next interval begins here
    path: list[int]  # T tag ids


@dataclass(frozen=True)
class Line:
    """The score of a path as a function of v."""

    slope: float
    intercept: float

    def at(self, value: float) -> float:
        """The score at one v."""
        return self.intercept + self.slope * value


@dataclass(frozen=True)
class Piece:
    """Where one line is the best."""

    low: float  # may be -inf
    high: float  # may be inf
    slope: float

    @property
    def inside(self) -> float:
        """A number well within."""
        if math.isinf(self.low) and math.isinf(self.high):
            return 0.0
        if math.isinf(self.low):
            return self.high - max(1.0, abs(self.high))
        if math.isinf(self.high):
            return self.low + max(1.0, abs(self.low))
        return self.low + (self.high - self.low) / 2


def pieces(lines: Iterable[Line], low: float = -math.inf, high: float = math.inf) -> list[Piece]:
    """The upper envelope of at least one line between `low` and `high`, from left to right.

    A piece too short to tell its line from the neighbours' within `ties.TOLERANCE` is left out, and
    a neighbour takes its place.
    """
    envelope = _envelope(lines)
    inner = [crossing(left, right) for left, right in pairwise(envelope)]
    clipped = [
        (max(low, begin), min(high, stop), line)
        for begin, stop, line in zip([-math.inf, *inner], [*inner, math.inf], envelope, strict=True)
    ]
    visible = [piece for piece in clipped if _is_visible(*piece)]
    visible = visible or [max(clipped, key=lambda piece: piece[1] - piece[0])]
    edges = [low, *(begin for begin, _, _ in visible[1:]), high]
    return [
        Piece(begin, stop, line.slope)
        for (begin, stop), (_, _, line) in zip(pairwise(edges), visible, strict=True)
    ]


def intervals(found: Iterable[Piece], solve: Callable[[float], list[int]]) -> list[Interval]:
    """Each piece with the best path at its middle; neighbours with the same path are one."""
    joined: list[Interval] = []
    for piece in found:
        low, path = piece.low, solve(piece.inside)
        if joined and joined[-1].path == path:
            low = joined.pop().low
        joined.append(Interval(low, piece.high, path))
    return joined


def crossing(left: Line, right: Line) -> float:
    """The v where `right`, the steeper one, overtakes `left`."""
    return (left.intercept - right.intercept) / (right.slope - left.slope)


def _envelope(lines: Iterable[Line]) -> list[Line]:
    """The lines that are visibly the best somewhere on the real line, flattest first."""
    best: list[Line] = []
    for line in sorted(lines, key=lambda line: (line.slope, line.intercept)):
        if best and best[-1].slope == line.slope:
            best.pop()
        while len(best) > 1 and not _is_visible(
            crossing(best[-2], best[-1]), crossing(best[-1], line), best[-1]
        ):
            best.pop()
        best.append(line)
    return best


def _is_visible(low: float, high: float, line: Line) -> bool:
    """Whether a line that is the best from `low` to `high` is more than a tie in the middle."""
    if math.isinf(low) or math.isinf(high):
        return low < high
    largest = max(1.0, abs(low), abs(line.at(low)))
    return high - low > 4 * TOLERANCE * largest
