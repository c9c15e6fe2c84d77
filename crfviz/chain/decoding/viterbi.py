"""Viterbi: the one best path, and the table that proves it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.paths import probability, require_path
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import maximum
from crfviz.chain.ties import lowest_best, near_best


@dataclass(frozen=True, eq=False)
class Viterbi:
    """The best path and the tables it was read from."""

    best: Tensor  # (T, K) score of the best prefix that ends in tag k at t, nats
    backpointers: Tensor  # (T, K) long, tag at t-1 on that prefix; row 0 is -1
    path: list[int]  # T tag ids
    score: float  # of `path`, nats, unnormalised
    probability: float  # of `path` given the sentence, in [0, 1]
    ties: bool  # another path is as good, within `crfviz.chain.ties.TOLERANCE`


def viterbi(potentials: Potentials) -> Viterbi:
    """Best path by max-sum dynamic programming in O(T K^2).

    A tie goes to the lowest tag id at every step, from the last word back to the first, and is
    reported.

    Raises:
        NoPathError: every path is forbidden.

    Source:
        Viterbi (1967); in this notation Sutton and McCallum (2012), section 4.1.

    Example:
        >>> viterbi(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])).path
        [0, 0]
    """
    emissions, transitions, start, end = potentials.arrays()
    best = torch.from_numpy(recursions.forward(emissions, transitions, start, reduce=maximum))
    final = best[-1] + torch.from_numpy(end)
    require_path(best, final)
    pointers = recursions.backpointers(best, torch.from_numpy(transitions))
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


def _has_rival(potentials: Potentials, best: Tensor, path: list[int]) -> bool:
    """True if the last tag, or a predecessor anywhere along the path, could as well be another.

    That finds every rival: where one last differs from the path, it is such a predecessor itself.
    """
    if near_best(best[-1] + potentials.end, -1).sum() > 1:
        return True
    tags = torch.tensor(path[1:], dtype=torch.long)
    steps = potentials.transitions.detach().expand(len(tags), *potentials.transitions.shape[-2:])
    candidates = best[:-1] + steps[torch.arange(len(tags)), :, tags]  # (T-1, K from)
    return bool((near_best(candidates, -1).sum(-1) > 1).any())
