"""An averaged perceptron: a linear model over features of the words and the previous tag.

    emissions[t, k]      = sum of the weights of (feature, k) over the features of word t
    transitions[t, j, k] = weight of (previous tag j, k) + weight of (previous tag j, word t, k)

The transitions differ from step to step, because the last feature depends on the word. The weights
were moved until the best path was the right one; nothing made them logarithms of probabilities.

Source:
    Collins (2002), "Discriminative training methods for hidden Markov models".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.examples import EXAMPLES_FILE, Example, read_examples
from crfviz.taggers.perceptron_features import feature_keys, rows_of, word_keys
from crfviz.taggers.perceptron_storage import load_perceptron
from crfviz.taggers.tagger import PERCEPTRON, Words, english_words, read_card, words_of
from crfviz.text.schemes import is_bio


class PerceptronTagger:
    """A perceptron from a model folder; see `Tagger` for what it offers.

    Args:
        folder: with config.json and model.safetensors.

    Raises:
        ModelError: the folder is no perceptron; says which file and which field.
    """

    family = PERCEPTRON
    observations = None  # any word
    probabilistic = False
    device = "cpu"

    def __init__(self, folder: Path) -> None:
        self._model = load_perceptron(folder)
        self.folder = folder
        self.name = folder.resolve().name
        self.tags = self._model.tags
        self.scheme = "BIO" if is_bio(self.tags) else None
        self.updates = self._model.updates  # "viterbi" or "greedy"

    def split(self, text: str) -> list[str]:
        """The words of a text; see `Tagger.split`."""
        return english_words(text)

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        """The scores of one sentence, with a transition matrix for each step."""
        words = words_of(tokens)
        if not words:
            raise EmptySentenceError("a sentence needs at least one word, got none")
        model = self._model
        rows = rows_of(feature_keys(words), model.features)  # (T, features)
        own = rows_of(word_keys(words[1:]), model.words)  # (T-1,)
        chain = Potentials(
            model.emissions[rows].sum(axis=1),
            model.transitions + model.word_transitions[own],
            model.start,
            model.end,
            tags=self.tags,
            tokens=words,
        )
        return constrain(chain) if constrained and self.scheme else chain

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """The scores of many sentences, each as `potentials` gives them."""
        return [self.potentials(tokens, constrained=constrained) for tokens in sentences]

    def examples(self) -> list[Example]:
        """The examples of the folder, none where it has no such file."""
        path = self.folder / EXAMPLES_FILE
        return read_examples(path) if path.exists() else []

    def card(self) -> str:
        """The README.md of the folder; empty where there is none."""
        return read_card(self.folder)
