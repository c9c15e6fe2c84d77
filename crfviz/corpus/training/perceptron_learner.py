"""The averaged perceptron while it learns: decode a sentence, move the weights, remember the mean.

Where the decoded path is not the right one, the features of the right path go up by one and those
of the decoded path down by one. What is kept in the end is the mean of the weights over all
sentences seen,

    average = weights - moved / clock,    moved += clock * change  at every change,

which costs nothing where nothing changes.

Trained by Viterbi, both paths are whole paths: the update is structured. Trained greedily, each
decision is one of its own, and the previous tag is the one that was chosen, right or wrong.

Source:
    Collins (2002), figures 1 and 2; the clock is from Daumé (2006), section 2.1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.taggers.perceptron.features import Rows
from crfviz.taggers.perceptron.storage import Perceptron

Table = NDArray[np.float32]
Path = list[int]


@dataclass(frozen=True, eq=False)
class Numbered:
    """One sentence as rows of the weights, with its right path."""

    features: Rows  # (T, features); the last row of the table is for the unknown
    words: Rows  # (T,)
    tags: Path  # T tag ids


@dataclass(eq=False)
class Weights:
    """A table of weights with what its average needs; the last row stays zero."""

    table: Table  # the weights now
    moved: NDArray[np.float64]  # sum of clock * change

    @classmethod
    def zeros(cls, *shape: int) -> Weights:
        """All weights zero."""
        return cls(np.zeros(shape, dtype=np.float32), np.zeros(shape))

    def move(self, cell: tuple[object, ...], change: float, clock: int) -> None:
        """Add to a cell, or to several; nothing is added twice where a row is named twice."""
        self.table[cell] += change  # type: ignore[index]  # NumPy's stubs want literal tuples
        self.moved[cell] += change * clock  # type: ignore[index]

    def average(self, clock: int) -> Table:
        """The mean of the weights over the sentences seen."""
        return (self.table - self.moved / max(clock, 1)).astype(np.float32)


class Learner:
    """All weights of a perceptron with K tags, all zero at first.

    Args:
        num_tags: K.
        num_features: rows for features of a word.
        num_words: rows for "previous tag x word".
        updates: "viterbi" or "greedy".
    """

    def __init__(self, num_tags: int, num_features: int, num_words: int, updates: str) -> None:
        K = num_tags
        self.emissions = Weights.zeros(num_features + 1, K)
        self.word_transitions = Weights.zeros(num_words + 1, K, K)
        self.transitions = Weights.zeros(K + 1, K + 1)  # START is the last row, END the last column
        self.outside = K
        self.structured = updates == "viterbi"
        self.decode = decode_viterbi if self.structured else decode_greedily
        self.clock = 0  # sentences seen

    def see(self, sentence: Numbered) -> int:
        """Decode a sentence and learn from it; returns how many words were wrong."""
        tables = (self.emissions, self.word_transitions, self.transitions)
        path = self.decode(*scores(sentence, *(weights.table for weights in tables)))
        wrong = sum(a != b for a, b in zip(path, sentence.tags, strict=True))
        if wrong:
            self._move(sentence, path)
            for weights in (self.emissions, self.word_transitions):
                weights.table[-1] = 0.0
                weights.moved[-1] = 0.0
        self.clock += 1
        return wrong

    def average(self, known: Perceptron) -> Perceptron:
        """The averaged weights, with the tags and keys of `known`."""
        transitions = self.transitions.average(self.clock)
        return Perceptron(
            tags=known.tags,
            updates=known.updates,
            features=known.features,
            words=known.words,
            emissions=self.emissions.average(self.clock),
            word_transitions=self.word_transitions.average(self.clock),
            transitions=transitions[:-1, :-1],
            start=transitions[-1, :-1],
            end=transitions[:-1, -1],
        )

    def _move(self, sentence: Numbered, path: Path) -> None:
        right = sentence.tags
        for t in range(len(right)):
            if path[t] != right[t]:
                rows = sentence.features[t]
                self.emissions.move((rows, right[t]), 1.0, self.clock)
                self.emissions.move((rows, path[t]), -1.0, self.clock)
        steps = [self.outside, *right, self.outside], [self.outside, *path, self.outside]
        for t in range(len(right) + self.structured):  # greedy decisions never see the end
            before = steps[0][t] if self.structured else steps[1][t]
            good, bad = (before, steps[0][t + 1]), (steps[1][t], steps[1][t + 1])
            if good != bad:
                self._step(sentence, t, good, 1.0)
                self._step(sentence, t, bad, -1.0)

    def _step(self, sentence: Numbered, t: int, step: tuple[int, int], change: float) -> None:
        """Move the weights of the step into word t; the first and the last have no word."""
        self.transitions.move(step, change, self.clock)
        if 0 < t < len(sentence.tags):
            self.word_transitions.move((sentence.words[t], *step), change, self.clock)


Decode = Callable[[Table, Table, Table, Table], Path]


def scores(
    sentence: Numbered, emissions: Table, word_transitions: Table, transitions: Table
) -> tuple[Table, Table, Table, Table]:
    """Emissions (T, K), steps (T-1, K, K), start and end (K,) of a sentence under some weights."""
    return (
        emissions[sentence.features].sum(axis=1),
        transitions[:-1, :-1] + word_transitions[sentence.words[1:]],
        transitions[-1, :-1],
        transitions[:-1, -1],
    )


def decode_viterbi(emissions: Table, steps: Table, start: Table, end: Table) -> Path:
    """The best path; plain NumPy, for the inner loop of training."""
    columns = np.arange(len(start))
    best = start + emissions[0]
    pointers = []
    for step, emission in zip(steps, emissions[1:], strict=True):
        candidates = best[:, None] + step
        pointer = candidates.argmax(axis=0)
        pointers.append(pointer)
        best = candidates[pointer, columns] + emission
    path = [int((best + end).argmax())]
    for pointer in reversed(pointers):
        path.append(int(pointer[path[-1]]))
    return path[::-1]


def decode_greedily(emissions: Table, steps: Table, start: Table, end: Table) -> Path:
    """Each tag in turn, left to right."""
    emissions = emissions.copy()
    emissions[-1] += end
    path = [int((start + emissions[0]).argmax())]
    for step, emission in zip(steps, emissions[1:], strict=True):
        path.append(int((step[path[-1]] + emission).argmax()))
    return path
