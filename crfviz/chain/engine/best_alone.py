"""The best paths of one sentence: loops of NumPy over vectors, and all choices in one go."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import tie_bound

Scores = NDArray[np.float64]
Choices = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Prefixes:
    """The best prefixes of a sentence, and the ways on from them, in nats."""

    best: Scores  # (T, K) of the best prefix that ends in each tag
    leading: Scores  # (T-1, K to, K from) of the best prefix with the way to each tag after it
    arriving: Scores  # (T-1, K) the best of these ways; with the emission it is `best`
    last: Scores  # (K,) of the best path that ends in each tag

    @cached_property
    def near(self) -> Choices:
        """(T-1, K to, K from) where a way ties with the best one to its tag."""
        found: Choices = self.leading >= tie_bound(self.arriving)[:, :, None]
        return found

    @cached_property
    def near_last(self) -> Choices:
        """(K,) where a path ties with the best one."""
        found: Choices = self.last >= tie_bound(self.last.max())
        return found


def best_prefixes(emissions: Scores, transitions: Scores, start: Scores, end: Scores) -> Prefixes:
    """Those of one sentence; its transitions are (K, K), or (T-1, K, K)."""
    num_tokens, num_tags = emissions.shape
    leading = np.empty((num_tokens - 1, num_tags, num_tags))
    arriving = np.empty((num_tokens, num_tags))
    into = np.ascontiguousarray(transitions.swapaxes(-1, -2))
    np.add(into, emissions[:-1, None], out=leading)  # for all steps at once, not one by one
    add, largest = np.add, np.maximum.reduce
    before = arriving[0] = start
    for ways, found in zip(leading, arriving[1:], strict=True):
        add(ways, before, out=ways)
        before = largest(ways, 1, out=found)
    best = arriving + emissions
    return Prefixes(best, leading, arriving[1:], best[-1] + end)


def first_best_path(
    emissions: NDArray[Any], steps: NDArray[Any], start: NDArray[Any], end: NDArray[Any]
) -> list[int]:
    """The best path alone, in the precision of the scores; the lowest tag among exact equals.

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
