"""A marked name, or the tag of a word, elsewhere in the document of an annotator.

A place counts if it has the same words, in the same case and as whole words, and if the annotator
has neither marked it so nor decided it otherwise: no word of it is pinned.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from crfviz.annotations import labelling
from crfviz.annotations.curation import unanswered
from crfviz.annotations.labelling import Desk
from crfviz.annotations.records import Annotation, Item
from crfviz.corpus.tables.inconsistent_names import equal_runs
from crfviz.text.schemes import OUTSIDE, Span, spans, split_tag
from crfviz.text.sentences import Offsets, words_at

DeskOf = Callable[[int], Desk]  # the desk of a sentence


@dataclass(frozen=True)
class Name:
    """Some words and what they are: an entity type, or a tag for one word."""

    words: tuple[str, ...]
    what: str


@dataclass(frozen=True)
class Place:
    """Words of a sentence that are equal to a name."""

    item: Item
    annotation: Annotation | None  # None: the annotator has not begun the sentence
    first: int  # words in the annotator's version
    last: int

    @property
    def offsets(self) -> Offsets:
        return self.item.offsets if self.annotation is None else self.annotation.offsets

    @property
    def ends(self) -> tuple[int, int]:
        """First and last character; they identify the place in its sentence."""
        return self.offsets[self.first][0], self.offsets[self.last][1]


def marked_name(desk: Desk, annotation: Annotation, word: int) -> tuple[Name, int] | None:
    """Return the name at a word that the annotator has set, and its first word; else None."""
    if word not in annotation.pins:
        return None
    words, tag = words_at(desk.item.text, annotation.offsets), annotation.final[word]
    if not desk.bio:
        return Name((words[word],), tag), word
    if tag == OUTSIDE:
        return None
    span = next(each for each in spans(annotation.final) if each.start <= word < each.end)
    return Name(words[span.start : span.end], split_tag(tag)[1]), span.start


def undecided(
    rows: Iterable[tuple[Item, Annotation | None]],
    name: Name,
    refused: Collection[tuple[int, int, int]] = (),
    *,
    bio: bool,
) -> Iterator[Place]:
    """Yield the places with a name that are neither marked so nor decided.

    Args:
        rows: sentences, each with the annotator's version.
        name: what was marked.
        refused: sentence, first and last character of each place that the annotator refused.
        bio: whether the tags are entities.
    """
    for item, annotation in rows:
        offsets = item.offsets if annotation is None else annotation.offsets
        for first in equal_runs(words_at(item.text, offsets), name.words):
            place = Place(item, annotation, first, first + len(name.words) - 1)
            if (item.id, *place.ends) not in refused and not _is_decided(place, name, bio=bio):
                yield place


def _is_decided(place: Place, name: Name, *, bio: bool) -> bool:
    said, words = place.annotation, range(place.first, place.last + 1)
    if said is None:
        return False
    if any(t in said.pins for t in words):
        return True
    if said.state != "done":
        return False
    if bio:
        return Span(name.what, place.first, place.last + 1) in spans(said.final)
    return said.final[place.first] == name.what


def confirm(desk: Desk, before: Annotation, place: Place, what: str) -> Annotation:
    """Return an annotation with the name at a place; a finished sentence stays finished.

    All other tags of a finished sentence stay as they are.
    """
    if before.state == "done":
        before = replace(before, pins=dict(enumerate(before.final)))
    after = labelling.correct(desk, before, place.first, place.last, what)
    return replace(after, state=before.state)


def retyped(desk: Desk, before: Annotation, name: str, kind: str) -> Annotation:
    """Return an annotation in which a name has one entity type wherever it is an entity.

    All other tags stay. At curation only places change that are this entity in all versions; the
    sentence is finished once no dispute is left.
    """
    said = desk.versions if desk.versions and before.state != "done" else (before,)
    types = [_types_at(desk.item.text, each, name) for each in said]
    after = before
    for ends in sorted(set(types[0]).intersection(*types[1:])):
        first = next((t for t, (start, _) in enumerate(after.offsets) if start == ends[0]), None)
        last = next((t for t, (_, end) in enumerate(after.offsets) if end == ends[1]), None)
        if first is None or last is None or {each[ends] for each in types} == {kind}:
            continue
        after = confirm(desk, after, Place(desk.item, after, first, last), kind)
    if after is not before and desk.versions and not unanswered(after, desk.versions):
        after = replace(after, state="done")
    return after


def _types_at(text: str, said: Annotation, name: str) -> dict[tuple[int, int], str]:
    """Return the type of each entity with the words of a name, by first and last character."""
    words = words_at(text, said.offsets)
    return {
        (said.offsets[each.start][0], said.offsets[each.end - 1][1]): each.type
        for each in spans(said.final)
        if " ".join(words[each.start : each.end]) == name
    }
