"""The k best paths, found by leaving the best one.

Walk the best path back from its end. At every word one can take another predecessor than the
backpointer names, lose the gap between the two candidates, and follow backpointers again: a detour.
Paths leave a heap in order of what their detours lose together. Each path that leaves pushes the
cheapest detour from itself, and what comes next after the detour that it was made by: the next best
predecessor at that word, and the next cheapest word for a detour. So every allowed path is reached
exactly once, and the heap holds three times as many as have left it, at most.

Source: Lawler, "A procedure for computing the K best solutions to discrete optimization problems"
(1972).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice

import numpy as np
import torch

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.engine.best_alone import leading, near_best
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.paths import Path, probability
from crfviz.chain.potentials import Array, Potentials, require_count
from crfviz.chain.recursions import follow
from crfviz.exceptions import NoPathError


def k_best(potentials: Potentials, k: int) -> list[Path]:
    """The k best paths, best first and all different, in O(T K^2 + k T log(k T)).

    The first is the path of `viterbi`. There are fewer than k if fewer are allowed.

    Raises:
        CrfvizError: `k` is less than 1 or no whole number.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> [(path.tags, path.score) for path in k_best(potentials, 3)]
        [([0, 0], 1.0), ([0, 1], 0.5), ([1, 1], 0.5)]
    """
    k = require_count("k", k)
    best = viterbi(potentials)
    total = log_partition(potentials)
    losses = _losses(potentials, best.best.numpy())
    return [
        Path(tags, best.score - loss, probability(best.score - loss, total))
        for loss, tags in islice(_paths(losses), k)
    ]


def margin(potentials: Potentials) -> float | None:
    """Nats between the best path and the second; None where there are not two.

    Example:
        >>> margin(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
        0.5
    """
    try:
        paths = k_best(potentials, 2)
    except NoPathError:
        return None
    return paths[0].score - paths[1].score if len(paths) == 2 else None


def _losses(potentials: Potentials, best: Array) -> Array:
    """What each choice of a predecessor loses against the best one, in the order of the walk back.

    Returns:
        (T, K to, K from) nats, inf for forbidden. Row 0 chooses the last tag; there it makes no
        difference where one comes from.
    """
    _, transitions, _, end = potentials.scores()
    final = np.broadcast_to(best[-1] + end, (1, len(end), len(end)))
    candidates = np.concatenate([final, leading(best, transitions)[::-1]])
    best = torch.from_numpy(candidates).amax(-1, keepdim=True).numpy()
    with np.errstate(invalid="ignore"):  # where nothing is allowed, which no path comes to
        gaps: Array = best - candidates
    gaps[near_best(candidates)] = 0.0
    return gaps


@dataclass(frozen=True, eq=False)
class _Walk:
    """One path from the last word to the first, with the words where a detour may leave it."""

    loss: float  # against the best path, nats
    tags: list[int]  # T+1: begins behind the last word, at no tag in particular
    steps: list[int]  # behind its own last detour, the cheapest one to leave at first
    losses: list[float]  # of the second best choice at each of these, and inf behind them


def _paths(losses: Array) -> Iterator[tuple[float, list[int]]]:
    """All allowed paths with what they lose against the best, least loss first."""
    pointers, second = _first_two(losses)
    heap: list[tuple[float, int, _Walk, int, int]] = []
    order = count()  # decides between equal losses: first found, first out

    def walk(loss: float, tags: list[int], begin: int) -> _Walk:
        found = second[np.arange(begin, len(losses)), tags[begin:-1]]
        steps = found.argsort(kind="stable")
        return _Walk(loss, tags, (steps + begin).tolist(), [*found[steps].tolist(), np.inf])

    def push(parent: _Walk, place: int, rank: int, loss: float) -> None:
        if loss < np.inf:
            heappush(heap, (parent.loss + loss, next(order), parent, place, rank))

    best = walk(0.0, follow(0, pointers), 0)
    yield 0.0, best.tags[:0:-1]
    push(best, 0, 1, best.losses[0])
    while heap:
        loss, _, parent, place, rank = heappop(heap)
        step = parent.steps[place]
        choices = np.append(losses[step, parent.tags[step]], np.inf)
        detour, after = choices.argsort(kind="stable")[rank : rank + 2].tolist()
        rest = follow(detour, pointers[step + 1 :])
        found = walk(loss, parent.tags[: step + 1] + rest, step + 1)
        yield loss, found.tags[:0:-1]
        push(found, 0, 1, found.losses[0])
        push(parent, place, rank + 1, float(choices[after]))
        if rank == 1:
            push(parent, place + 1, 1, parent.losses[place + 1])


def _first_two(losses: Array) -> tuple[list[list[int]], Array]:
    """The best choice at each step from each tag, and what the second best loses, (T, K)."""
    first = (losses == 0.0).argmax(-1)
    steps, tags = np.indices(first.shape, sparse=True)
    others = losses.copy()
    others[steps, tags, first] = np.inf
    return first.tolist(), torch.from_numpy(others).amin(-1).numpy()
