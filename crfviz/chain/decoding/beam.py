"""Beam search: left to right with a few prefixes instead of one, or of all.

At every word each surviving prefix is extended by every tag. Of the prefixes that end in the same
tag only the best goes on (nothing later can tell them apart), and of these the `width` best. The
end score counts at the last word. So width K is Viterbi, and width 1 greedy decoding from left to
right.

Source: Lowerre, "The Harpy Speech Recognition System" (1976), chapter 3; the merging of prefixes is
Viterbi's (1967). The loop is its own: no other recursion drops anything between two words.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.arguments import require_count
from crfviz.chain.engine.chains import Many, together
from crfviz.chain.engine.packed import Packed
from crfviz.chain.potentials import Array, Potentials


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
    return beams([potentials], width)[0]


def beams(chains: Many, width: int) -> list[list[int]]:
    """The same for one chain or more with the same tags, word by word for all of them at once.

    Raises:
        CrfvizError: `width` is less than 1.
    """
    width = require_count("width", width)
    batch = together(chains)
    emissions, columns = batch.emissions, batch.packed.columns
    gains = emissions.copy()
    gains[batch.packed.last] += batch.end
    scores = np.empty_like(gains)
    pointers = np.zeros(gains.shape, np.intp)
    first = columns[0]
    scores[first] = _alive(batch.start + gains[first], emissions[first])
    for before, here in pairwise(columns):
        leaving = scores[before][: here.stop - here.start]
        kept = _best(leaving, width)
        ways = batch.steps[kept] if batch.steps.ndim == 2 else _rows(batch.steps[here], kept)
        candidates = _rows(leaving, kept)[..., None] + ways + gains[here][:, None]  # (n, width, K)
        reached = candidates.max(1)
        choice = np.where(np.isneginf(reached).all(1, keepdims=True), 0, candidates.argmax(1))
        pointers[here] = _rows(kept, choice)  # where nothing may follow: from the best prefix
        scores[here] = _alive(reached, emissions[here])
    tags = _walked_back(scores, pointers, batch.packed)
    return [path.tolist() for path in batch.split(tags)]


def _walked_back(scores: Array, pointers: NDArray[np.intp], packed: Packed) -> NDArray[np.int64]:
    """(N,) tags of the rows, from the best last tags along the pointers."""
    tags = np.empty(len(scores), np.int64)
    tag, rows = scores[packed.last].argmax(1), packed.last
    tags[rows] = tag
    for here in packed.columns[1:]:
        size = here.stop - here.start
        tag = pointers[rows[:size], tag[:size]]
        rows = packed.mirrored[here]
        tags[rows] = tag
    return tags


def _best(scores: Array, width: int) -> NDArray[np.intp]:
    """(n, width) the ids of the best scores, best first, the lowest id first among equals."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :width]


def _rows(table: NDArray[Any], ids: NDArray[np.intp]) -> NDArray[Any]:
    """From each row of a table (n, K, ...) what some ids (n, m) name: (n, m, ...)."""
    return table[np.arange(len(ids))[:, None], ids]


def _alive(scores: Array, emissions: Array) -> Array:
    """The scores (n, K), or the emissions alone in rows where all scores are -inf."""
    return np.where(np.isneginf(scores).all(1, keepdims=True), emissions, scores)
