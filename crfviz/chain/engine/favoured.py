"""The best paths of many chains at once in which all that lies on a target path is worth more.

The chains have the same transitions, start and end. What a target's word is worth more goes into
the emissions; what its steps are worth more is one way more to each of its tags:

    best_t(k) = max(max_j [best_{t-1}(j) + w(j, k)], [k = y_t] (best_{t-1}(y_{t-1}) + w + bonus))
                + e_t(k)

Of paths that tie the one with the lowest tags from the end is taken, to the last bit and no more.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import Ids

Scores = NDArray[np.float64]


class Favoured:
    """N chains with their targets, longest first.

    Args:
        emissions: of each chain, (T, K).
        targets: of each chain, T tag ids.
        transitions: (K, K), or (T-1, K, K) for one chain.
        start: (K,).
        end: (K,).
    """

    def __init__(
        self,
        emissions: Sequence[Scores],
        targets: Sequence[Sequence[int]],
        transitions: Scores,
        start: Scores,
        end: Scores,
    ) -> None:
        self._order = sorted(range(len(targets)), key=lambda i: -len(targets[i]))
        self._lengths = np.array([len(targets[i]) for i in self._order])
        self._rows = np.arange(len(targets))
        alive = np.bincount(self._lengths)[::-1].cumsum()[::-1]  # at least so long, by length
        self._alive = alive[1:].tolist()  # how many chains have a word at t
        self._steps, self._start, self._end = transitions, start, end
        size = (self._lengths[0], len(targets))
        self._words = np.zeros((*size, emissions[0].shape[1]))
        self._targets = np.zeros(size, np.int64)
        for place, i in enumerate(self._order):
            self._words[: len(targets[i]), place] = emissions[i]
            self._targets[: len(targets[i]), place] = targets[i]

    def best_paths(self, on_words: Scores, on_steps: Scores) -> list[list[int]]:
        """The best path of each chain, with so much more for each word and step of its target.

        Args:
            on_words: (N,) nats.
            on_steps: (N,) nats; start and end are steps, too.
        """
        bonus = on_steps[self._order]
        best = self._best_prefixes(on_words[self._order], bonus)
        tags = self._walked_back(best, bonus)
        paths: list[list[int]] = [[]] * len(self._order)
        for place, i in enumerate(self._order):
            paths[i] = tags[: self._lengths[place], place].tolist()
        return paths

    def _best_prefixes(self, on_words: Scores, bonus: Scores) -> Scores:
        """(T, N, K) nats; behind the end of a chain it is nothing."""
        best = self._words.copy()
        words = np.arange(len(best))[:, None]
        best[words, self._rows, self._targets] += on_words
        best[0] += self._start
        best[0, self._rows, self._targets[0]] += bonus
        for t in range(1, len(best)):
            n, step = self._alive[t], self._step(t)
            rows, before, tag = self._rows[:n], self._targets[t - 1, :n], self._targets[t, :n]
            ways = (best[t - 1, :n].T[:, :, None] + step[:, None]).max(0)  # from, chain, to
            favoured = best[t - 1, rows, before] + step[before, tag] + bonus[:n]
            ways[rows, tag] = np.maximum(ways[rows, tag], favoured)
            best[t, :n] += ways
        return best

    def _walked_back(self, best: Scores, bonus: Scores) -> Ids:
        """(T, N) tags of the best paths; behind the end of a chain they are nothing."""
        tags: Ids = np.zeros(self._targets.shape, np.int64)
        last = self._lengths - 1
        ways = best[last, self._rows] + self._end
        ways[self._rows, self._targets[last, self._rows]] += bonus
        tags[last, self._rows] = ways.argmax(1)
        for t in range(len(best) - 1, 0, -1):
            n, step = self._alive[t], self._step(t)
            ways = best[t - 1, :n] + step[:, tags[t, :n]].T
            on_target = tags[t, :n] == self._targets[t, :n]
            ways[self._rows[:n], self._targets[t - 1, :n]] += np.where(on_target, bonus[:n], 0.0)
            tags[t - 1, :n] = ways.argmax(1)
        return tags

    def _step(self, t: int) -> Scores:
        """(K, K) transitions to the word at t."""
        return self._steps if self._steps.ndim == 2 else self._steps[t - 1]
