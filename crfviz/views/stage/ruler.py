"""Where the best path flips: along one transition weight, and along the strength of the CRF."""

import math
from collections.abc import Sequence
from itertools import pairwise

from crfviz.chain.edits import END, START
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.intervals import Interval
from crfviz.chain.questions.tipping import tipping_points
from crfviz.chain.questions.weights import Weight
from crfviz.views.phrases import moved
from crfviz.views.stage.parts import Mark, Ruler

MOST_WORDS = 3  # that a piece or a mark names


def ruler(potentials: Potentials, trained: Potentials, move: tuple[str, str]) -> Ruler:
    """All values of one weight, in pieces with the same best path.

    Where each step has its own matrix, a value is one that all steps share.

    Args:
        potentials: the chain as it is now.
        trained: the chain without edits.
        move: names of the tags the weight leads from and to; START and END allowed.

    Returns:
        The ruler; pieces are named by the tags of the words that differ.

    Raises:
        CrfvizError: the chain has no such tag, or no allowed path.
    """
    pieces = tipping_points(potentials, _weight(move))
    return Ruler(
        weight=move,
        trained=_value(trained, move),
        pieces=[
            (piece.low, piece.high, label)
            for piece, label in zip(pieces, _labels(pieces, potentials.tag_names), strict=True)
        ],
    )


def strength_marks(
    pieces: Sequence[Interval], words: Sequence[str], tags: Sequence[str]
) -> list[Mark]:
    """A mark for every strength at which a tag flips.

    Args:
        pieces: intervals of the strength with the same best path, in order.
        words: T words.
        tags: K tag names.

    Returns:
        One mark less than there are pieces, each with what flips there on the way up.
    """
    return [
        Mark(after.low, moved(before.path, after.path, words, tags, most=MOST_WORDS))
        for before, after in pairwise(pieces)
    ]


def _weight(move: tuple[str, str]) -> Weight:
    before, after = move
    if before == START:
        return ("start", after)
    if after == END:
        return ("end", before)
    return ("transition", before, after)


def _value(potentials: Potentials, move: tuple[str, str]) -> float:
    before, after = move
    if before == START:
        return potentials.start[potentials.tag_id(after)].item()
    if after == END:
        return potentials.end[potentials.tag_id(before)].item()
    matrix = potentials.transitions if potentials.transitions.dim() == 2 else None
    if matrix is None:
        return math.nan
    return matrix[potentials.tag_id(before), potentials.tag_id(after)].item()


def _labels(pieces: Sequence[Interval], tags: Sequence[str]) -> list[str]:
    """The tags of the words on which the pieces disagree, the first few of them."""
    columns = zip(*(piece.path for piece in pieces), strict=True)
    differing = [t for t, column in enumerate(columns) if len(set(column)) > 1]
    shown = differing[:MOST_WORDS]
    more = " …" if len(differing) > len(shown) else ""
    return [" ".join(tags[piece.path[t]] for t in shown) + more for piece in pieces]
