"""Proposed tags that come from elsewhere than the model: the file, or remembered names.

A hint is a soft pin: the best path is decoded under it until the annotator tags one of its words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crfviz.annotations.records import Item
from crfviz.taggers.blank import UNSET
from crfviz.text.schemes import OUTSIDE, units
from crfviz.text.sentences import Offsets

FROM_FILE = "from the file"


@dataclass(frozen=True)
class Hint:
    """The proposed tags of one entity, or of one word outside of entities."""

    places: Offsets  # characters of its words
    tags: tuple[str, ...]  # one for each word
    why: str  # for display; empty to show nothing


def file_hints(item: Item) -> tuple[Hint, ...]:
    """Return the tags of a file as proposals."""
    tags = item.gold or ()
    return tuple(
        Hint(
            item.offsets[first:end],
            tags[first:end],
            "" if tags[first] == OUTSIDE else FROM_FILE,
        )
        for first, end in units(tags)
        if UNSET not in tags[first:end]
    )


def hinted(
    offsets: Offsets, pins: Mapping[int, str], hints: Iterable[Hint], tags: Sequence[str]
) -> dict[int, tuple[str, str]]:
    """Return tag and reason of each hinted word, by position; the first of two hints wins.

    A hint is left out if the annotator tagged one of its words, the words are split otherwise now,
    or `tags` lacks one of its tags.
    """
    position = {place: t for t, place in enumerate(offsets)}
    found: dict[int, tuple[str, str]] = {}
    for hint in hints:
        where = [position.get(place, -1) for place in hint.places]
        free = not any(t < 0 or t in pins or t in found for t in where)
        if free and where[-1] - where[0] == len(where) - 1 and {*hint.tags} <= {*tags}:
            found |= {t: (tag, hint.why) for t, tag in zip(where, hint.tags, strict=True)}
    return found
