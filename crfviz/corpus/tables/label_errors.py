"""Suspicious gold tags, found by CRFs that never saw the sentence that they judge.

A CRF over word features is fitted on four fifths of the sentences and gives the marginals of the
rest. A tag is the more suspicious, the more probable another tag is than the given one. The
marginals are means over several divisions into fifths, because one model errs by chance.

Source:
    Northcutt, Jiang and Chuang, "Confident Learning" (2021): labels judged out of sample.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.forward_backward import posteriors
from crfviz.chain.validation import require_count
from crfviz.corpus.tables.evaluation import Tagging, as_sentence
from crfviz.corpus.training.cross_validation import FOLDS, folds_of
from crfviz.corpus.training.feature_crf import fit_feature_crf, partly_tagged
from crfviz.corpus.training.labelled import order_tags
from crfviz.exceptions import CrfvizError, FormatError, errors_at
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.text.formats import read_sentences

ROUNDS = 3  # divisions into fifths
MIN_SENTENCES = 2


@dataclass(frozen=True)
class SuspectLabel:
    """A gold tag and a tag that is more probable, by models that did not see the sentence."""

    sentence: int  # from 0
    position: int  # of the word, from 0
    word: str
    given: str  # the gold tag
    likely: str  # the most probable other tag
    difference: float  # p(likely) - p(given), in (0, 1]: marginals


def label_errors(
    gold: str | Path | Iterable[Tagging],
    *,
    rounds: int = ROUNDS,
    report: Callable[[float], object] = lambda _: None,
) -> list[SuspectLabel]:
    """Return the words whose gold tag is not the most probable one, most suspicious first.

    Takes five fits a round. Equal sentences are judged together.

    Args:
        gold: a file, or sentences with tags, at least two different ones.
        rounds: divisions into fifths whose marginals are averaged; each takes five fits.
        report: called with the finished share, in [0, 1]; an exception in it ends the run.

    Raises:
        FormatError: a sentence has no tags.
        CrfvizError: there are fewer than two different sentences.
    """
    rounds = require_count("rounds", rounds)
    taggings = read_sentences(gold) if isinstance(gold, str | Path) else gold
    sentences = []
    for number, each in enumerate(taggings):
        with errors_at(f"sentence {number}"):
            sentences.append(as_sentence(each))
            if sentences[-1].tags is None:
                raise FormatError("expected gold tags, got none")
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

            model = fit_feature_crf(learnt, tags, share)
            tagger = PerceptronTagger(Path(), model)
            chains = tagger.potentials_batch([sentences[filled[n]].tokens for n in held])
            for n, tables in zip(held, posteriors(chains), strict=True):
                marginals[filled[n]] = marginals.get(filled[n], 0.0) + tables.marginals.numpy()
    report(1.0)
    found = []
    for number, table in marginals.items():
        for position, (row, given) in enumerate(
            zip(table, sentences[number].tags or (), strict=True)
        ):
            own = tags.index(given)
            others = np.where(np.arange(len(tags)) == own, -np.inf, row)
            likely = int(others.argmax())
            difference = float(others[likely] - row[own]) / rounds
            if difference > 0.0:
                word = sentences[number].tokens[position]
                found.append(SuspectLabel(number, position, word, given, tags[likely], difference))
    return sorted(found, key=lambda each: (-each.difference, each.sentence, each.position))
