"""A hidden Markov model that was counted on tagged sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.examples import EXAMPLES_FILE, Example, read_examples
from crfviz.taggers.hmm_estimate import estimate
from crfviz.taggers.hmm_storage import load_hmm
from crfviz.taggers.tagger import HMM, Words, english_words, read_card, words_of
from crfviz.text.schemes import is_bio


class HmmTagger:
    """A counted HMM from a model folder; see `Tagger` for what it offers.

    Args:
        folder: with config.json, vocabulary.json and model.safetensors.

    Raises:
        ModelError: the folder is no such model; says which file and which field.
    """

    family = HMM
    observations = None  # any word
    probabilistic = True
    device = "cpu"

    def __init__(self, folder: Path) -> None:
        stored = load_hmm(folder)
        self._events = stored.events
        self._chain = estimate(stored.tags, stored.events, stored.counts, stored.smoothing)
        self.folder = folder
        self.name = folder.resolve().name
        self.tags = stored.tags
        self.scheme = "BIO" if is_bio(self.tags) else None

    def split(self, text: str) -> list[str]:
        """The words of a text; see `Tagger.split`."""
        return english_words(text)

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        """The logarithms of the probabilities for one sentence."""
        words = words_of(tokens)
        if not words:
            raise EmptySentenceError("a sentence needs at least one word, got none")
        chain = self._chain.potentials([self._events.event(word) for word in words], words)
        return constrain(chain) if constrained and self.scheme else chain

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """The same for many sentences."""
        return [self.potentials(tokens, constrained=constrained) for tokens in sentences]

    def examples(self) -> list[Example]:
        """The examples of the folder, none where it has no such file."""
        path = self.folder / EXAMPLES_FILE
        return read_examples(path) if path.exists() else []

    def card(self) -> str:
        """The README.md of the folder; empty where there is none."""
        return read_card(self.folder)
