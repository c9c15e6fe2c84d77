"""Sentences with their scores as arrays; chains are made of them when they are asked for.

All chains at once would take a while, and each would have its own copy of what all share.
"""

from collections.abc import Sequence
from typing import overload

from crfviz.chain.potentials import Array, Potentials

Gold = tuple[str, ...] | None  # T tag names; None where nobody knows them
Scores = tuple[Array, Array, Array, Array]  # emissions, transitions, start, end; as in Potentials


class GivenScores(Sequence[Potentials]):
    """Sentences, no two of them with the same words.

    Args:
        tags: K tag names.
    """

    def __init__(self, tags: tuple[str, ...]) -> None:
        self.tags = tags
        self.words: list[tuple[str, ...]] = []
        self.scores: list[Scores] = []
        self.gold: list[Gold] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def add(self, words: tuple[str, ...], scores: Scores, gold: Gold) -> None:
        """Add a sentence; of two with the same words the later one is found by them."""
        self._numbers[words] = len(self.words)
        self.words.append(words)
        self.scores.append(scores)
        self.gold.append(gold)

    def knows(self, words: tuple[str, ...]) -> bool:
        """Whether there is a sentence of these words."""
        return words in self._numbers

    def number(self, words: tuple[str, ...]) -> int | None:
        """Which sentence has these words, or begins with them."""
        if words in self._numbers:
            return self._numbers[words]
        known = enumerate(self.words)
        return next((n for n, each in known if words and each[: len(words)] == words), None)

    def tables(self, place: int) -> list[Array]:
        """The different arrays of all sentences at a place of `Scores`."""
        return list({id(scores[place]): scores[place] for scores in self.scores}.values())

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, number: int) -> Potentials: ...

    @overload
    def __getitem__(self, number: slice) -> list[Potentials]: ...

    def __getitem__(self, number: int | slice) -> Potentials | list[Potentials]:
        """The chain of a sentence.

        Raises:
            CrfvizError: its scores are none.
        """
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        return Potentials(*self.scores[number], tags=self.tags, tokens=self.words[number])
