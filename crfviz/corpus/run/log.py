"""The errors of a run: all of them counted, and a bounded number kept with their sentences.

What is kept is enough for every list of an ordinary file. Of a file with more errors than
`MOST_KEPT` the first ones are kept, and the most suspicious ones, so that memory does not grow.

An error is put down to a transition if its kind (`crfviz.chain.questions.triage`) is transition,
both or constraint: to the step that speaks most against gold, by the move that the best path makes
there (too strong) and the move that gold makes there (too weak, or forbidden).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from crfviz.corpus.run.errors import EntitySuspect, Error, Move
from crfviz.text.sentences import Sentence

MOST_KEPT = 10_000  # errors, suspects and suspected entities, each
OF_TRANSITIONS = ("transition", "both", "constraint")  # kinds that are put down to a step

Item = TypeVar("Item")
Key = TypeVar("Key", bound=tuple[float, ...])


@dataclass
class ErrorTotals:
    """Counts of errors, as they come."""

    errors: Counter[str] = field(default_factory=Counter)  # by kind
    words: Counter[str] = field(default_factory=Counter)  # wrong ones, by the kind of their error
    pairs: dict[tuple[str, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )  # words by gold and predicted tag, by kind
    moves: dict[tuple[Move, Move], list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0.0])
    )  # chosen and gold move: errors put down to them, and the sum of their step gaps

    @property
    def total(self) -> int:
        """All errors."""
        return self.errors.total()

    def add(self, error: Error) -> None:
        """Count one more."""
        kind = error.triage.kind
        self.errors[kind] += 1
        self.words[kind] += len(error.gold)
        for pair in zip(error.gold, error.predicted, strict=True):
            self.pairs[pair][kind] += 1
        if kind in OF_TRANSITIONS:
            cell = self.moves[error.chosen_move, error.gold_move]
            cell[0] += 1
            cell[1] += error.step_gap


class Smallest(Generic[Item, Key]):
    """The `most` items with the smallest keys of all that were added.

    >>> kept = Smallest(2, key=lambda n: (n,))
    >>> for n in (5, 1, 4, 3, 2):
    ...     kept.add(n)
    >>> kept.items()
    [1, 2]
    """

    def __init__(self, most: int, key: Callable[[Item], Key]) -> None:
        self._most = most
        self._key = key
        self._items: list[Item] = []

    def add(self, item: Item) -> None:
        """Take one more; now and then those that are too many go."""
        self._items.append(item)
        if len(self._items) > 2 * self._most:
            self._items = self.items()

    def items(self) -> list[Item]:
        """The items, smallest key first; those with equal keys in the order they came in."""
        return sorted(self._items, key=self._key)[: self._most]


@dataclass
class ErrorLog:
    """Errors as they come."""

    most: int = MOST_KEPT
    totals: ErrorTotals = field(default_factory=ErrorTotals)
    first: list[Error] = field(default_factory=list)  # in the order of the file
    sentences: dict[int, Sentence] = field(default_factory=dict)  # of all that is kept, by number
    suspected: int = 0  # entities on one side only, listed or not

    def __post_init__(self) -> None:
        self._suspects: Smallest[Error, tuple[float, ...]] = Smallest(self.most, suspicion)
        self._entities: Smallest[EntitySuspect, tuple[float, ...]] = Smallest(
            self.most, lambda suspect: suspect.order
        )

    @property
    def suspects(self) -> list[Error]:
        """In the order in which gold should be looked at."""
        return self._suspects.items()

    @property
    def entity_suspects(self) -> list[EntitySuspect]:
        """In the order in which gold should be looked at."""
        return self._entities.items()

    def add(
        self, sentence: Sentence, errors: Sequence[Error], entities: Sequence[EntitySuspect] = ()
    ) -> None:
        """The errors of one sentence, and what is doubtful about its entities."""
        for error in errors:
            self.totals.add(error)
            if len(self.first) < self.most:
                self.first.append(error)
            self._suspects.add(error)
            self.sentences[error.sentence] = sentence
        for suspect in entities:
            self.suspected += 1
            self._entities.add(suspect)
            self.sentences[suspect.sentence] = sentence
        if len(self.sentences) > 8 * self.most:
            self._forget()

    def _forget(self) -> None:
        """Drop the sentences of what is no longer kept."""
        kept = {error.sentence for error in (*self.first, *self.suspects)}
        kept |= {suspect.sentence for suspect in self.entity_suspects}
        self.sentences = {number: self.sentences[number] for number in kept}


def suspicion(error: Error) -> tuple[float, ...]:
    """Errors in the order in which gold should be looked at have rising keys: least probable first.

    Where the model is sure of something else, either the model or the annotator is wrong.
    """
    return error.gold_probability, -error.predicted_probability, error.sentence, error.first
