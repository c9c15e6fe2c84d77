"""Best paths of one sentence and of packed batches.

    best_t(k) = max_j [best_{t-1}(j) + w(j, k)] + e_t(k)

One sentence uses (T, K) tables and vectorised choices; a packed batch uses (N, K) rows and chooses
along one path per sentence. Ties follow the rule of `crfviz.chain.recursions`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.engine import compiled
from crfviz.chain.engine.packing import (
    Array,
    Ids,
    Packed,
    lowest_best,
    pick_per_row,
    scratch,
    take_rows,
    tie_bound,
)

Scores = NDArray[np.float64]
Choices = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Prefixes:
    """The best prefixes of a sentence and their continuations, in nats."""

    best: Scores  # (T, K) of the best prefix that ends in each tag
    leading: Scores  # (T-1, K to, K from) of the best prefix plus the transition to each next tag
    arriving: Scores  # (T-1, K) the maximum of `leading`; plus the emission it is `best`
    last: Scores  # (K,) of the best path that ends in each tag

    @cached_property
    def near(self) -> Choices:
        """(T-1, K to, K from) whether a choice ties with the best one."""
        near: Choices = self.leading >= tie_bound(self.arriving)[:, :, None]
        return near

    @cached_property
    def near_last(self) -> Choices:
        """(K,) whether the best path to each last tag ties with the best of all."""
        near: Choices = self.last >= tie_bound(self.last.max())
        return near


def best_prefixes(emissions: Scores, transitions: Scores, start: Scores, end: Scores) -> Prefixes:
    """Return the best prefixes of one sentence; transitions are (K, K) or (T-1, K, K)."""
    num_tokens, num_tags = emissions.shape
    leading = np.empty((num_tokens - 1, num_tags, num_tags))
    arriving = np.empty((num_tokens, num_tags))
    into = np.ascontiguousarray(transitions.swapaxes(-1, -2))
    np.add(into, emissions[:-1, None], out=leading)  # for all steps in one call
    add, largest = np.add, np.maximum.reduce
    before = arriving[0] = start
    for ways, found in zip(leading, arriving[1:], strict=True):
        add(ways, before, out=ways)
        before = largest(ways, 1, out=found)
    best = arriving + emissions
    return Prefixes(best, leading, arriving[1:], best[-1] + end)


def best_paths(
    emissions: Array, transitions: Array, start: Array, end: Array, packed: Packed
) -> tuple[Ids, Ids]:
    """Return the best paths of N rows of emissions, float64 arrays or tensors.

    Returns:
        (N,) the tag of each row, and (B,) whether each place has an allowed path.
    """
    scores = emissions, transitions, start, end
    if isinstance(emissions, np.ndarray) and (paths := compiled.best_paths(scores, packed)):
        return paths
    rows, steps, first, last = map(torch.as_tensor, scores)
    best = batch_prefixes(rows, steps, first, packed)
    return backtrace(best, steps.cpu().numpy(), last.cpu().numpy(), packed)


@torch.inference_mode()
def batch_prefixes(emissions: Tensor, transitions: Tensor, start: Tensor, packed: Packed) -> Scores:
    """Return (N, K) the score of the best prefix that ends in each tag at each row, nats.

    The table is valid until this thread calls the function again, which reuses the memory.
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
    scores: Scores = best.cpu().numpy()
    return scores


def backtrace(best: Scores, transitions: Scores, end: Scores, packed: Packed) -> tuple[Ids, Ids]:
    """Return the best paths from the table of `batch_prefixes`.

    Returns:
        (N,) the tag of each row, and (B,) whether each place has an allowed path.
    """
    ways, tags = _backtrace(best, transitions, end, packed, _first_max)
    chosen = pick_per_row(ways, tags)
    with np.errstate(invalid="ignore"):  # in cells where all is forbidden
        close = np.count_nonzero(ways >= tie_bound(chosen)[:, None])
    if close > len(ways):
        _, tags = _backtrace(best, transitions, end, packed, lowest_best)
    return tags[packed.mirrored], chosen[packed.first] > -np.inf


def _backtrace(
    best: Scores, transitions: Scores, end: Scores, packed: Packed, choose: Callable[[Scores], Ids]
) -> tuple[Scores, Ids]:
    """Walk from the last words to the first: (N, K) scores and (N,) tags chosen."""
    ways: Scores = take_rows(best, packed.mirrored)
    tags = np.empty(len(best), np.int64)
    ways[packed.first] += end
    tags[packed.first] = choose(ways[packed.first])
    into = np.ascontiguousarray(transitions.T)
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        column = ways[here]
        column += into.take(tags[before], 0)
        tags[here] = choose(column)
    return ways, tags


def _first_max(scores: Scores) -> Ids:
    return scores.argmax(1)
