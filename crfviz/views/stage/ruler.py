"""The tipping-point ruler of one transition weight: where each path is best."""

import math
from collections.abc import Sequence

from crfviz.chain.edits import END, START
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.intervals import Interval
from crfviz.chain.questions.tipping import tipping_points
from crfviz.chain.questions.weights import Weight
from crfviz.views.stage.parts import Ruler

MOST_WORDS = 3  # whose tags a piece names


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
    if not potentials.homogeneous:
        return math.nan
    return potentials.transitions[potentials.tag_id(before), potentials.tag_id(after)].item()


def _labels(pieces: Sequence[Interval], tags: Sequence[str]) -> list[str]:
    """The tags of the words on which the pieces disagree, the first few of them."""
    columns = zip(*(piece.path for piece in pieces), strict=True)
    differing = [t for t, column in enumerate(columns) if len(set(column)) > 1]
    shown = differing[:MOST_WORDS]
    more = " …" if len(differing) > len(shown) else ""
    return [" ".join(tags[piece.path[t]] for t in shown) + more for piece in pieces]
