"""The best paths of a batch: maxima forward without a choice, then the choices along one path each.

    best_t(k) = max_j [best_{t-1}(j) + w(j, k)] + e_t(k)

The choice of a tag before costs as much as a maximum again, and is needed on the best paths alone,
not for all tags. There the first maximum is taken, and where anything comes near it the sentence is
walked again by the rule of ties of `crfviz.chain.recursions`.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.engine import compiled
from crfviz.chain.engine.arrays import Array, Ids, chosen, lowest_best, take, tie_bound
from crfviz.chain.engine.memory import scratch
from crfviz.chain.engine.packed import Packed

Scores = NDArray[np.float64]


def best_paths(
    emissions: Array, transitions: Array, start: Array, end: Array, packed: Packed
) -> tuple[Ids, Ids]:
    """The best paths of N rows of emissions, float64 arrays or tensors.

    Returns:
        (N,) tag of each row, and (B,) whether a path of each place is allowed.
    """
    scores = emissions, transitions, start, end
    if isinstance(emissions, np.ndarray) and (found := compiled.best_paths(scores, packed)):
        return found
    rows, steps, first, last = map(torch.as_tensor, scores)
    best = best_prefixes(rows, steps, first, packed)
    return walked_back(best, steps.cpu().numpy(), last.cpu().numpy(), packed)


@torch.inference_mode()
def best_prefixes(emissions: Tensor, transitions: Tensor, start: Tensor, packed: Packed) -> Scores:
    """(N, K) score of the best prefix that ends in each tag at each row, nats.

    The table is to be read before this thread asks for the next one, which has the same memory.
    """
    num_rows, num_tags = emissions.shape
    best = scratch("best prefixes", (num_rows, num_tags), emissions)
    room = scratch("ways to a tag", (num_tags, packed.first.stop, num_tags), emissions)
    sizes = [here.stop - here.start for here in packed.columns]
    words, tables = torch.split(emissions, sizes), torch.split(best, sizes)
    leaving, moves = torch.split(best.t().unsqueeze(2), sizes, 1), transitions.unsqueeze(1)
    torch.add(words[0], start, out=tables[0])
    for size, before, word, reached in zip(
        sizes[1:], leaving[:-1], words[1:], tables[1:], strict=True
    ):
        if size < before.shape[1]:
            before, room = before.narrow(1, 0, size), room.narrow(1, 0, size)
        torch.add(before, moves, out=room)  # (K from, n, K to)
        torch.amax(room, 0, out=reached).add_(word)
    found: Scores = best.cpu().numpy()
    return found


def walked_back(best: Scores, transitions: Scores, end: Scores, packed: Packed) -> tuple[Ids, Ids]:
    """The best paths by the table of `best_prefixes`.

    Returns:
        (N,) tag of each row, and (B,) whether a path of each place is allowed.
    """
    ways, tags = _walked(best, transitions, end, packed, _first_best)
    taken = chosen(ways, tags)
    with np.errstate(invalid="ignore"):  # where nothing is allowed
        close = np.count_nonzero(ways >= tie_bound(taken)[:, None])
    if close > len(ways):
        _, tags = _walked(best, transitions, end, packed, lowest_best)
    return tags[packed.mirrored], taken[packed.first] > -np.inf


def _walked(
    best: Scores, transitions: Scores, end: Scores, packed: Packed, choose: Callable[[Scores], Ids]
) -> tuple[Scores, Ids]:
    """From the last words to the first: (N, K) scores of the ways back, and (N,) tags chosen."""
    ways: Scores = take(best, packed.mirrored)
    tags = np.empty(len(best), np.int64)
    ways[packed.first] += end
    tags[packed.first] = choose(ways[packed.first])
    into = np.ascontiguousarray(transitions.T)
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        column = ways[here]
        column += into.take(tags[before], 0)
        tags[here] = choose(column)
    return ways, tags


def _first_best(scores: Scores) -> Ids:
    return scores.argmax(1)
