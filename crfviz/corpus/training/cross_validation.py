"""Cross-validation of a training method, for data too small for a test file.

The sentences are divided into five parts; each part is tagged by a model trained on the other four.
So the scores are those of a model trained on four fifths of the sentences.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.corpus.metrics import Rate, accuracy, entity_scores
from crfviz.exceptions import CrfvizError
from crfviz.taggers.perceptron import Perceptron, PerceptronTagger
from crfviz.text.sentences import Sentence

FOLDS = 5
SEED = 0  # seed of the parts and of the bootstrap


@dataclass(frozen=True)
class CrossValidated:
    """Scores on held-out folds: words, whole sentences and entities."""

    words: Rate
    sentences: Rate
    entity_f1: Rate | None  # None without BIO tags
    num_sentences: int


def cross_validated(
    sentences: Sequence[Sentence],
    fit: Callable[[Sequence[Sentence]], Perceptron],
) -> CrossValidated:
    """Train on four fifths of the data, five times, and score the held-out fifths.

    Args:
        sentences: tagged sentences; those with the same words are in the same part.
        fit: trains a model.

    Raises:
        CrfvizError: there are fewer than two different sentences.
    """
    gold, guess, bio = [], [], False
    for rest, part in _folds(sentences):
        model = fit(rest)
        tagger = PerceptronTagger(Path(), model)
        bio = tagger.scheme is not None
        paths = best_paths(tagger.potentials_batch([sentence.tokens for sentence in part]))
        guess += [[model.tags[tag] for tag in path] for path in paths]
        gold += [list(sentence.tags or ()) for sentence in part]
    rates = accuracy(gold, guess)
    f1 = entity_scores(gold, guess, np.random.default_rng(SEED)).f1 if bio else None
    return CrossValidated(rates.tokens, rates.sentences, f1, len(gold))


def _folds(sentences: Sequence[Sentence]) -> Iterator[tuple[list[Sentence], list[Sentence]]]:
    """Yield at most `FOLDS` pairs of training and held-out sentences."""
    for rest, part in folds_of([sentence.tokens for sentence in sentences], SEED):
        yield [sentences[n] for n in rest], [sentences[n] for n in part]


def folds_of(
    sentences: Sequence[tuple[str, ...]], seed: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the numbers of training and held-out sentences, in at most `FOLDS` parts.

    Raises:
        CrfvizError: there are fewer than two different sentences.
    """
    distinct = list(dict.fromkeys(sentences))
    if len(distinct) < 2:
        raise CrfvizError("cross-validation needs two different sentences, got fewer")
    random.Random(seed).shuffle(distinct)
    number = min(FOLDS, len(distinct))
    part_of = {tokens: place % number for place, tokens in enumerate(distinct)}
    parts = [part_of[tokens] for tokens in sentences]
    for part in range(number):
        held = [n for n, own in enumerate(parts) if own == part]
        yield [n for n, own in enumerate(parts) if own != part], held
