"""Predictions of another program as a tagger without scores."""

from collections.abc import Iterable, Sequence

import torch

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.taggers.folder import NOWHERE, SentenceTagger
from crfviz.taggers.tagger import CRF
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Sentence


class Answers(SentenceTagger):
    """A tagger without scores that knows the predicted tags of some sentences.

    Args:
        name: shown on the pages.
        gold: the sentences with their gold tags.
        answers: the same sentences with the program's predicted tags.
    """

    family = CRF
    probabilistic = False

    def __init__(self, name: str, gold: Iterable[Sentence], answers: Sequence[Sentence]) -> None:
        used = {tag for each in (*gold, *answers) for tag in each.tags or ()}
        tags = sorted(used, key=lambda tag: (tag != OUTSIDE, tag))
        super().__init__(NOWHERE, tuple(tags), None)
        self.name, self.answers = name, answers

    def chain(self, number: int) -> Potentials:
        """Return a chain whose best path is the predicted tags of sentence `number`, from 0."""
        answer = self.answers[number]
        K, names = len(self.tags), {tag: k for k, tag in enumerate(self.tags)}
        scores = torch.zeros(len(answer.tokens), K, dtype=torch.float64)
        for t, tag in enumerate(answer.tags or ()):
            scores[t, names[tag]] = 1.0
        return Potentials(scores, torch.zeros(K, K), tags=self.tags, tokens=answer.tokens)

    def _score(self, words: tuple[str, ...]) -> Potentials:
        raise CrfvizError(f"{self.name} has tags and no scores: {' '.join(words[:3])} … has none")
