"""Viterbi: the one best path, the table that proves it, and the best path through every tag.

best_t(k) = e_t(k) + max_j [best_{t-1}(j) + w(j, k)]     best prefix that ends in k at t
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.engine import best as engine_of_batches
from crfviz.chain.engine import best_alone as engine
from crfviz.chain.engine.chains import Many, together
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.paths import probability, require_path
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import maximum
from crfviz.chain.rich import Rich


@dataclass(frozen=True, eq=False)
class Viterbi(Rich):
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
    prefixes = allowed_prefixes(*potentials.scores())
    pointers = prefixes.near.argmax(-1)
    path = _walked_back(prefixes, pointers)
    ways = prefixes.near[np.arange(len(pointers)), path[1:]]  # where one could as well come from
    score = prefixes.last[path[-1]].item()
    return Viterbi(
        best=torch.from_numpy(prefixes.best),
        backpointers=_with_first_row(pointers),
        path=path,
        score=score,
        probability=probability(score, log_partition(potentials)),
        ties=int(np.count_nonzero(ways)) + int(np.count_nonzero(prefixes.near_last)) > len(path),
    )


def best_prefixes(potentials: Potentials) -> tuple[Tensor, Tensor]:
    """Viterbi's table and its backpointers, (T, K) each; there even if every path is forbidden."""
    prefixes = engine.best_prefixes(*potentials.scores())
    return torch.from_numpy(prefixes.best), _with_first_row(prefixes.near.argmax(-1))


def allowed_prefixes(
    emissions: Array, transitions: Array, start: Array, end: Array
) -> engine.Prefixes:
    """The best prefixes of a chain, one of which at least can be ended; a NoPathError otherwise."""
    prefixes = engine.best_prefixes(emissions, transitions, start, end)
    if not prefixes.last.max() > -np.inf:
        require_path(torch.from_numpy(prefixes.best), torch.from_numpy(prefixes.last))
    return prefixes


def best_path(potentials: Potentials) -> list[int]:
    """The path of `viterbi` without its tables: for those who ask for many."""
    return best_path_of(*potentials.scores())


def best_path_of(emissions: Array, transitions: Array, start: Array, end: Array) -> list[int]:
    """The same for scores that are known to be those of a chain."""
    prefixes = allowed_prefixes(emissions, transitions, start, end)
    return _walked_back(prefixes, prefixes.near.argmax(-1))


def best_paths(chains: Many) -> list[list[int]]:
    """`best_path` of one chain or more with the same tags, word by word for all of them at once.

    Raises:
        NoPathError: every path of a chain is forbidden; the first such chain is told.
    """
    batch = together(chains)
    if batch.steps.ndim == 3:
        return [best_path(chain) for chain in batch.given]
    emissions, steps, start = map(torch.from_numpy, (batch.emissions, batch.steps, batch.start))
    best = engine_of_batches.best_prefixes(emissions, steps, start, batch.packed)
    tags, allowed = engine_of_batches.walked_back(best, batch.steps, batch.end, batch.packed)
    if not allowed.all():
        blocked = batch.packed.order[~allowed].min()
        best_path(batch.given[blocked])  # says where the last prefix breaks off
    return [path.tolist() for path in batch.split(tags)]


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


def _walked_back(prefixes: engine.Prefixes, pointers: NDArray[np.int64]) -> list[int]:
    """The path to the lowest of the best last tags, along backpointers (T-1, K)."""
    path = [int(prefixes.near_last.argmax())]
    for t in range(len(pointers) - 1, -1, -1):
        path.append(pointers.item(t, path[-1]))
    return path[::-1]


def _with_first_row(pointers: NDArray[np.int64]) -> Tensor:
    """Backpointers (T-1, K) with a row of -1 before them."""
    table = np.empty((len(pointers) + 1, pointers.shape[1]), np.int64)
    table[0], table[1:] = -1, pointers
    return torch.from_numpy(table)
