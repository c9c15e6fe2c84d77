"""Textbook chains: a few states and observations, with every number written down.

`models/textbook/NAME.json` holds one; its README says what stands in it. The words of such a tagger
are the names of the observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError, UnknownObservationError
from crfviz.taggers.examples import Example
from crfviz.taggers.tagger import Words, words_of
from crfviz.taggers.textbook.storage import TEXTBOOK, load_textbook


class TextbookTagger:
    """A chain from a JSON file; see `Tagger` for what it offers.

    Args:
        file: NAME.json.

    Raises:
        ModelError: the file is no textbook chain; says which field.
    """

    probabilistic = True
    scheme = None
    device = "cpu"

    def __init__(self, file: Path) -> None:
        self._book = load_textbook(file)
        self.folder = file.parent
        self.name = f"{TEXTBOOK}/{file.stem}"
        self.family = self._book.family
        self.tags = self._book.chain.states
        self._ids = {name: index for index, name in enumerate(self._book.chain.observations)}

    @property
    def observations(self) -> tuple[str, ...]:
        """The words there are."""
        return self._book.chain.observations

    def split(self, text: str) -> list[str]:
        """What stands between blanks: observations are names, not English."""
        return text.split()

    def reads(self, text: str) -> bool:
        """Whether every word is the name of an observation."""
        return all(word in self._ids for word in self.split(text))

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:  # noqa: ARG002 - no rules to drop
        """The logarithms of the probabilities for a sequence of observations.

        Raises:
            EmptySentenceError: there is no observation.
            UnknownObservationError: the chain does not have one of them; says which and where.
        """
        words = words_of(tokens)
        if not words:
            raise EmptySentenceError("a sequence needs at least one observation, got none")
        for position, word in enumerate(words, start=1):
            if word not in self._ids:
                raise UnknownObservationError(
                    f"{self.name} has no observation {word!r} (number {position}): "
                    f"type some of {', '.join(self.observations)}, with blanks between them"
                )
        return self._book.chain.potentials([self._ids[word] for word in words], words)

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """The same for many sequences."""
        return [self.potentials(tokens, constrained=constrained) for tokens in sentences]

    def examples(self) -> list[Example]:
        """The sequences of the file that show something."""
        return list(self._book.examples)

    def card(self) -> str:
        """Title, what it is about, its source and all its numbers, as markdown."""
        return self._book.card
