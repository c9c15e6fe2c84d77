"""Tipping points: for which values of one weight is which path best?

A path that uses a weight n times scores c + n * v, where v is the value of the weight. Among the
paths with the same n only the best one, c_n, can be best at all, so the best score is the upper
envelope of at most T lines, one for each n:

    best(v) = max_n [c_n + n * v]

Its breakpoints are the crossings of lines that are neighbours on the envelope: exact, no grid.

Source: the envelope over a lattice's paths is that of Macherey, Och, Thayer and Uszkoreit,
"Lattice-based Minimum Error Rate Training for Statistical Machine Translation" (2008). That there
is one line for each n follows from the score of Lafferty, McCallum and Pereira (2001), section 3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from crfviz.chain.decoding.viterbi import best_path, best_through
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.intervals import Interval, Line, Piece, intervals, pieces
from crfviz.chain.questions.viterbi_with_uses import best_by_uses
from crfviz.chain.questions.weights import Weight, WeightId, resolve, with_weight
from crfviz.exceptions import NoPathError

__all__ = ["Interval", "tipping_points"]


def tipping_points(potentials: Potentials, weight: Weight) -> list[Interval]:
    """The intervals of a weight's value in which each path is best, in order.

    They cover the real line: `low` is -inf in the first and `high` inf in the last, and each begins
    where the one before ends. Uses grow from one to the next. Inside an interval the path is that
    of `viterbi`, with ties at the lowest ids; at its ends two paths tie. Values are the weight's
    own, not changes. The value it has now does not matter; it may be -inf, while other forbidden
    scores stay so. If the first path uses the weight, then at -inf itself no path is allowed.

    Args:
        potentials: scores of one sentence. With a matrix for each step, the value of a transition
            is what all steps get, as by `with_transition`.
        weight: ("transition", from, to), ("start", tag), ("end", tag) or
            ("emission", position, tag); tags by id or name.

    Returns:
        Intervals of `low`, `high` (nats) and `path`. O(T^2 K^2) for a transition, O(T K^2)
        otherwise, and O(T K^2) more for each interval.

    Raises:
        NoPathError: every path is forbidden, whatever the value.
        CrfvizError: the weight has none of the four forms.
        UnknownTagError: the chain does not have one of its tags.
        ShapeError: the sentence does not have its position.

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
    """The best score as a function of one weight's value, with paths found when asked for."""

    pieces: list[Piece]  # in order; the slope of each is how often its paths use the weight
    path_at: Callable[[float], list[int]]  # the best path where the weight has this value


def best_by_value(potentials: Potentials, weight: WeightId) -> BestByValue:
    """The envelope behind `tipping_points`; see there."""
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
    """Best score for 0, 1, ... uses, where `base` has 0 as the weight's value."""
    match weight:
        case ("transition", before, after):
            scores: list[float] = best_by_uses(base, before, after).tolist()
            return scores
        case ("start", tag):
            return _without_and_with(best_through(base)[0], tag)
        case ("end", tag):
            return _without_and_with(best_through(base)[-1], tag)
        case ("emission", position, tag):
            return _without_and_with(best_through(base)[position], tag)


def _without_and_with(through: Tensor, tag: int) -> list[float]:
    scores: list[float] = through.tolist()
    once = scores.pop(tag)
    return [max(scores, default=-math.inf), once]
