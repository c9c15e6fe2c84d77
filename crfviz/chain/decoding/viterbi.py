"""Viterbi: the best path and its tables, the best path through every tag, the k best paths.

best_t(k) = e_t(k) + max_j [best_{t-1}(j) + w(j, k)]     best prefix that ends in k at t

The k best paths are detours from the best path. Walk it back from its end. At any word, a detour
takes another predecessor than the backpointer, loses the gap between the two candidates, and
follows backpointers from there. A heap orders paths by the total loss of their detours. Each path
that is popped pushes up to three others: its own cheapest detour, and two alternatives to the
detour that created it, with the next best predecessor at that word or at the next cheapest word.
So every allowed path is reached exactly once, and the heap holds at most three times as many paths
as have been popped.

Source: Lawler, "A procedure for computing the K best solutions to discrete optimization problems"
(1972), for the k best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.distribution import Path, TagIds, probability, require_path
from crfviz.chain.engine import compiled
from crfviz.chain.engine import viterbi as engine
from crfviz.chain.engine.compiled import Best, Scores
from crfviz.chain.engine.packing import ChainsOrBatch, chain_batch
from crfviz.chain.engine.viterbi import Prefixes
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import follow, maximum
from crfviz.chain.validation import require_count
from crfviz.exceptions import NoPathError


@dataclass(frozen=True, eq=False, repr=False)
class Viterbi(NotebookRepr):
    """The best path and the tables it was read from."""

    best: Tensor  # (T, K) score of the best prefix that ends in tag k at t, nats
    backpointers: Tensor  # (T, K) long, tag at t-1 on that prefix; row 0 is -1
    path: TagIds  # T tag ids, a list
    score: float  # of `path`, nats, unnormalised
    probability: float  # of `path` given the sentence, in [0, 1]
    ties: bool  # whether another path ties, within `crfviz.chain.recursions.TOLERANCE`

    @property
    def names(self) -> list[str]:
        """T tag names of `path`."""
        return self.path.names


def viterbi(potentials: Potentials) -> Viterbi:
    """Find the best path by max-sum dynamic programming in O(T K^2).

    A tie goes to the lowest tag id at every step, from the last word back to the first. `ties` of
    the result reports it.

    Source:
        Viterbi (1967); in this notation Sutton and McCallum (2012), section 4.1.

    Example:
        >>> viterbi(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])).path
        [0, 0]
    """
    result = _allowed(potentials.scores())
    return Viterbi(
        best=torch.from_numpy(result.best),
        backpointers=torch.from_numpy(result.backpointers),
        path=TagIds(result.path.tolist(), potentials.tags),
        score=result.score,
        probability=probability(result.score, log_partition(potentials)),
        ties=result.ties,
    )


def best_prefixes(potentials: Potentials) -> tuple[Tensor, Tensor]:
    """Return Viterbi's table and backpointers, (T, K) each, even if every path is forbidden."""
    result = _best(potentials.scores())
    return torch.from_numpy(result.best), torch.from_numpy(result.backpointers)


def allowed_prefixes(
    emissions: Array, transitions: Array, start: Array, end: Array
) -> engine.Prefixes:
    """Return the best prefixes of a chain; raise NoPathError if no complete path is allowed."""
    prefixes = engine.best_prefixes(emissions, transitions, start, end)
    if not prefixes.last.max() > -np.inf:
        _require_path(prefixes.best, prefixes.last)
    return prefixes


def best_path(potentials: Potentials) -> TagIds:
    """Return the path of `viterbi` without its tables, for callers with many chains."""
    return TagIds(best_path_of(*potentials.scores()), potentials.tags)


def best_path_of(emissions: Array, transitions: Array, start: Array, end: Array) -> list[int]:
    """Return the same as `best_path`, for scores that are already validated."""
    path: list[int] = _allowed((emissions, transitions, start, end)).path.tolist()
    return path


