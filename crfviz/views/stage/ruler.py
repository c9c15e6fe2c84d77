"""Where the best path flips: along one transition weight, and along the strength of the CRF."""

import math
from collections.abc import Sequence
from itertools import pairwise

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import Weight, resolve, value_of, weight_of
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.tipping import Interval, tipping_points
from crfviz.views.phrases import moved
from crfviz.views.stage.parts import Mark, Ruler

MOST_WORDS = 3  # that a piece or a mark names


def ruler(potentials: Potentials, trained: Potentials, move: tuple[str, str]) -> Ruler:
    """All values of one weight, in pieces with the same best path.

    Where each step has its own matrix, a value is one that all steps share. The weight goes by the
    names of its tags, START and END allowed; the pieces by the tags of the words that differ.

    Raises:
        CrfvizError: the chain has no such tag, or no allowed path.
    """
    weight = weight_of(move)
    pieces = tipping_points(potentials, weight)
    return Ruler(
        weight=move,
        trained=_value(trained, weight),
        pieces=[
            (piece.low, piece.high, label)
            for piece, label in zip(pieces, _labels(pieces, potentials.tag_names), strict=True)
        ],
    )


def strength_marks(pieces: Sequence[Interval], chain: Analysis) -> list[Mark]:
    """A mark for every strength at which a tag flips, with what flips there on the way up.

    The pieces are the intervals of the strength with the same best path of the chain, in order.
    """
    return [
        Mark(after.low, moved(before.path, after.path, chain, most=MOST_WORDS))
        for before, after in pairwise(pieces)
    ]


def _value(potentials: Potentials, weight: Weight) -> float:
    """The score it has; NaN for a transition where each step has its own."""
    if weight[0] == "transition" and not potentials.homogeneous:
        return math.nan
    return value_of(potentials, resolve(potentials, weight))


def _labels(pieces: Sequence[Interval], tags: Sequence[str]) -> list[str]:
    """The tags of the words on which the pieces disagree, the first few of them."""
    columns = zip(*(piece.path for piece in pieces), strict=True)
    differing = [t for t, column in enumerate(columns) if len(set(column)) > 1]
    shown = differing[:MOST_WORDS]
    more = " …" if len(differing) > len(shown) else ""
    return [" ".join(tags[piece.path[t]] for t in shown) + more for piece in pieces]
