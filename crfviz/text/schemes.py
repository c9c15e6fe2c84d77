"""The BIO scheme: `B-X` begins an entity of type X, `I-X` continues it, `O` is outside.

An `I-X` is illegal at the start, after `O`, and after `B-Y` or `I-Y` of another type. Spans are
read strictly: an illegal `I-X` belongs to no entity. `repair` first for the lenient reading of
conlleval, where it begins one.

Source:
    Ramshaw and Marcus (1995), in the IOB2 variant of Tjong Kim Sang and Veenstra (1999).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OUTSIDE = "O"


@dataclass(frozen=True)
class Span:
    """One entity: the words [start, end) and their type."""

    type: str  # "PER"
    start: int  # first word
    end: int  # one past the last word


def split_tag(tag: str) -> tuple[str, str]:
    """Prefix and entity type of one tag; ("", tag) where the tag is not BIO.

    >>> split_tag("B-PER"), split_tag("O"), split_tag("NOUN")
    (('B', 'PER'), ('O', ''), ('', 'NOUN'))
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    if tag[:2] in ("B-", "I-"):
        return tag[0], tag[2:]
    return "", tag


def is_bio(tags: Iterable[str]) -> bool:
    """Whether all tags are BIO tags with a type, and at least one of them begins an entity."""
    parts = [split_tag(tag) for tag in tags]
    return all(prefix == OUTSIDE or (prefix and kind) for prefix, kind in parts) and any(
        prefix == "B" for prefix, _ in parts
    )


def continues(tag: str, previous: str) -> bool:
    """Whether `tag` is an `I-X` that may stand after `previous`, its `B-X` or `I-X`."""
    return tag.startswith("I-") and split_tag(previous) in (("B", tag[2:]), ("I", tag[2:]))


def spans(tags: Sequence[str]) -> list[Span]:
    """Entities of a tag sequence, in order; an illegal `I-X` belongs to none.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [Span(type='PER', start=0, end=2), Span(type='LOC', start=4, end=5)]
    """
    found: list[Span] = []
    for position, tag in enumerate(tags):
        prefix, kind = split_tag(tag)
        if prefix == "B":
            found.append(Span(kind, position, position + 1))
        elif prefix == "I" and found and (found[-1].end, found[-1].type) == (position, kind):
            found[-1] = Span(kind, found[-1].start, position + 1)
    return found


def tags_of(entities: Iterable[Span], length: int) -> list[str]:
    """BIO tags of `length` words from non-overlapping spans: the inverse of `spans`."""
    tags = [OUTSIDE] * length
    for span in entities:
        tags[span.start] = f"B-{span.type}"
        for position in range(span.start + 1, span.end):
            tags[position] = f"I-{span.type}"
    return tags


def repair(tags: Sequence[str]) -> list[str]:
    """The same tags with every illegal `I-X` turned into `B-X`.

    >>> repair(["O", "I-PER", "I-PER", "I-LOC"])
    ['O', 'B-PER', 'I-PER', 'B-LOC']
    """
    repaired: list[str] = []
    for tag in tags:
        previous = repaired[-1] if repaired else OUTSIDE
        illegal = tag.startswith("I-") and not continues(tag, previous)
        repaired.append(f"B-{tag[2:]}" if illegal else tag)
    return repaired
