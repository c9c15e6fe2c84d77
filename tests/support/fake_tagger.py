"""A tagger that reads its scores from a table of words, without training."""

from pathlib import Path

import torch

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.taggers.tagger import CRF, words_of
from crfviz.text.tokenizer import tokenize


class FakeTagger:
    """A tagger with scores from `words`, {word: {tag: score}}; missing scores are 0."""

    name = "fake"
    device = "cpu"
    family = CRF
    probabilistic = True
    observations = None

    def __init__(self, tags, words, transitions=None, *, scheme=None, folder=Path("fake")):
        self.tags = tuple(tags)
        self.words = words
        self.scheme = scheme
        self.folder = folder
        self.transitions = torch.zeros(len(tags), len(tags), dtype=torch.float64)
        for (before, after), score in (transitions or {}).items():
            self.transitions[self.tags.index(before), self.tags.index(after)] = score

    def potentials(self, tokens, *, constrained=True):
        words = words_of(tokens)
        emissions = [[self.words.get(w, {}).get(tag, 0.0) for tag in self.tags] for w in words]
        chain = Potentials(emissions, self.transitions, tags=self.tags, tokens=words)
        return constrain(chain) if constrained and self.scheme else chain

    def potentials_batch(self, sentences, *, constrained=True):
        return [self.potentials(tokens, constrained=constrained) for tokens in sentences]

    def examples(self):
        return []

    def tagged(self):
        return []

    def card(self):
        return ""

    def reads(self, text):  # noqa: ARG002 - as `Tagger.reads`
        return True

    def split(self, text):
        return [token.text for token in tokenize(text)]
