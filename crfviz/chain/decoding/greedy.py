"""Greedy decoding: what a tagger does that never looks back."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import lowest_best
from crfviz.chain.engine.chains import Chains, Many, together
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import CrfvizError

How = Literal["independent", "left_to_right"]


def greedy(potentials: Potentials, how: How = "independent") -> list[int]:
    """One tag id for each word, each decided for good at once; a tie goes to the lowest id.

    "independent" takes the best emission of each word. "left_to_right" commits to each tag in turn
    by emission plus transition from the tag just chosen, with start at the first word and end at
    the last. Where all of that is forbidden it takes the best emission of the word, for it cannot
    go back: the result may then be a forbidden path. Greedy decoding never raises `NoPathError`.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> greedy(potentials), greedy(potentials, "left_to_right")
        ([0, 1], [0, 0])
    """
    return greedy_paths([potentials], how)[0]


def greedy_paths(chains: Many, how: How = "independent") -> list[list[int]]:
    """The same for one chain or more with the same tags, word by word for all of them at once."""
    if how not in get_args(How):
        raise CrfvizError(f"how must be one of {get_args(How)}, got {how!r}")
    batch = together(chains)
    tags = lowest_best(batch.emissions) if how == "independent" else _left_to_right(batch)
    return [path.tolist() for path in batch.split(tags)]


def _left_to_right(batch: Chains) -> NDArray[np.int64]:
    """(N,) tags of the rows, each the best after the one chosen before it."""
    packed, emissions = batch.packed, batch.emissions
    gains = emissions.copy()
    gains[packed.last] += batch.end
    gains[packed.first] += batch.start
    tags = np.empty(len(gains), np.int64)
    tags[packed.first] = _chosen(gains[packed.first], emissions[packed.first])
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        tag = tags[before]
        shared = batch.steps.ndim == 2
        ways = batch.steps[tag] if shared else batch.steps[here][np.arange(len(tag)), tag]
        tags[here] = _chosen(ways + gains[here], emissions[here])
    return tags


def _chosen(scores: Array, emissions: Array) -> NDArray[np.int64]:
    """The best of each row of scores (n, K), or of emissions where all scores are -inf."""
    dead = np.isneginf(scores.max(1))
    if dead.any():
        scores = np.where(dead[:, None], emissions, scores)
    tags: NDArray[np.int64] = lowest_best(scores)
    return tags
