"""Agreement of two annotators: Cohen's kappa over words, exact entities, and disagreements.

    annotators_agreement(store.annotations(document), "anna", "ben")

    kappa = (p_observed - p_expected) / (1 - p_expected)

where p_observed is the share of words with the same tag, and p_expected the share if both drew tags
at random with their own frequencies. The kappa of one tag is that of the binary choice between this
tag and all others.

Only sentences that both have finished count. Words are compared by their characters in the text;
words that only one annotator has are counted as `words_apart`.

The 95 % intervals are percentiles over samples of whole sentences: the tags of one sentence depend
on each other, especially if a model decoded them. The usual standard error of kappa assumes
independent words, so its interval is too narrow.

Annotators who correct the same model agree more than those who start without proposals.

Source: Cohen (1960); kappa of one category: Fleiss, Levin and Paik (2003), section 18.1; F1 of
entities, which have no true negatives: Hripcsak and Rothschild (2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crfviz.annotations.curation import Word, disputes
from crfviz.annotations.records import Annotation, Item, Pair
from crfviz.corpus.metrics import percentiles, resampled
from crfviz.corpus.tables.evaluation import Tagging, as_sentence
from crfviz.exceptions import CrfvizError, ShapeError, errors_at
from crfviz.text.schemes import is_bio, spans
from crfviz.text.sentences import joined

SEED = 0  # seed of the bootstrap

_Both = tuple[Item, Annotation, Annotation]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A number from -1 to 1 with its 95 % interval.

    The value is None if both annotators used a single tag; the interval is also None with fewer
    than two sentences.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SharedWord:
    """A word that two annotators split alike, with both tags."""

    item: Item
    position: int  # index among the words of the first annotator
    word: str
    start: int  # character offset in the text of the item
    tags: tuple[str, str]  # of the first and second annotator


@dataclass(frozen=True)
class Agreement:
    """Figures of agreement, and the words with two tags."""

    annotators: tuple[str, str]
    sentences: int  # finished by both
    words: int  # with the same characters in both versions
    words_apart: int  # words of either annotator that the other split differently
    observed: float | None  # share of the words with the same tag; None without a word
    kappa: Estimate
    kappa_by_tag: dict[str, Estimate]  # by tag name
    entity_f1: Estimate | None  # F1 of exact type and ends; None without BIO tags
    entity_f1_by_type: dict[str, float]
    disagreements: tuple[SharedWord, ...]  # words with two tags, in file order
    entity_disagreements: tuple[SharedWord, ...] = ()  # entities, as `SharedWord`s with texts
    only: Mapping[str, str] = field(default_factory=dict)  # tag that one annotator used: who


def annotators_agreement(pairs: Sequence[Pair], first: str, second: str) -> Agreement:
    """Compare the finished sentences of two annotators, given all annotations.

    Raises:
        CrfvizError: both names are the same.
    """
    if first == second:
        raise CrfvizError(f"agreement needs two annotators, got {first!r} twice")
    both = _finished_by_both(pairs, first, second)
    words = [list(_shared_words(*each)) for each in both]
    counters = [Counter(word.tags for word in sentence) for sentence in words]
    used = sorted(set().union(*counters))  # P pairs of tags
    counts = _table([[counter[tags] for tags in used] for counter in counters], len(used))
    sampled = _samples(counts)

    def kappa(tag: str | None = None) -> Estimate:
        """Return kappa over all tags, or of one tag against the rest."""
        named = [tags if tag is None else tuple(name == tag for name in tags) for tags in used]
        return _estimate(_kappa(named, counts.sum(axis=0, keepdims=True)), _kappa(named, sampled))

    number, same = int(counts.sum()), [one == other for one, other in used]
    entities = [(_entities(one), _entities(other)) for _, one, other in both]
    bio = is_bio([tag for _, *annotations in both for a in annotations for tag in a.final])
    return Agreement(
        annotators=(first, second),
        sentences=len(both),
        words=number,
        words_apart=sum(len(set(one.offsets) ^ set(other.offsets)) for _, one, other in both),
        observed=float(counts[:, same].sum() / number) if number else None,
        kappa=kappa(),
        kappa_by_tag={tag: kappa(tag) for tag in sorted({tag for tags in used for tag in tags})},
        entity_f1=_entity_f1(entities) if bio else None,
        entity_f1_by_type=_f1_by_type(entities) if bio else {},
        disagreements=tuple(
            word for sentence in words for word in sentence if len(set(word.tags)) > 1
        ),
        entity_disagreements=tuple(_entity_disputes(both)) if bio else (),
        only=_only(used, (first, second)),
    )


def agreement(
    first: Sequence[Tagging],
    second: Sequence[Tagging],
    names: tuple[str, str] = ("first", "second"),
) -> Agreement:
    """Compare two taggings of the same sentences, each a `Sentence` or its words and tags.

    Words are counted as in `annotators_agreement`; `names` are the annotators' names.

    Raises:
        ShapeError: the numbers of sentences differ, or a sentence has different words.
    """
    if len(first) != len(second):
        raise ShapeError(f"expected as many sentences, got {len(first)} and {len(second)}")
    pairs = []
    for number, each in enumerate(zip(first, second, strict=True), start=1):
        with errors_at(f"sentence {number}"):
            both = list(map(as_sentence, each))
        if both[0].tokens != both[1].tokens:
            raise ShapeError(f"sentence {number}: expected the same words in both taggings")
        item = Item(*joined(both[0].tokens), id=number)
        for name, sentence in zip(names, both, strict=True):
            tags = sentence.tags or ()
            said = Annotation(number, name, item.offsets, tags, tags, state="done")
            pairs.append((item, said))
    return annotators_agreement(pairs, *names)


def _finished_by_both(pairs: Sequence[Pair], first: str, second: str) -> list[_Both]:
    done = [pair for pair in pairs if pair[1].state == "done"]
    one = {item.id: (item, a) for item, a in done if a.annotator == first}
    other = {item.id: a for item, a in done if a.annotator == second}
    return [(item, a, other[key]) for key, (item, a) in one.items() if key in other]


def _shared_words(item: Item, one: Annotation, other: Annotation) -> Iterator[SharedWord]:
    """Yield every word that both split alike, with its two tags."""
    theirs = dict(zip(other.offsets, other.final, strict=True))
    for position, (place, tag) in enumerate(zip(one.offsets, one.final, strict=True)):
        if place in theirs:
            start, end = place
            yield SharedWord(item, position, item.text[start:end], start, (tag, theirs[place]))


def _entity_disputes(both: Sequence[_Both]) -> Iterator[SharedWord]:
    for item, *said in both:
        for each in disputes(said):
            one, other = (entities_text(item.text, reading) for reading in each.readings)
            if one != other:
                position = sum(place[0] < each.start for place in said[0].offsets)
                text = item.text[each.start : each.end]
                yield SharedWord(item, position, text, each.start, (one, other))


def entities_text(text: str, words: Sequence[Word]) -> str:
    """Return the entities among some words, such as `Ms Merkel PER`; `none` without one."""
    tags = [tag for _, _, tag in words]
    found = [
        f"{text[words[span.start][0] : words[span.end - 1][1]]} {span.type}" for span in spans(tags)
    ]
    return " · ".join(found) or "none"


def _only(used: Sequence[tuple[str, str]], names: tuple[str, str]) -> dict[str, str]:
    """Return who used a tag, for tags that only one of two annotators used."""
    sides = [{tags[side] for tags in used} for side in (0, 1)]
    return {tag: names[tag in sides[1]] for tag in sorted(sides[0] ^ sides[1])}


def _kappa(pairs: Sequence[tuple[Hashable, ...]], counts: Counts) -> NDArray[np.float64]:
    """Return kappa, (S,) of (S, P) counts; NaN without words, or if both used a single tag."""
    words = counts.sum(axis=1)
    same = counts[:, [one == other for one, other in pairs]].sum(axis=1)
    by_chance = np.zeros(len(counts), dtype=np.int64)  # expected share, times `words` squared
    for tag in {tag for pair in pairs for tag in pair}:
        ones, others = (counts[:, [p[side] == tag for p in pairs]].sum(axis=1) for side in (0, 1))
        by_chance += ones * others
    room = words * words - by_chance
    return np.where(room > 0, (words * same - by_chance) / np.where(room > 0, room, 1), np.nan)


def _entities(annotation: Annotation) -> set[tuple[str, int, int]]:
    """Return type and character offsets of entities, because words may be split differently."""
    places = annotation.offsets
    return {(s.type, places[s.start][0], places[s.end - 1][1]) for s in spans(annotation.final)}


_Entities = Sequence[tuple[set[tuple[str, int, int]], set[tuple[str, int, int]]]]


def _entity_f1(entities: _Entities) -> Estimate:
    """Return F1 of one annotator's entities against the other's; it is symmetric."""
    rows = [(len(one & other), len(one) + len(other)) for one, other in entities]
    counts = _table(rows, 2)
    return _estimate(_f1(counts.sum(axis=0, keepdims=True)), _f1(_samples(counts)))


def _f1_by_type(entities: _Entities) -> dict[str, float]:
    shared: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for one, other in entities:
        shared.update(name for name, *_ in one & other)
        total.update(name for side in (one, other) for name, *_ in side)
    return {name: 2 * shared[name] / total[name] for name in sorted(total)}


def _f1(counts: Counts) -> NDArray[np.float64]:
    """Return F1, (S,) of (S, 2) counts of shared and all entities; NaN without entities."""
    shared, total = counts.T
    return np.where(total > 0, 2 * shared / np.maximum(total, 1), np.nan)


def _table(rows: Sequence[Sequence[int]], columns: int) -> Counts:
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


def _samples(counts: Counts) -> Counts:
    """Return (SAMPLES, P) sums of (N, P) counts of sentences; empty for fewer than two."""
    if len(counts) < 2:
        return counts[:0]
    return resampled(counts, np.random.default_rng(SEED))


def _estimate(value: NDArray[np.float64], sampled: NDArray[np.float64]) -> Estimate:
    point = float(value[0])
    if np.isnan(point):
        return Estimate(None, None, None)
    if np.isnan(sampled).all():  # samples may be missing
        return Estimate(point, None, None)
    return Estimate(point, *percentiles(sampled))
