"""Curation: one answer for each sentence that several annotators labelled.

A curator settles the disagreements between finished versions of a sentence. The answer is its own
version, by the annotator CURATED, with a record of the curator and the settled versions. Without
it, a sentence has an answer only if all versions are equal.

Versions may split words differently, so they are compared by characters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from crfviz.annotations.records import Annotation, Pair
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import UNSET
from crfviz.text.schemes import units
from crfviz.text.sentences import Offsets

Copies = Literal["agreed", "all"]
COPIES: tuple[Copies, ...] = get_args(Copies)
Word = tuple[int, int, str]  # start and end characters, and the tag


@dataclass(frozen=True)
class Dispute:
    """Characters that versions tag differently; they contain whole words and entities."""

    start: int
    end: int
    readings: tuple[tuple[Word, ...], ...]  # one per version

    @property
    def splits_words(self) -> bool:
        """Return whether versions split the words differently."""
        return len({tuple(word[:2] for word in reading) for reading in self.readings}) > 1

    def covers(self, place: tuple[int, int]) -> bool:
        """Return whether a word at these characters overlaps the dispute."""
        return place[0] < self.end and self.start < place[1]


def disputes(versions: Sequence[Annotation]) -> list[Dispute]:
    """Return the disputes between versions of a sentence, in order."""
    places: list[list[int]] = []
    for start, end in sorted(
        unit for each in versions for unit in _units(each.offsets, each.final)
    ):
        if places and start < places[-1][1]:
            places[-1][1] = max(places[-1][1], end)
        else:
            places.append([start, end])
    found = [Dispute(a, b, tuple(_words(each, a, b) for each in versions)) for a, b in places]
    return [each for each in found if len(set(each.readings)) > 1]


def agreed(versions: Sequence[Annotation]) -> tuple[Offsets, dict[int, str]]:
    """Return the words of the first version, and the tags on which all versions agree."""
    apart, first = disputes(versions), versions[0]
    pins = {
        t: tag
        for t, (place, tag) in enumerate(zip(first.offsets, first.final, strict=True))
        if tag != UNSET and not any(each.covers(place) for each in apart)
    }
    return first.offsets, pins


def unanswered(annotation: Annotation, versions: Sequence[Annotation]) -> list[Dispute]:
    """Return the disputes with a word that has no tag yet."""
    return [
        each
        for each in disputes(versions)
        if any(
            each.covers(place) and t not in annotation.pins
            for t, place in enumerate(annotation.offsets)
        )
    ]


def with_reading(
    annotation: Annotation, version: Annotation, start: int, end: int
) -> tuple[Offsets, dict[int, str]]:
    """Return words and pins, replaced by those of a version in a range of characters.

    Words and entities that cross the ends of the range are included completely.
    """
    pins = annotation.pins
    own = [pins.get(t, "") for t in range(len(annotation.offsets))]
    both = [*_units(annotation.offsets, own), *_units(version.offsets, version.final)]
    before = None
    while before != (start, end):
        before = (start, end)
        cut = [unit for unit in both if unit[0] < end and start < unit[1]]
        start, end = min([start, *(a for a, _ in cut)]), max([end, *(b for _, b in cut)])
    words = [
        (*place, tag)
        for place, tag in zip(annotation.offsets, own, strict=True)
        if place[1] <= start or end <= place[0]
    ]
    words = sorted([*words, *_words(version, start, end)])
    offsets = tuple((a, b) for a, b, _ in words)
    return offsets, {t: tag for t, (_, _, tag) in enumerate(words) if tag not in ("", UNSET)}


def times_of(versions: Sequence[Annotation]) -> dict[str, datetime | None]:
    return {each.annotator: each.updated for each in versions}


def finished_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Return finished versions, and open ones of sentences without a finished version."""
    done = {item.id for item, annotation in pairs if annotation.state == "done"}
    return [pair for pair in pairs if pair[1].state == "done" or pair[0].id not in done]


def answers(pairs: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Return the copies with the answer to each sentence, and the number without an answer."""
    found, without = [], 0
    for said in _said(pairs):
        if len({(each.offsets, each.final) for _, each in said}) == 1:
            found += said
        else:
            without += 1
    return found, without


def current(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the finished versions; of a settled sentence only its answer."""
    return [pair for said in _said(pairs) for pair in said]


def _said(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield the copies that count, by sentence: its answer, else the versions."""
    sentences: dict[int, list[Pair]] = {}
    for pair in pairs:
        sentences.setdefault(pair[0].id, []).append(pair)
    for copies in sentences.values():
        versions = [pair for pair in copies if not pair[1].curation]
        done = [each for _, each in versions if each.state == "done"]
        curated = [pair for pair in copies if pair[1].state == "done" and _settles(pair[1], done)]
        yield curated or versions or copies


def _settles(annotation: Annotation, versions: Sequence[Annotation]) -> bool:
    """Return whether a curator settled the current finished versions.

    This holds also if some of the settled versions are missing.
    """
    if annotation.curation is None:
        return False
    made_of, now = annotation.curation.versions, times_of(versions)
    return made_of == now or not made_of.keys() <= now.keys()


def chosen_copies(pairs: Sequence[Pair], copies: Copies | None) -> list[Pair]:
    """Return the copies to export or to learn from.

    Args:
        pairs: sentences with annotations of all annotators.
        copies: "agreed" for one copy of each answer, "all" for all copies; None for all copies
            of answers, with an error for sentences without an answer.

    Raises:
        CrfvizError: there are sentences without an answer; says how many.


    """
    if copies == "all":
        return list(pairs)
    found, without = answers(pairs)
    if copies is None and without:
        total = len({item.id for item, _ in pairs})
        raise CrfvizError(
            f"annotators disagree about {without} of {total} sentences: settle them on the page "
            f"Annotate, or choose one annotator or {' or '.join(COPIES)} copies"
        )
    if copies == "agreed":
        first: dict[int, Pair] = {}
        for pair in found:
            first.setdefault(pair[0].id, pair)
        return list(first.values())
    return found


def learnable(pairs: Sequence[Pair], copies: Copies | None) -> list[Pair]:
    """Return the answers of finished sentences, and open sentences without a finished version."""
    done = [pair for pair in pairs if pair[1].state == "done"]
    if copies is None:
        chosen_copies(done, None)  # raises an error for disputes
    begun = [pair for pair in finished_first(pairs) if pair[1].state != "done"]
    return [*chosen_copies(done, "agreed"), *begun]


def _units(offsets: Offsets, tags: Sequence[str]) -> list[tuple[int, int]]:
    """Return the characters of each entity, and of each word outside entities."""
    return [(offsets[first][0], offsets[end - 1][1]) for first, end in units(tags)]


def _words(annotation: Annotation, start: int, end: int) -> tuple[Word, ...]:
    words = zip(annotation.offsets, annotation.final, strict=True)
    return tuple((a, b, tag) for (a, b), tag in words if start <= a and b <= end)
