"""Suspicious gold tags, found by CRFs that never saw the sentence that they judge.

A CRF over word features is fitted on four fifths of the sentences and gives the marginals of the
rest. A tag is the more suspicious, the larger the log odds of the most probable other tag against
it. Their difference would find fewer: among nearly sure cases it is always close to 1.

Few steps are taken, and rare features have no weight. This costs no errors found, and takes a
fraction of the time of a model that is to be kept.

Source:
    Northcutt, Jiang and Chuang, "Confident Learning" (2021): labels judged out of sample.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from crfviz.chain.forward_backward import posteriors
from crfviz.chain.validation import require_count
from crfviz.corpus.tables.evaluation import Tagging, gold_sentences
from crfviz.corpus.training.cross_validation import FOLDS, folds_of
from crfviz.corpus.training.feature_crf import fit_feature_crf, partly_tagged
from crfviz.corpus.training.labelled import order_tags
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.text.files import abbreviate
from crfviz.text.sentences import Sentence

ROUNDS = 1  # divisions into fifths; a second one finds hardly more
MIN_COUNT = 2  # of a feature in the training sentences
MAX_STEPS = 25  # of L-BFGS
RIDGE = 1.0
MIN_SENTENCES = 2
SMALLEST = 1e-300  # smallest probability whose logarithm is taken


@dataclass(frozen=True)
class SuspectLabel:
    """A gold tag and a tag that is more probable, by models that did not see the sentence."""

    sentence: int  # from 0
    position: int  # of the word, from 0
    word: str
    given: str  # the gold tag
    likely: str  # the most probable other tag
    log_odds: float  # log p(likely) - log p(given), above 0, in nats: marginals


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch to one thread: the tables are so small that further threads mostly wait."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def tagged_sentences(gold: str | Path | Iterable[Tagging]) -> list[Sentence]:
    """Return the sentences of a file, or the given ones, which all have tags.

    Raises:
        FormatError: a sentence, or one of its words, has no tag; says which.
    """
    sentences = gold_sentences(gold)
    for number, sentence in enumerate(sentences, start=1):
        if sentence.tags is None:
            raise FormatError(f"sentence {number}: expected gold tags, got none")
        if UNSET in sentence.tags:
            word = abbreviate(sentence.tokens[sentence.tags.index(UNSET)])
            raise FormatError(f"sentence {number}: expected a tag for {word}, got {UNSET!r}")
    return sentences


@one_thread()
def label_errors(
    gold: str | Path | Iterable[Tagging],
    *,
    rounds: int = ROUNDS,
    report: Callable[[float], object] = lambda _: None,
) -> list[SuspectLabel]:
    """Return the words whose gold tag is not the most probable one, most suspicious first.

    Equal sentences are judged together. 600 sentences of EWT, of 5 to 25 words, take ten seconds of
    one core. Of 20 tags changed at random, the first 60 words have 18 or 19 (four draws).

    Args:
        gold: a file, or sentences with tags, at least two different ones.
        rounds: divisions into fifths whose marginals are averaged; each takes five fits.
        report: called with the finished share, in [0, 1]; an exception in it ends the run.

    Raises:
        FormatError: a sentence has no tags.
        CrfvizError: there are fewer than two different sentences.
    """
    rounds = require_count("rounds", rounds)
    sentences = tagged_sentences(gold)
    filled = [number for number, sentence in enumerate(sentences) if sentence.tokens]
    tags = order_tags([tag for sentence in sentences for tag in sentence.tags or ()])
    if len({sentences[number].tokens for number in filled}) < MIN_SENTENCES:
        raise CrfvizError("label errors need two different sentences, got fewer")
    marginals: dict[int, NDArray[np.float64]] = {}
    fits = rounds * FOLDS
    for done in range(rounds):
        for fold, (rest, held) in enumerate(folds_of([sentences[n].tokens for n in filled], done)):
            number = done * FOLDS + fold
            learnt = [partly_tagged(sentences[filled[n]], tags) for n in rest]

            def share(part: float, before: int = number) -> None:
                report((before + part) / fits)

            model = fit_feature_crf(
                learnt, tags, share, RIDGE, min_count=MIN_COUNT, max_steps=MAX_STEPS
            )
            tagger = PerceptronTagger(Path(), model)
            chains = tagger.potentials_batch([sentences[filled[n]].tokens for n in held])
            for n, tables in zip(held, posteriors(chains), strict=True):
                marginals[filled[n]] = marginals.get(filled[n], 0.0) + tables.marginals.numpy()
    report(1.0)
    found = []
    for number, table in marginals.items():
        logs = np.log(np.maximum(table / rounds, SMALLEST))
        for position, (row, given) in enumerate(
            zip(logs, sentences[number].tags or (), strict=True)
        ):
            own = tags.index(given)
            others = np.where(np.arange(len(tags)) == own, -np.inf, row)
            likely = int(others.argmax())
            log_odds = float(others[likely] - row[own])
            if log_odds > 0.0:
                word = sentences[number].tokens[position]
                found.append(SuspectLabel(number, position, word, given, tags[likely], log_odds))
    return sorted(found, key=lambda each: (-each.log_odds, each.sentence, each.position))
