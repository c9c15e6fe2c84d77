"""The best path on its own, term by term, and the best path through every tag.

    best_t(k)  = e_t(k) + max_j [best_{t-1}(j) + w(j, k)]     best prefix that ends in k at t
    ahead_t(j) = max_k [w(j, k) + e_{t+1}(k) + ahead_{t+1}(k)]  best suffix after t
    through    = best_t(k) + ahead_t(k)                       best path with tag k at t

`through` is the max-marginal of a tag, as the marginal is to the sum over paths.

Source: Wainwright and Jordan, "Graphical Models, Exponential Families, and Variational Inference"
(2008), chapter 8: max-marginals by max-product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.paths import require_path
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.ties import TOLERANCE


@dataclass(frozen=True, eq=False)
class Terms:
    """What a path's score is made of, in nats."""

    emissions: Array  # (T,)
    transitions: Array  # (T+1,) start first, end last, and between them the T-1 steps

    def all(self) -> list[float]:
        """The 2T+1 terms in one list: emissions, start, steps, end."""
        return [*self.emissions.tolist(), *self.transitions.tolist()]


def terms(potentials: Potentials, path: Sequence[int]) -> Terms:
    """The terms of a path of tag ids; -inf where it is forbidden."""
    emissions, transitions, start, end = potentials.arrays()
    tags = np.asarray(path)
    steps = np.broadcast_to(transitions, (len(tags) - 1, *transitions.shape[-2:]))
    moves = steps[np.arange(len(tags) - 1), tags[:-1], tags[1:]]
    return Terms(
        emissions=emissions[np.arange(len(tags)), tags],
        transitions=np.concatenate([start[tags[:1]], moves, end[tags[-1:]]]),
    )


def best_path(potentials: Potentials) -> list[int]:
    """The path of `viterbi` without its tables: for those who ask for many.

    Raises:
        NoPathError: every path is forbidden.
    """
    emissions, transitions, start, end = potentials.arrays()
    best = recursions.forward(emissions, transitions, start, reduce=recursions.maximum)
    final = best[-1] + end
    if not (final > -np.inf).any():
        require_path(torch.from_numpy(best), torch.from_numpy(final))
    path = [_lowest_best(final)]
    steps = np.broadcast_to(transitions, (len(best) - 1, *transitions.shape[-2:]))
    for t in range(len(best) - 2, -1, -1):
        path.append(_lowest_best(best[t] + steps[t, :, path[-1]]))
    return path[::-1]


def best_through(potentials: Potentials) -> Tensor:
    """The score of the best path through every tag, in O(T K^2).

    The largest of each row is the score of the best path.

    Returns:
        (T, K) nats; -inf where no allowed path goes through.
    """
    emissions, transitions, start, end = potentials.arrays()
    best = recursions.forward(emissions, transitions, start, reduce=recursions.maximum)
    # The best suffixes are the best prefixes of the sentence read from its end.
    flipped = np.swapaxes(transitions, -1, -2)
    flipped = flipped[::-1] if flipped.ndim == 3 else flipped
    suffixes = recursions.forward(emissions[::-1], flipped, end, reduce=recursions.maximum)[::-1]
    ahead = (transitions + suffixes[1:, None, :]).max(-1)  # (T-1, K), emission at t excluded
    return torch.from_numpy(best + np.concatenate([ahead, end[None]]))


def _lowest_best(scores: Array) -> int:
    """`crfviz.chain.ties.lowest_best` of one row."""
    best = scores.max()
    return int((scores >= best - TOLERANCE * max(abs(best), 1.0)).argmax())
