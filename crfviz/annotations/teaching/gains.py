"""Gains by further training: scores on the same sentences before and after."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.chain.forward_backward import posteriors
from crfviz.corpus.metrics import Rate, accuracy, entity_scores
from crfviz.corpus.table import markdown
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

SEED = 0  # seed of the bootstrap
TAUGHT = "taught"  # name of the training sentences


@dataclass(frozen=True)
class Score:
    """Scores of a tagger by Viterbi; shares are in [0, 1]."""

    words: Rate  # share of correct words
    sentences: Rate  # share of completely correct sentences
    entity_f1: Rate | None  # None without BIO tags
    log_likelihood: float  # log p(gold tags | words) per word, nats


@dataclass(frozen=True)
class Gain:
    """Scores on some sentences before and after further training."""

    name: str  # name of the sentences
    num_sentences: int
    num_words: int
    before: Score
    after: Score
    righted: int  # words that were wrong and are now correct
    broken: int  # words that were correct and are now wrong


@dataclass(frozen=True)
class Taught:
    """A taught model with its gains."""

    name: str  # name of the new model
    folder: str
    model: str  # the base model
    method: str
    num_sentences: int  # finished sentences in the training
    gains: tuple[Gain, ...]  # on these, held-out and shipped sentences, if any
    seconds: float
    num_begun: int = 0  # partly tagged sentences in the training


def gain(name: str, sentences: Sequence[Sentence], before: Tagger, after: Tagger) -> Gain:
    """Return the gain on at least one gold-tagged sentence; both taggers have the same tags."""
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


def got_worse(taught: Taught) -> str:
    """Describe where the new model is worse, apart from the taught sentences.

    The measure is entity F1, or token accuracy without BIO tags. Empty if it is nowhere worse.
    """
    told = []
    for gain in (each for each in taught.gains if each.name != TAUGHT):
        before, after = (score.entity_f1 or score.words for score in (gain.before, gain.after))
        if after.value < before.value:
            what = "F1" if gain.before.entity_f1 else "accuracy"
            told.append(
                f"{what} {100 * before.value:.1f} → {100 * after.value:.1f} % on "
                f"{gain.num_sentences} sentences ({gain.name})"
            )
    return ", ".join(told)


def gains_table(gains: tuple[Gain, ...]) -> str:
    """Return the figures before and after as a Markdown table."""
    f1 = any(gain.before.entity_f1 for gain in gains)
    names = ["entity F1, %"] if f1 else []
    header = ["sentences", "words", "", *names, "token accuracy, %", "sentence accuracy, %"]
    rows = [[*header, "log p", "words righted, broken"]]
    for gain in gains:
        changed = f"{gain.righted}, {gain.broken}"
        for when, score, last in (("before", gain.before, ""), ("after", gain.after, changed)):
            shares = [score.entity_f1] if score.entity_f1 else []
            rates = map(_percent, (*shares, score.words, score.sentences))
            size = [f"{gain.name} ({gain.num_sentences:,})", f"{gain.num_words:,}"]
            rows.append([*size, when, *rates, f"{score.log_likelihood:.3f}", last])
    return markdown(rows) + "\n\n`log p`: of the right tags, per word, in nats."


def _tagged(
    tagger: Tagger, sentences: Sequence[Sentence], gold: list[list[str]]
) -> tuple[list[list[str]], Score]:
    chains = tagger.potentials_batch([sentence.tokens for sentence in sentences])
    guess = [[tagger.tags[tag] for tag in path] for path in best_paths(chains)]
    log_likelihood = sum(
        chain.score(tags) - posterior.log_partition
        for chain, tags, posterior in zip(chains, gold, posteriors(chains), strict=True)
    )
    rates, dice = accuracy(gold, guess), np.random.default_rng(SEED)
    return guess, Score(
        words=rates.tokens,
        sentences=rates.sentences,
        entity_f1=entity_scores(gold, guess, dice).f1 if tagger.scheme else None,
        log_likelihood=log_likelihood / sum(map(len, gold)),
    )


def _percent(rate: Rate) -> str:
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"
