"""What an HMM sees of a word, and from counts of it to probabilities.

It sees a form that it knows, or a class of forms that it does not. An unknown word belongs to
exactly one class, the most specific that is listed: its shape with its last three letters, two,
one, its shape alone, or "" for all that is left. So "a word of this class" is an event like a known
word, and p(event | tag) sums to one over all events.

Let an event x be a known word or a class of unknown ones.

    p(t | class) = (n(t, class) + a · p(t | parent class)) / (n(class) + a)      over rare words
    p(t | word)  = (n(t, word) + b · p(t | its class)) / (n(word) + b)
    p(word)      = n(word) / (N + U),   p(unknown) = U / (N + U),   U words were seen once
    p(x | t)     = p(t | x) · p(x) / p(t),      p(t) = Σ_x p(t | x) · p(x)

so that p(x | t) sums to one over the events of every tag. Next tags, and the end, have c added to
every count.

Source:
    Brants (2000), section 2.3, for unknown words by their endings, and for Bayes' rule; Good (1953)
    for the share of the unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crfviz.taggers.features import SHAPES, form, shape
from crfviz.taggers.textbook.markov import HiddenMarkov

LONGEST_ENDING = 3  # letters
ANY = ""  # the class of all unknown words
HAPAX = 0.5  # added to the words of a class that were seen once, so that no class is impossible
EVERY_TAG = 0.1  # added to the tags of rare words at large, likewise

Counts = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Events:
    """Known forms, then classes, in id order."""

    words: tuple[str, ...]
    classes: tuple[str, ...]  # ANY is the first, and general ones go before special ones

    def event(self, word: str) -> int:
        """The id of a word's event; a word that is known in lower case alone counts as that."""
        known = self._word_ids
        spelled = form(word)
        for candidate in (spelled, spelled.lower()):
            if candidate in known:
                return known[candidate]
        return len(self.words) + self.word_class(spelled)

    def word_class(self, spelled: str) -> int:
        """Index into `classes` of the most specific class of a form."""
        return next(
            self._class_ids[name]
            for name in reversed(class_names(spelled))
            if name in self._class_ids
        )

    @cached_property
    def _word_ids(self) -> Mapping[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def _class_ids(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.classes)}


def class_names(spelled: str) -> list[str]:
    """All classes of a form, the most general first.

    >>> class_names("Doing")
    ['', 'title', 'title -g', 'title -ng', 'title -ing']
    """
    kind, lower = SHAPES[shape(spelled)], spelled.lower()
    longest = min(LONGEST_ENDING, len(lower) - 1)
    return [ANY, kind, *(f"{kind} -{lower[-n:]}" for n in range(1, longest + 1))]


def parent(name: str) -> str:
    """The class one step more general.

    >>> parent("title -ing"), parent("title -g"), parent("title")
    ('title -ng', 'title', '')
    """
    kind, _, ending = name.partition(" -")
    if not ending:
        return ANY
    return f"{kind} -{ending[1:]}" if len(ending) > 1 else kind


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
    by_class = np.empty_like(counts.classes)
    for index, name in enumerate(events.classes):
        row = counts.classes[index]
        if name == ANY:
            by_class[index] = (row + EVERY_TAG) / (row + EVERY_TAG).sum()
            continue
        above = parent(name)
        while above not in ids:
            above = parent(above)
        by_class[index] = (row + weight * by_class[ids[above]]) / (row.sum() + weight)
    return by_class
