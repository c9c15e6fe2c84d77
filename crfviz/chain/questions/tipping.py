"""Values of a weight, or of the transition strength, at which the best path changes.

If every path's score is a linear function of a number v, intercept + slope * v, then the best score
is the upper envelope of these lines. It is convex and piecewise linear. At a breakpoint the paths
of both sides tie, and the rule for ties decides. It also decides between paths with the same line.

A path that uses a weight n times scores c + n * v, where v is the value of the weight. Among the
paths with the same n, only the one with the largest c, called c_n, can be the best of all. So the
best score is the upper envelope of at most T lines, one for each n:

    best(v) = max_n [c_n + n * v]

Its breakpoints are the crossings of adjacent lines of the envelope. They are exact: there is no
search over a grid.

Source: the envelope over a lattice's paths is that of Macherey, Och, Thayer and Uszkoreit,
"Lattice-based Minimum Error Rate Training for Statistical Machine Translation" (2008). That there
is one line for each n follows from the score of Lafferty, McCallum and Pereira (2001), section 3.

The strength s multiplies transitions, start and end (`Potentials.scale_transitions`). So a path
scores E + s * C: its emissions plus s times everything else. Edited scores are the same at every
strength, and belong to E. This is a line in s, and the best path changes at the breakpoints of the
envelope. To find them, take two strengths with different best paths, and compute where the lines of
these paths cross. If no path is better there, this is a breakpoint. Otherwise at least one
breakpoint is on each side of it.

Source: Eisner and Severance, "Mathematical techniques for efficient record segmentation in large
shared databases" (1976), for the subdivision.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crfviz.chain.decoding.viterbi import best_path, best_path_of, best_through
from crfviz.chain.edits import Edits, Weight, WeightId, resolve, with_weight
from crfviz.chain.potentials import Array, Potentials, Tag
from crfviz.chain.recursions import TOLERANCE, best_by_uses
from crfviz.chain.validation import require_number
from crfviz.exceptions import NoPathError


class Interval(NamedTuple):
    """The interval in which one path is best: from `low` to `high`, both included (ties)."""

    low: float  # -inf in the first interval of the real line
    high: float  # inf in the last; the next interval begins here
    path: list[int]  # T tag ids


@dataclass(frozen=True)
class Line:
    """The score of a path as a function of v."""

    slope: float
    intercept: float

    def at(self, value: float) -> float:
        return self.intercept + self.slope * value


@dataclass(frozen=True)
class Piece:
    """The interval in which one line is the best."""

    low: float  # may be -inf
    high: float  # may be inf
    slope: float

    @property
    def inside(self) -> float:
        """A number inside the interval, away from its ends."""
        if math.isinf(self.low) and math.isinf(self.high):
            return 0.0
        if math.isinf(self.low):
            return self.high - max(1.0, abs(self.high))
        if math.isinf(self.high):
            return self.low + max(1.0, abs(self.low))
        return self.low + (self.high - self.low) / 2


def tipping_points(potentials: Potentials, weight: Weight) -> list[Interval]:
    """Return the intervals of a weight's value in which each path is best, in order.

    They cover the real line: `low` is -inf in the first and `high` inf in the last, and each begins
    where the one before ends. The path of each interval uses the weight more often than that of the
    one before. Inside an interval the path is that of `viterbi`, with ties at the lowest ids; at
    its ends two paths tie. Values are absolute, not changes. The weight's current value does not
    matter and may be -inf; other forbidden scores stay forbidden. If the first path uses the
    weight, then no path is allowed at -inf itself.

    O(T^2 K^2) for a transition, O(T K^2) otherwise, and O(T K^2) more for each interval.
    `crfviz.chain.edits` defines a weight, and its value if each step has its own matrix.

    Raises:
        NoPathError: every path is forbidden, whatever the value.
        CrfvizError: the weight has none of the four forms.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> for low, high, path in tipping_points(potentials, ("transition", 0, 1)):
        ...     print(low, high, path)
        -inf -0.5 [0, 0]
        -0.5 inf [0, 1]
    """
    envelope = best_by_value(potentials, resolve(potentials, weight))
    return intervals(envelope.pieces, envelope.path_at)


@dataclass(frozen=True, eq=False)
class BestByValue:
    """The best score as a function of one weight's value; paths are computed on request."""

    pieces: list[Piece]  # in order; a slope is the number of uses of the weight
    path_at: Callable[[float], list[int]]  # the best path at a value of the weight


