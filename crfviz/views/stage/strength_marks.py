"""Where the best path flips along the strength of the CRF, for the slider under the matrix."""

from collections.abc import Sequence
from itertools import pairwise

from crfviz.chain.questions.tipping import Interval
from crfviz.views.stage.parts import Mark

MOST_WORDS = 3  # that a mark names


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
        Mark(after.low, _flips(before.path, after.path, words, tags))
        for before, after in pairwise(pieces)
    ]


def _flips(
    before: Sequence[int], after: Sequence[int], words: Sequence[str], tags: Sequence[str]
) -> str:
    moved = [t for t, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    named = [f"“{words[t]}” {tags[before[t]]} → {tags[after[t]]}" for t in moved[:MOST_WORDS]]
    more = f" and {len(moved) - MOST_WORDS} more" if len(moved) > MOST_WORDS else ""
    return ", ".join(named) + more
