"""Viterbi: the one best path, the table that proves it, and the best path through every tag.

best_t(k) = e_t(k) + max_j [best_{t-1}(j) + w(j, k)]     best prefix that ends in k at t
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.paths import probability, require_path
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import TOLERANCE, lowest_best, maximum, near_best


@dataclass(frozen=True, eq=False)
class Viterbi:
    """The best path and the tables it was read from."""

    best: Tensor  # (T, K) score of the best prefix that ends in tag k at t, nats
    backpointers: Tensor  # (T, K) long, tag at t-1 on that prefix; row 0 is -1
    path: list[int]  # T tag ids
    score: float  # of `path`, nats, unnormalised
    probability: float  # of `path` given the sentence, in [0, 1]
    ties: bool  # another path is as good, within `crfviz.chain.recursions.TOLERANCE`


def viterbi(potentials: Potentials) -> Viterbi:
    """Best path by max-sum dynamic programming in O(T K^2).

    A tie goes to the lowest tag id at every step, from the last word back to the first, and is
    reported.

    Source:
        Viterbi (1967); in this notation Sutton and McCallum (2012), section 4.1.

    Example:
        >>> viterbi(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])).path
        [0, 0]
    """
    best, pointers = best_prefixes(potentials)
    final = best[-1] + potentials.end.detach()
    require_path(best, final)
    path = recursions.follow(int(lowest_best(final, -1)), reversed(pointers.tolist()[1:]))[::-1]
    score = float(final[path[-1]])
    return Viterbi(
        best=best,
        backpointers=pointers,
        path=path,
        score=score,
        probability=probability(score, log_partition(potentials)),
        ties=_has_rival(potentials, best, path),
    )


def best_prefixes(potentials: Potentials) -> tuple[Tensor, Tensor]:
    """Viterbi's table and its backpointers, (T, K) each; there even if every path is forbidden."""
    emissions, steps, start, _ = potentials.arrays()
    best = torch.from_numpy(recursions.forward(emissions, steps, start, reduce=maximum))
    return best, recursions.backpointers(best, potentials.steps.detach())


def best_path(potentials: Potentials) -> list[int]:
    """The path of `viterbi` without its tables: for those who ask for many."""
    emissions, steps, start, end = potentials.arrays()
    best = recursions.forward(emissions, steps, start, reduce=maximum)
    final = best[-1] + end
    if not (final > -np.inf).any():
        require_path(torch.from_numpy(best), torch.from_numpy(final))
    return recursions.walk_back(final, recursions.leading(best, steps), _lowest_best)


def best_through(potentials: Potentials) -> Tensor:
    """The score of the best path through every tag, (T, K) nats, in O(T K^2).

    It is the max-marginal of a tag, as the marginal is to the sum over paths: the best prefix that
    ends there, and the best suffix from there. The largest of each row is the score of the best
    path; -inf is where no allowed path goes through.

    Source:
        Wainwright and Jordan, "Graphical Models, Exponential Families, and Variational Inference"
        (2008), chapter 8: max-marginals by max-product.
    """
    emissions, steps, start, end = potentials.arrays()
    best = recursions.forward(emissions, steps, start, reduce=maximum)
    return torch.from_numpy(best + recursions.backward(emissions, steps, end, reduce=maximum))


def _lowest_best(scores: Array) -> int:
    """`crfviz.chain.recursions.lowest_best` of one row."""
    best = scores.max()
    return int((scores >= best - TOLERANCE * max(abs(best), 1.0)).argmax())


def _has_rival(potentials: Potentials, best: Tensor, path: list[int]) -> bool:
    """True if the last tag, or a predecessor anywhere along the path, could as well be another.

    That finds every rival: where one last differs from the path, it is such a predecessor itself.
    """
    if near_best(best[-1] + potentials.end, -1).sum() > 1:
        return True
    tags = torch.tensor(path[1:], dtype=torch.long)
    steps = potentials.steps.detach()[torch.arange(len(tags)), :, tags]
    candidates = best[:-1] + steps  # (T-1, K from)
    return bool((near_best(candidates, -1).sum(-1) > 1).any())
