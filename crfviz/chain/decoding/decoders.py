"""Decoders besides Viterbi: independent, greedy, beam and max-marginal.

Beam search extends each surviving prefix by every tag. Of the prefixes that end in the same tag
only the best survives, and of these the `width` best. The end score counts at the last word. So
width K is Viterbi, and width 1 greedy decoding.

Source: Lowerre, "The Harpy Speech Recognition System" (1976), chapter 3; merging prefixes is
Viterbi's (1967).
"""

from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.distribution import TagIds, require_path
from crfviz.chain.engine.arrays import lowest_best
from crfviz.chain.engine.packing import ChainBatch, ChainsOrBatch, Packed, chain_batch
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError

How = Literal["independent", "left_to_right"]


def greedy(potentials: Potentials, how: How = "independent") -> TagIds:
    """Return a list of tag ids, each decided for good at once; a tie goes to the lowest id.

    "independent" takes the best emission of each word. "left_to_right" commits to each tag in turn
    by emission plus transition from the tag just chosen, with start at the first word and end at
    the last. Where all of that is forbidden it takes the best emission of the word, for it cannot
    go back: the result may then be a forbidden path. Greedy decoding never raises `NoPathError`.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> greedy(potentials), greedy(potentials, "left_to_right")
        ([0, 1], [0, 0])
    """
    return TagIds(greedy_paths([potentials], how)[0], potentials.tags)


def greedy_paths(chains: ChainsOrBatch, how: How = "independent") -> list[list[int]]:
    """The same for one chain or more with the same tags, word by word for all of them at once."""
    if how not in get_args(How):
        raise CrfvizError(f"how must be one of {get_args(How)}, got {how!r}")
    batch = chain_batch(chains)
    tags = lowest_best(batch.emissions) if how == "independent" else _left_to_right(batch)
    return [path.tolist() for path in batch.split(tags)]


def _left_to_right(batch: ChainBatch) -> NDArray[np.int64]:
    """Return (N,) tags of the rows, each the best after the one chosen before it."""
    packed, emissions = batch.packed, batch.emissions
    gains = emissions.copy()
    gains[packed.last] += batch.end
    gains[packed.first] += batch.start
    tags = np.empty(len(gains), np.int64)
    tags[packed.first] = _choose(gains[packed.first], emissions[packed.first])
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        tag = tags[before]
        shared = batch.steps.ndim == 2
        ways = batch.steps[tag] if shared else batch.steps[here][np.arange(len(tag)), tag]
        tags[here] = _choose(ways + gains[here], emissions[here])
    return tags


def _choose(scores: Array, emissions: Array) -> NDArray[np.int64]:
    """Return the best of each row of scores (n, K), or of emissions where all scores are -inf."""
    dead = np.isneginf(scores.max(1))
    if dead.any():
        scores = np.where(dead[:, None], emissions, scores)
    tags: NDArray[np.int64] = lowest_best(scores)
    return tags


def beam(potentials: Potentials, width: int) -> TagIds:
    """Return the best path of those that survive, in O(T width K); a tie goes to the lowest tag id.

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
    return TagIds(beams([potentials], width)[0], potentials.tags)


def beams(chains: ChainsOrBatch, width: int) -> list[list[int]]:
    """The same for one chain or more with the same tags, word by word for all of them at once.

    Raises:
        CrfvizError: `width` is less than 1.
    """
    width = require_count("width", width)
    batch = chain_batch(chains)
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
    tags = _backtrace(scores, pointers, batch.packed)
    return [path.tolist() for path in batch.split(tags)]


def _backtrace(scores: Array, pointers: NDArray[np.intp], packed: Packed) -> NDArray[np.int64]:
    """Return (N,) tags of the rows, from the best last tags along the pointers."""
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
    """Return the scores (n, K), or the emissions alone in rows where all scores are -inf."""
    return np.where(np.isneginf(scores).all(1, keepdims=True), emissions, scores)


def max_marginal(potentials: Potentials) -> TagIds:
    """Return a list of T tag ids, each the argmax of its marginals; a tie goes to the lowest id.

    It makes the expected number of right tags largest. The tags need not fit together: the path as
    a whole may be forbidden.
    """
    tables = forward_backward(potentials)
    require_path(tables.log_alpha, tables.log_alpha[-1] + potentials.end)
    return TagIds(likeliest(tables.marginals), potentials.tags)


def likeliest(marginals: Tensor) -> list[int]:
    """Return the argmax of each row of (T, K) marginals; a tie goes to the lowest id."""
    path: list[int] = lowest_best(marginals.detach().numpy()).tolist()
    return path
