"""What taggers have in common that read English words and come from a model folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.examples import EXAMPLES_FILE, Example, read_examples
from crfviz.taggers.tagger import Words, english_words, read_card, words_of


class FolderTagger:
    """Name, words, examples and card of a model folder.

    Args:
        folder: of the model.
        tags: K tag names, in id order.
        scheme: BIO where the rules of BIO act in decoding, else None.
    """

    observations: tuple[str, ...] | None = None  # any word

    def __init__(self, folder: Path, tags: tuple[str, ...], scheme: str | None) -> None:
        self.folder = folder
        self.name = folder.resolve().name
        self.tags = tags
        self.scheme = scheme

    def split(self, text: str) -> list[str]:
        """The words of a text; see `Tagger.split`."""
        return english_words(text)

    def reads(self, text: str) -> bool:  # noqa: ARG002 - it reads any
        """Whether it has scores for these words; see `Tagger.reads`."""
        return True

    def examples(self) -> list[Example]:
        """The examples of the folder, none where it has no such file."""
        path = self.folder / EXAMPLES_FILE
        return read_examples(path) if path.exists() else []

    def card(self) -> str:
        """The README.md of the folder; empty where there is none."""
        return read_card(self.folder)


class SentenceTagger(FolderTagger, ABC):
    """One that looks at a sentence at a time, on the CPU."""

    device = "cpu"

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        """The potentials of one sentence; see `Tagger.potentials`."""
        words = words_of(tokens)
        if not words:
            raise EmptySentenceError("a sentence needs at least one word, got none")
        chain = self._score(words)
        return constrain(chain) if constrained and self.scheme else chain

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """The potentials of many sentences, each as `potentials` gives them."""
        return [self.potentials(tokens, constrained=constrained) for tokens in sentences]

    @abstractmethod
    def _score(self, words: tuple[str, ...]) -> Potentials:
        """The potentials of at least one word, without the rules of a scheme."""
