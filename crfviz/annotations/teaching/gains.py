"""What a tagger gained by learning more: the same sentences before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.paths import terms
from crfviz.corpus.metrics import Rate, accuracy, entity_scores
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

SEED = 0  # of the bootstrap


@dataclass(frozen=True)
class Score:
    """How good a tagger is by Viterbi; shares are in [0, 1]."""

    words: Rate  # that are right
    sentences: Rate  # that are right as a whole
    entity_f1: Rate | None  # None without BIO tags
    log_likelihood: float  # log p(right tags | words) per word, nats


@dataclass(frozen=True)
class Gain:
    """Some sentences, tagged before and after."""

    name: str  # which sentences they are
    num_sentences: int
    num_words: int
    before: Score
    after: Score
    righted: int  # words that were wrong and are right now
    broken: int  # words that were right and are wrong now


def gain(name: str, sentences: Sequence[Sentence], before: Tagger, after: Tagger) -> Gain:
    """Tag sentences with two taggers.

    Args:
        name: which sentences they are.
        sentences: at least one, with tags that both taggers have.
        before: a tagger.
        after: another, with the same tags.
    """
    gold = [list(sentence.tags or ()) for sentence in sentences]
    (old, score_before), (new, score_after) = (
        _tagged(tagger, sentences, gold) for tagger in (before, after)
    )
    words = [
        (was == right, now == right)
        for rows in zip(gold, old, new, strict=True)
        for right, was, now in zip(*rows, strict=True)
    ]
    return Gain(
        name=name,
        num_sentences=len(sentences),
        num_words=len(words),
        before=score_before,
        after=score_after,
        righted=words.count((False, True)),
        broken=words.count((True, False)),
    )


def _tagged(
    tagger: Tagger, sentences: Sequence[Sentence], gold: list[list[str]]
) -> tuple[list[list[str]], Score]:
    chains = tagger.potentials_batch([sentence.tokens for sentence in sentences])
    guess = [[tagger.tags[tag] for tag in best_path(chain)] for chain in chains]
    log_likelihood = 0.0
    for chain, tags in zip(chains, gold, strict=True):
        score = sum(terms(chain, [tagger.tags.index(tag) for tag in tags]).all())
        log_likelihood += score - forward_backward(chain).log_partition
    rates = accuracy(gold, guess)
    dice = np.random.default_rng(SEED)
    return guess, Score(
        words=rates.tokens,
        sentences=rates.sentences,
        entity_f1=entity_scores(gold, guess, dice).f1 if tagger.scheme else None,
        log_likelihood=log_likelihood / sum(map(len, gold)),
    )


def gain_of(record: Mapping[str, Any]) -> Gain:
    """A gain out of its JSON, which is that of `dataclasses.asdict`."""
    scores = {side: _score_of(record[side]) for side in ("before", "after")}
    return Gain(**{**record, **scores})


def _score_of(record: Mapping[str, Any]) -> Score:
    rates: dict[str, Any] = {
        name: Rate(**value) if isinstance(value, Mapping) else value
        for name, value in record.items()
    }
    return Score(**rates)