def best_paths(chains: ChainsOrBatch) -> list[list[int]]:
    """Run `best_path` on chains with the same tags, vectorised over the chains.

    Raises:
        NoPathError: every path of a chain is forbidden; the message is on the first such chain.
    """
    batch = chain_batch(chains)
    if batch.steps.ndim == 3:
        return [best_path(chain) for chain in batch.given]
    scores = batch.emissions, batch.steps, batch.start, batch.end
    tags, allowed = engine.best_paths(*scores, batch.packed)
    if not allowed.all():
        blocked = batch.packed.order[~allowed].min()
        best_path(batch.given[blocked])  # raises; the message says where the last prefix ends
    return [path.tolist() for path in batch.split(tags)]


def first_best_path(
    emissions: NDArray[Any], steps: NDArray[Any], start: NDArray[Any], end: NDArray[Any]
) -> list[int]:
    """Return the best path; only exact ties count, and go to the lowest tag.

    Emissions are (T, K), steps (T-1, K from, K to), start and end (K,).
    """
    best, ways = np.empty_like(emissions), np.empty_like(steps)
    add, largest = np.add, np.maximum.reduce
    add(start, emissions[0], out=best[0])
    for step, way, before, found, emission in zip(
        steps, ways, best[:, :, None], best[1:], emissions[1:], strict=False
    ):
        add(step, before, out=way)
        largest(way, 0, out=found)
        add(found, emission, out=found)
    path = [int((best[-1] + end).argmax())]
    for way in ways[::-1]:
        path.append(int(way[:, path[-1]].argmax()))
    return path[::-1]


def best_through(potentials: Potentials) -> Tensor:
    """Return the score of the best path through every tag, (T, K) nats, in O(T K^2).

    This is the max-marginal of the tag: the best prefix that ends in the tag plus the best suffix
    after it. The largest value of each row is the score of the best path; -inf means that no
    allowed path has the tag.

    Source:
        Wainwright and Jordan, "Graphical Models, Exponential Families, and Variational Inference"
        (2008), chapter 8: max-marginals by max-product.
    """
    emissions, steps, start, end = potentials.arrays()
    best = recursions.forward(emissions, steps, start, reduce=maximum)
    return torch.from_numpy(best + recursions.backward(emissions, steps, end, reduce=maximum))


def _allowed(scores: Scores) -> Best:
    result = _best(scores)
    if not result.score > -np.inf:
        _require_path(result.best, result.best[-1] + scores[-1])
    return result


def _best(scores: Scores) -> Best:
    """Return the best path of a chain, and its tables even if every path is forbidden."""
    if (result := compiled.best_path(scores)) is not None:
        return result
    prefixes = engine.best_prefixes(*scores)
    pointers = np.full(prefixes.best.shape, -1)
    prefixes.near.argmax(-1, out=pointers[1:])
    path = np.empty(len(pointers), np.int64)
    path[-1] = prefixes.near_last.argmax()
    for t in range(len(path) - 1, 0, -1):
        path[t - 1] = pointers[t, path[t]]
    ways = prefixes.near[np.arange(len(path) - 1), path[1:]]  # predecessors that tie
    near = np.count_nonzero(ways) + np.count_nonzero(prefixes.near_last)
    score = prefixes.last[path[-1]].item()
    return Best(score, bool(near > len(path)), path, prefixes.best, pointers)


def _require_path(prefixes: Array, final: Array) -> None:
    require_path(torch.from_numpy(prefixes), torch.from_numpy(final))


def k_best(potentials: Potentials, k: int) -> list[Path]:
    """Return the k best paths, best first and all different, in O(T K^2 + k T log(k T)).

    The first is the path of `viterbi`. There are fewer than k if fewer are allowed.

    Raises:
        CrfvizError: `k` is less than 1 or no whole number.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> [(path.tags, path.score) for path in k_best(potentials, 3)]
        [([0, 0], 1.0), ([0, 1], 0.5), ([1, 1], 0.5)]
    """
    k = require_count("k", k)
    best, losses, paths = compiled.k_best(potentials.scores(), k) or _by_lists(potentials, k)
    total = log_partition(potentials)
    return [
        Path(TagIds(tags, potentials.tags), best - loss, probability(best - loss, total))
        for loss, tags in zip(losses, paths, strict=True)
    ]


