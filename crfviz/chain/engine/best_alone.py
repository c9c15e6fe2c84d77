"""The best paths of one sentence: loops of NumPy over vectors, and all choices in one go."""

from itertools import repeat

import numpy as np
import torch
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import tie_bound

Scores = NDArray[np.float64]
Choices = NDArray[np.bool_]


def best_prefixes(emissions: Scores, transitions: Scores, start: Scores) -> Scores:
    """(T, K) score of the best prefix that ends in each tag, nats.

    Transitions are (K, K), or (T-1, K, K).
    """
    best = np.empty(emissions.shape)
    before = np.add(start, emissions[0], out=best[0])
    candidates = np.empty(transitions.shape[-2:])
    steps = transitions if transitions.ndim == 3 else repeat(transitions)
    for reached, word, step in zip(best[1:], emissions[1:], steps, strict=False):
        np.add(before[:, None], step, out=candidates)  # (K from, K to)
        np.maximum.reduce(candidates, 0, out=reached)
        before = np.add(reached, word, out=reached)
    return best


def leading(best: Scores, transitions: Scores) -> Scores:
    """The table of the best prefixes, with the way to each tag after it: (T-1, K to, K from)."""
    found: Scores = best[:-1, None, :] + np.swapaxes(transitions, -1, -2)
    return found


def near_best(candidates: Scores) -> Choices:
    """Where a number in a row ties with the largest of the row."""
    best = torch.from_numpy(candidates).amax(-1, keepdim=True).numpy()
    found: Choices = candidates >= tie_bound(best)
    return found
