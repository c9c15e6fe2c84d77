"""An averaged perceptron: a linear model over features of the words and the previous tag.

    emissions[t, k]      = sum of the weights of (feature, k) over the features of word t
    transitions[t, j, k] = weight of (previous tag j, k) + weight of (previous tag j, word t, k)

The transitions differ from step to step, because the last feature depends on the word. The weights
were moved until the best path was the right one; nothing made them logarithms of probabilities.

Source:
    Collins (2002), "Discriminative training methods for hidden Markov models".
"""

from __future__ import annotations

from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.perceptron.features import feature_keys, rows_of, word_keys
from crfviz.taggers.perceptron.storage import load_perceptron
from crfviz.taggers.tagger import PERCEPTRON
from crfviz.text.schemes import scheme_of


class PerceptronTagger(SentenceTagger):
    """A perceptron from a model folder; see `Tagger` for what it offers.

    Args:
        folder: with config.json and model.safetensors.

    Raises:
        ModelError: the folder is no perceptron; says which file and which field.
    """

    family = PERCEPTRON
    probabilistic = False

    def __init__(self, folder: Path) -> None:
        model = load_perceptron(folder)
        super().__init__(folder, model.tags, scheme_of(model.tags))
        self._model = model
        self.updates = model.updates  # "viterbi" or "greedy"

    def _score(self, words: tuple[str, ...]) -> Potentials:
        """Emissions, and a transition matrix for each step."""
        model = self._model
        rows = rows_of(feature_keys(words), model.features)  # (T, features)
        own = rows_of(word_keys(words[1:]), model.words)  # (T-1,)
        return Potentials(
            model.emissions[rows].sum(axis=1),
            model.transitions + model.word_transitions[own],
            model.start,
            model.end,
            tags=self.tags,
            tokens=words,
        )