def _by_lists(potentials: Potentials, k: int) -> tuple[float, Sequence[float], Sequence[list[int]]]:
    prefixes = allowed_prefixes(*potentials.scores())
    best = prefixes.last[prefixes.near_last.argmax()].item()
    losses, paths = zip(*islice(_paths(_losses(prefixes)), k), strict=True)
    return best, losses, paths


def best_first(potentials: Potentials) -> Iterator[list[int]]:
    """Return an iterator over the tags of all allowed paths, in the order of `k_best`.

    Raises:
        NoPathError: every path is forbidden.
    """
    for _, tags in _paths(_losses(allowed_prefixes(*potentials.scores()))):
        yield tags


def margin(potentials: Potentials) -> float | None:
    """Return the score gap of the two best paths, in nats; None if fewer than two are allowed.

    Example:
        >>> margin(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
        0.5
    """
    try:
        paths = k_best(potentials, 2)
    except NoPathError:
        return None
    return paths[0].score - paths[1].score if len(paths) == 2 else None


def _losses(prefixes: Prefixes) -> Array:
    """Return the loss of each predecessor against the best one, in the order of the walk back.

    Returns:
        (T, K to, K from) nats, inf for forbidden. Row 0 chooses the last tag: all its rows "to" are
        equal.
    """
    num_tokens, num_tags = prefixes.best.shape
    losses = np.empty((num_tokens, num_tags, num_tags))
    losses[0] = prefixes.last.max() - prefixes.last
    losses[0, :, prefixes.near_last] = 0.0
    with np.errstate(invalid="ignore"):  # in cells where all is forbidden, which no path reaches
        np.subtract(prefixes.arriving[::-1, :, None], prefixes.leading[::-1], out=losses[1:])
    np.copyto(losses[1:], 0.0, where=prefixes.near[::-1])
    return losses


@dataclass(frozen=True, eq=False)
class _Walk:
    """One path from the last word to the first, with the steps at which a detour may start."""

    loss: float  # score of the best path minus that of this path, nats
    tags: list[int]  # T+1, starting after the last word with a dummy tag
    steps: list[int]  # possible steps for a detour after its own last detour, cheapest first
    losses: list[float]  # loss of the second best choice at each of these, then inf


def _paths(losses: Array) -> Iterator[tuple[float, list[int]]]:
    """Yield all allowed paths with their loss against the best, least loss first."""
    pointers, second = _first_two(losses)
    heap: list[tuple[float, int, _Walk, int, int]] = []
    order = count()  # breaks ties of equal losses: first in, first out

    def walk(loss: float, tags: list[int], begin: int) -> _Walk:
        path = [row[tag] for row, tag in zip(second[begin:], tags[begin:], strict=False)]
        steps = sorted(range(len(path)), key=path.__getitem__)
        return _Walk(loss, tags, [begin + s for s in steps], [*(path[s] for s in steps), np.inf])

    def push(parent: _Walk, place: int, rank: int, loss: float) -> None:
        if loss < np.inf:
            heappush(heap, (parent.loss + loss, next(order), parent, place, rank))

    tags = follow(0, pointers)
    yield 0.0, tags[:0:-1]
    best = walk(0.0, tags, 0)
    push(best, 0, 1, best.losses[0])
    while heap:
        loss, _, parent, place, rank = heappop(heap)
        step = parent.steps[place]
        choices = [*losses[step, parent.tags[step]].tolist(), np.inf]
        detour, after = sorted(range(len(choices)), key=choices.__getitem__)[rank : rank + 2]
        tags = parent.tags[: step + 1] + follow(detour, pointers[step + 1 :])
        yield loss, tags[:0:-1]
        path = walk(loss, tags, step + 1)
        push(path, 0, 1, path.losses[0])
        push(parent, place, rank + 1, choices[after])
        if rank == 1:
            push(parent, place + 1, 1, parent.losses[place + 1])


def _first_two(losses: Array) -> tuple[list[list[int]], list[list[float]]]:
    """Return each tag's best choice at each step, and the loss of the second best, (T, K)."""
    first = (losses == 0.0).argmax(-1)
    steps, tags = np.indices(first.shape, sparse=True)
    others = losses.copy()
    others[steps, tags, first] = np.inf
    return first.tolist(), torch.from_numpy(others).amin(-1).tolist()
