"""Beam search: left to right with a few prefixes instead of one, or of all.

At every word each surviving prefix is extended by every tag. Of the prefixes that end in the same
tag only the best goes on (nothing later can tell them apart), and of these the `width` best. The
end score counts at the last word. So width K is Viterbi, and width 1 greedy decoding from left to
right.

Source: Lowerre, "The Harpy Speech Recognition System" (1976), chapter 3; the merging of prefixes is
Viterbi's (1967). The loop is its own: no other recursion drops anything between two words.
"""

from collections.abc import Sequence

import numpy as np

from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import follow
from crfviz.exceptions import CrfvizError


def beam(potentials: Potentials, width: int) -> list[int]:
    """The best path of those that survive, in O(T width K); a tie goes to the lowest tag id.

    Where every extension is forbidden it takes the best emissions of the word after the best
    prefix, as `greedy` does, for it cannot go back: the result may then be a forbidden path. It
    never raises `NoPathError`. A width of more than K is K.

    Raises:
        CrfvizError: `width` is less than 1.

    Example:
        >>> potentials = Potentials([[1.0, 0.9], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]])
        >>> beam(potentials, 1), beam(potentials, 2)
        ([0, 0], [1, 1])
    """
    if width < 1:
        raise CrfvizError(f"width must be at least 1, got {width}")
    emissions, steps, start, end = potentials.arrays()
    gains = emissions.copy()
    gains[-1] += end
    scores = _alive(start + gains[0], emissions[0])
    pointers: list[Sequence[int]] = []
    every_tag = np.arange(len(start))
    for t, step in enumerate(steps, start=1):
        kept = _best(scores, width)
        candidates = scores[kept, None] + step[kept] + gains[t]  # (width, K to)
        choice = candidates.argmax(0)
        reached = candidates[choice, every_tag]
        scores = _alive(reached, emissions[t])
        alone = scores is not reached  # nothing may follow: go on from the best prefix
        pointers.append([int(kept[0])] * len(start) if alone else kept[choice].tolist())
    return follow(int(_best(scores, 1)[0]), reversed(pointers))[::-1]


def _best(scores: Array, width: int) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """The ids of the `width` best scores, best first, the lowest id first among equals."""
    return np.argsort(-scores, kind="stable")[:width]


def _alive(scores: Array, emissions: Array) -> Array:
    """The scores, or the emissions alone where all scores are -inf."""
    return emissions if np.isneginf(scores).all() else scores
