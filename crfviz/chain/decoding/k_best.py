"""The k best paths, found by leaving the best one.

Walk the best path back from its end. At every word one can take another predecessor than the
backpointer names, lose the gap between the two candidates, and follow backpointers again: a detour.
Paths leave a heap in order of what their detours lose together, and each pushes its cheapest
possible next detours, so that every allowed path is reached exactly once.

Source: Lawler, "A procedure for computing the K best solutions to discrete optimization problems"
(1972).
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.paths import Path, probability
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import follow, near_best
from crfviz.exceptions import CrfvizError, NoPathError


def k_best(potentials: Potentials, k: int) -> list[Path]:
    """The k best paths, best first and all different, in O(T K^2 log K + k T log(k T)).

    The first is the path of `viterbi`. There are fewer than k if fewer are allowed.

    Raises:
        CrfvizError: `k` is less than 1.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> [(path.tags, path.score) for path in k_best(potentials, 3)]
        [([0, 0], 1.0), ([0, 1], 0.5), ([1, 1], 0.5)]
    """
    if k < 1:
        raise CrfvizError(f"k must be at least 1, got {k}")
    best = viterbi(potentials)
    total = log_partition(potentials)
    losses, choices = _detours(potentials, best.best)
    return [
        Path(tags, best.score - loss, probability(best.score - loss, total))
        for loss, tags in islice(_walks(losses, choices), k)
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


def _detours(potentials: Potentials, best: Tensor) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What each choice of a predecessor loses, cheapest first, in the order of the walk back.

    Returns:
        losses (T, K to, K from) in nats, inf for forbidden, and the tags chosen, in the same shape.
        Row 0 chooses the last tag; there it makes no difference where one comes from.
    """
    with torch.no_grad():
        final = (best[-1] + potentials.end)[:, None].expand(1, -1, potentials.num_tags)
        candidates = torch.cat([best[:-1, :, None] + potentials.transitions, final])
        candidates = candidates.transpose(-1, -2).flip(0)
        gaps = candidates.amax(-1, keepdim=True) - candidates
        gaps = gaps.masked_fill(near_best(candidates, -1), 0.0)
        losses, choices = gaps.sort(dim=-1, stable=True)
    return losses.numpy(), choices.numpy()


def _walks(
    losses: NDArray[np.float64], choices: NDArray[np.int64]
) -> Iterator[tuple[float, list[int]]]:
    """All allowed paths with what they lose against the best, least loss first."""
    num_tokens, num_tags = losses.shape[:2]
    pointers = choices[..., 0].tolist()
    heap: list[tuple[float, int, float, list[int], int, int]] = []
    order = count()  # decides between equal losses: first found, first out

    def push(loss_so_far: float, walk: list[int], step: int, rank: int) -> None:
        if rank < num_tags:
            loss = loss_so_far + float(losses[step, walk[step], rank])
            if loss < np.inf:
                heappush(heap, (loss, next(order), loss_so_far, walk, step, rank))

    walk = follow(0, pointers)  # begins behind the last word, at no tag in particular
    yield 0.0, walk[:0:-1]
    for step in range(num_tokens):
        push(0.0, walk, step, 1)
    while heap:
        loss, _, loss_before, parent, step, rank = heappop(heap)
        detour = int(choices[step, parent[step], rank])
        walk = parent[: step + 1] + follow(detour, pointers[step + 1 :])
        yield loss, walk[:0:-1]
        push(loss_before, parent, step, rank + 1)
        for later in range(step + 1, num_tokens):
            push(loss, walk, later, 1)
