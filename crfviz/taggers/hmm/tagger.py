"""A hidden Markov model that was counted on tagged sentences."""

from __future__ import annotations

from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.hmm.estimate import estimate
from crfviz.taggers.hmm.storage import load_hmm
from crfviz.taggers.tagger import HMM
from crfviz.text.schemes import scheme_of


class HmmTagger(SentenceTagger):
    """A counted HMM from a model folder; see `Tagger` for what it offers.

    Args:
        folder: with config.json, vocabulary.json and model.safetensors.

    Raises:
        ModelError: the folder is no such model; says which file and which field.
    """

    family = HMM
    probabilistic = True

    def __init__(self, folder: Path) -> None:
        stored = load_hmm(folder)
        super().__init__(folder, stored.tags, scheme_of(stored.tags))
        self._events = stored.events
        self._chain = estimate(stored.tags, stored.events, stored.counts, stored.smoothing)

    def _score(self, words: tuple[str, ...]) -> Potentials:
        """The logarithms of the probabilities."""
        return self._chain.potentials([self._events.event(word) for word in words], words)
