"""The errors of a run: all of them counted, and a bounded number kept with their sentences.

What is kept is enough for every list of an ordinary file. Of a file with more errors than
`MOST_KEPT` the first ones are kept, and the most suspicious ones, so that memory does not grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from crfviz.corpus.run.errors import Error
from crfviz.corpus.run.smallest import Smallest
from crfviz.corpus.run.suspects import EntitySuspect
from crfviz.corpus.run.totals import ErrorTotals, suspicion
from crfviz.text.sentences import Sentence

MOST_KEPT = 10_000  # errors, suspects and suspected entities, each


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
