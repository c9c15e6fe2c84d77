"""Viterbi: the one best path, the table that proves it, and the best path through every tag.

best_t(k) = e_t(k) + max_j [best_{t-1}(j) + w(j, k)]     best prefix that ends in k at t
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.engine import compiled
from crfviz.chain.engine import viterbi as engine
from crfviz.chain.engine.compiled import Best, Scores
from crfviz.chain.engine.packing import ChainsOrBatch, chain_batch
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.paths import TagIds, probability, require_path
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import maximum


@dataclass(frozen=True, eq=False, repr=False)
class Viterbi(NotebookRepr):
    """The best path and the tables it was read from."""

    best: Tensor  # (T, K) score of the best prefix that ends in tag k at t, nats
    backpointers: Tensor  # (T, K) long, tag at t-1 on that prefix; row 0 is -1
    path: TagIds  # T tag ids, a list
    score: float  # of `path`, nats, unnormalised
    probability: float  # of `path` given the sentence, in [0, 1]
    ties: bool  # another path is as good, within `crfviz.chain.recursions.TOLERANCE`

    @property
    def names(self) -> list[str]:
        """T tag names of `path`."""
        return self.path.names


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
    found = _allowed(potentials.scores())
    return Viterbi(
        best=torch.from_numpy(found.best),
        backpointers=torch.from_numpy(found.backpointers),
        path=TagIds(found.path.tolist(), potentials.tags),
        score=found.score,
        probability=probability(found.score, log_partition(potentials)),
        ties=found.ties,
    )


def best_prefixes(potentials: Potentials) -> tuple[Tensor, Tensor]:
    """Viterbi's table and its backpointers, (T, K) each; there even if every path is forbidden."""
    found = _best(potentials.scores())
    return torch.from_numpy(found.best), torch.from_numpy(found.backpointers)


def allowed_prefixes(
    emissions: Array, transitions: Array, start: Array, end: Array
) -> engine.Prefixes:
    """The best prefixes of a chain, one of which at least can be ended; a NoPathError otherwise."""
    prefixes = engine.best_prefixes(emissions, transitions, start, end)
    if not prefixes.last.max() > -np.inf:
        _require_path(prefixes.best, prefixes.last)
    return prefixes


def best_path(potentials: Potentials) -> TagIds:
    """Return the path of `viterbi` without its tables: for those who ask for many."""
    return TagIds(best_path_of(*potentials.scores()), potentials.tags)


def best_path_of(emissions: Array, transitions: Array, start: Array, end: Array) -> list[int]:
    """Return the same for scores that are known to be those of a chain."""
    path: list[int] = _allowed((emissions, transitions, start, end)).path.tolist()
    return path


def best_paths(chains: ChainsOrBatch) -> list[list[int]]:
    """`best_path` of one chain or more with the same tags, word by word for all of them at once.

    Raises:
        NoPathError: every path of a chain is forbidden; the first such chain is told.
    """
    batch = chain_batch(chains)
    if batch.steps.ndim == 3:
        return [best_path(chain) for chain in batch.given]
    scores = batch.emissions, batch.steps, batch.start, batch.end
    tags, allowed = engine.best_paths(*scores, batch.packed)
    if not allowed.all():
        blocked = batch.packed.order[~allowed].min()
        best_path(batch.given[blocked])  # says where the last prefix breaks off
    return [path.tolist() for path in batch.split(tags)]


def best_through(potentials: Potentials) -> Tensor:
    """Return the score of the best path through every tag, (T, K) nats, in O(T K^2).

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


def _allowed(scores: Scores) -> Best:
    """Return the best path of a chain; a NoPathError if it is forbidden."""
    found = _best(scores)
    if not found.score > -np.inf:
        _require_path(found.best, found.best[-1] + scores[-1])
    return found


def _best(scores: Scores) -> Best:
    """Return the best path of a chain, and its tables even if every path is forbidden."""
    if (found := compiled.best_path(scores)) is not None:
        return found
    prefixes = engine.best_prefixes(*scores)
    pointers = np.full(prefixes.best.shape, -1)
    prefixes.near.argmax(-1, out=pointers[1:])
    path = np.empty(len(pointers), np.int64)
    path[-1] = prefixes.near_last.argmax()
    for t in range(len(path) - 1, 0, -1):
        path[t - 1] = pointers[t, path[t]]
    ways = prefixes.near[np.arange(len(path) - 1), path[1:]]  # where one could as well come from
    near = np.count_nonzero(ways) + np.count_nonzero(prefixes.near_last)
    score = prefixes.last[path[-1]].item()
    return Best(score, bool(near > len(path)), path, prefixes.best, pointers)


def _require_path(prefixes: Array, final: Array) -> None:
    require_path(torch.from_numpy(prefixes), torch.from_numpy(final))