def best_by_value(potentials: Potentials, weight: WeightId) -> BestByValue:
    """Return the envelope behind `tipping_points`; see there."""
    base = with_weight(potentials, weight, 0.0)
    lines = [
        Line(slope=float(uses), intercept=score)
        for uses, score in enumerate(_best_by_uses(base, weight))
        if score > -math.inf
    ]
    if not lines:
        raise NoPathError(f"every path is forbidden, whatever the value of the weight {weight}")
    return BestByValue(
        pieces=pieces(lines), path_at=lambda value: best_path(with_weight(base, weight, value))
    )


def _best_by_uses(base: Potentials, weight: WeightId) -> list[float]:
    """Return the best score for 0, 1, ... uses of the weight, whose value is 0 in `base`."""
    if weight[0] == "transition":
        scores: list[float] = best_by_uses(*base.arrays(), *weight[1:]).tolist()
        return scores
    position, tag = {"start": 0, "end": -1}.get(weight[0], weight[1]), weight[-1]
    without: list[float] = best_through(base)[position].tolist()
    once = without.pop(tag)
    return [max(without, default=-math.inf), once]


def pieces(lines: Iterable[Line], low: float = -math.inf, high: float = math.inf) -> list[Piece]:
    """Return the upper envelope of at least one line between `low` and `high`, from left to right.

    A piece is left out, and a neighbour extended, if it is so short that its line is within
    `recursions.TOLERANCE` of its neighbours' lines.
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


def intervals(envelope: Iterable[Piece], solve: Callable[[float], list[int]]) -> list[Interval]:
    """Return each piece with the best path at its middle; merge neighbours with equal paths."""
    joined: list[Interval] = []
    for piece in envelope:
        low, path = piece.low, solve(piece.inside)
        if joined and joined[-1].path == path:
            low = joined.pop().low
        joined.append(Interval(low, piece.high, path))
    return joined


def crossing(left: Line, right: Line) -> float:
    """Return the v where `right`, the steeper one, overtakes `left`."""
    return (left.intercept - right.intercept) / (right.slope - left.slope)


def _envelope(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that are visibly the best somewhere on the real line, flattest first."""
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
    """Return whether a line that is best from `low` to `high` leads by more than rounding."""
    if math.isinf(low) or math.isinf(high):
        return low < high
    largest = max(1.0, abs(low), abs(line.at(low)))
    return high - low > 4 * TOLERANCE * largest


def strength_intervals(
    potentials: Potentials,
    highest: float = 2.0,
    *,
    edits: Edits | None = None,
    pins: Mapping[int, Tag] | None = None,
) -> list[Interval]:
    """Return the intervals of the strength in which each path is best, from 0 to `highest`.

    Each begins where the one before ends: there the best path changes. Inside, it is that of
    `viterbi` on `potentials.scale_transitions(strength)`. Forbidden scores stay forbidden at every
    strength, even at 0. Edited scores and pins apply at every strength. The strength stored in
    `edits` is ignored. A few O(T K^2) recursions for each interval.

    Raises:
        CrfvizError: `highest` is not a finite number, or negative; an edit or a pin names a tag
            that the chain does not have.

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
    """Return `strength_intervals`, given the chain at strengths 0 and 1, with edits and pins.

    Raises:
        CrfvizError: `highest` is not a finite number, or negative.
    """
    highest = require_number("highest", highest, at_least=0.0)
    emissions, *flat = none.scores()
    steep = [_rises(before, after) for before, after in zip(flat, full.scores()[1:], strict=True)]

    def solve(strength: float) -> list[int]:
        moves = (at_none + strength * rise for at_none, rise in zip(flat, steep, strict=True))
        return best_path_of(emissions, *moves)

    def line(path: Sequence[int]) -> Line:
        intercept = none.score(path)
        return Line(full.score(path) - intercept, intercept)

    return intervals_of_lines(solve, line, 0.0, highest)


def intervals_of_lines(
    solve: Callable[[float], list[int]],
    line_of: Callable[[list[int]], Line],
    low: float,
    high: float,
) -> list[Interval]:
    """Return the intervals from `low` to `high` in which each path is best, by subdivision.

    Args:
        solve: returns the best path at a value.
        line_of: returns the score of a path, a linear function of the value.
        low: finite, as `high`.
        high: at least `low`.
    """

    def best_at(value: float) -> Line:
        return line_of(solve(value))

    left, right = best_at(low), best_at(high)
    return intervals(pieces([left, *_between(left, right, best_at), right], low, high), solve)


def _rises(none: Array, full: Array) -> Array:
    """Return the change of each score from strength 0 to 1; forbidden scores stay forbidden."""
    with np.errstate(invalid="ignore"):
        return np.where(none > -np.inf, full - none, 0.0)


def _between(left: Line, right: Line, best_at: Callable[[float], Line]) -> list[Line]:
    """Return the lines of the envelope between two of its lines."""
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
