"""From counts to the probabilities of an HMM.

Let an event x be a known word or a class of unknown ones.

    p(t | class) = (n(t, class) + a · p(t | parent class)) / (n(class) + a)      over rare words
    p(t | word)  = (n(t, word) + b · p(t | its class)) / (n(word) + b)
    p(word)      = n(word) / (N + U),   p(unknown) = U / (N + U),   U words were seen once
    p(x | t)     = p(t | x) · p(x) / p(t),      p(t) = Σ_x p(t | x) · p(x)

so that p(x | t) sums to one over the events of every tag. Next tags, and the end, have c added to
every count.

Source:
    Brants (2000) for the endings and Bayes' rule; Good (1953) for the share of the unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.taggers.hmm.words import ANY, Events, parent
from crfviz.taggers.textbook.markov import HiddenMarkov

Counts = NDArray[np.float64]

HAPAX = 0.5  # added to the words of a class that were seen once, so that no class is impossible
EVERY_TAG = 0.1  # added to the tags of rare words at large, likewise


@dataclass(frozen=True)
class Smoothing:
    """How much is believed before anything was counted; chosen on dev."""

    classes: float = 2.0  # a: weight of the more general class
    words: float = 0.3  # b: weight of a word's class
    transitions: float = 0.1  # c: added to every count


@dataclass(frozen=True, eq=False)
class TagCounts:
    """What was counted in tagged sentences."""

    words: Counts  # (V, K) known forms
    word_classes: NDArray[np.int64]  # (V,) index of each form's class
    classes: Counts  # (C, K) tokens of rare words, in each of their classes
    hapaxes: Counts  # (C,) forms seen once, in their most specific class
    start: Counts  # (K,)
    transitions: Counts  # (K, K)
    end: Counts  # (K,)


def estimate(
    tags: tuple[str, ...], events: Events, counts: TagCounts, smoothing: Smoothing
) -> HiddenMarkov:
    """The smoothed probabilities; observations are the events, a class as its name in brackets."""
    by_class = _by_class(events, counts, smoothing.classes)
    totals = counts.words.sum(axis=1, keepdims=True)
    prior = smoothing.words * by_class[counts.word_classes]
    by_word = (counts.words + prior) / (totals + smoothing.words)
    unknown = counts.hapaxes.sum()
    share = (counts.hapaxes + HAPAX) / (counts.hapaxes + HAPAX).sum()
    weights = np.concatenate([totals[:, 0], unknown * share]) / (totals.sum() + unknown)
    joint = np.concatenate([by_word, by_class]) * weights[:, None]  # (V + C, K)
    leaving = np.column_stack([counts.transitions, counts.end]) + smoothing.transitions
    leaving /= leaving.sum(axis=1, keepdims=True)
    start = counts.start + smoothing.transitions
    return HiddenMarkov(
        states=tags,
        observations=(*events.words, *(f"<{name}>" for name in events.classes)),
        start=start / start.sum(),
        transitions=leaving[:, :-1],
        end=leaving[:, -1],
        emissions=(joint / joint.sum(axis=0)).T,
    )


def _by_class(events: Events, counts: TagCounts, weight: float) -> Counts:
    """p(tag | class), (C, K); a class comes after its parent."""
    ids = {name: index for index, name in enumerate(events.classes)}
    found = np.empty_like(counts.classes)
    for index, name in enumerate(events.classes):
        row = counts.classes[index]
        if name == ANY:
            found[index] = (row + EVERY_TAG) / (row + EVERY_TAG).sum()
            continue
        above = parent(name)
        while above not in ids:
            above = parent(above)
        found[index] = (row + weight * found[ids[above]]) / (row.sum() + weight)
    return found
