"""Sentences with given scores: a tagger that knows those of its file, and their beginnings."""

from __future__ import annotations

from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import UnknownObservationError
from crfviz.taggers.brought.storage import load_imported
from crfviz.taggers.examples import GIVEN, Example
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.tagger import PERCEPTRON

MOST_EXAMPLES = 50  # listed; they travel with every redraw
DRAWN = 120  # words of an example; a link has to hold them


class ImportedTagger(SentenceTagger):
    """A tagger from a folder of given scores; see `Tagger` for what it offers.

    Args:
        folder: with config.json and model.safetensors; see `imported_storage`.

    Raises:
        ModelError: the folder is no model; says which file and which field.
    """

    def __init__(self, folder: Path) -> None:
        stored = load_imported(folder)
        super().__init__(folder, stored.tags, stored.scheme)
        self.family = stored.family
        self.probabilistic = stored.family != PERCEPTRON
        self._stored = stored
        self._numbers = {words: number for number, words in enumerate(stored.words)}

    def split(self, text: str) -> list[str]:
        """What stands between blanks: the words were split already."""
        return text.split()

    def reads(self, text: str) -> bool:
        """Whether it is a sentence of the file, or the beginning of one."""
        return self._longer(tuple(self.split(text))) is not None

    def examples(self) -> list[Example]:
        """The first sentences of the file."""
        known = list(zip(self._stored.words, self._stored.gold, strict=True))[:MOST_EXAMPLES]
        return [
            Example(
                text=" ".join(words[:DRAWN]),
                tokens=words[:DRAWN],
                claim=f"sentence {number}: “{' '.join(words[:8])}{' …' if words[8:] else ''}”",
                kind=GIVEN,
                gold=gold and gold[:DRAWN],
            )
            for number, (words, gold) in enumerate(known, start=1)
        ]

    def _score(self, words: tuple[str, ...]) -> Potentials:
        number = self._numbers.get(words, self._longer(words))
        if number is None:
            known = self._stored.words
            raise UnknownObservationError(
                f"{self.name} has scores for the sentences of its file only ({len(known)} of "
                f"them); “{' '.join(words)[:60]}” is none. Choose one under “Try one with a "
                f"point”, or type the first words of one, such as “{' '.join(known[0][:12])}”"
            )
        return self._stored.chain(number).first_words(len(words))

    def _longer(self, words: tuple[str, ...]) -> int | None:
        """The number of a sentence that begins with these words."""
        known = enumerate(self._stored.words)
        return next((n for n, each in known if words and each[: len(words)] == words), None)
