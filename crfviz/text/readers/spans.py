"""Conversion of character spans to tags of words."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate_value
from crfviz.text.readers.losses import Losses
from crfviz.text.schemes import Span, tags_of
from crfviz.text.sentences import Offsets
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

OVERLAPPING = "overlapping spans were left out; the longer one stays"
EMPTY = "spans without a word were left out"


class Mark(NamedTuple):
    """A labelled span of a text: the characters [start, end)."""

    start: int
    end: int
    kind: str  # "PER"


def tagged_words(
    text: str,
    marks: Sequence[Mark],
    losses: Losses,
    line: int,
    words: Offsets | None = None,
    split: Split = tokens,
) -> tuple[Offsets, tuple[str, ...]]:
    """Return the words of a text and their BIO tags.

    Outer blanks of a mark are ignored. A mark that ends inside a word splits the word. Of
    overlapping marks the longest is kept, of equally long ones the first.

    Args:
        text: the text of the sentence.
        marks: in any order.
        losses: collects dropped marks.
        line: line number of the sentence.
        words: word offsets from the file; None splits the text.
        split: the tokenizer.

    Raises:
        FormatError: a mark exceeds the text.

    """
    kept = _disjoint([_trimmed(text, mark, losses, line) for mark in marks], text, losses, line)
    edges = sorted({edge for mark in kept for edge in (mark.start, mark.end)})
    places: list[tuple[int, int]] = []
    for start, end in words or [(token.start, token.end) for token in split(text)]:
        inner = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        places += pairwise([start, *inner, end])
    starts = [start for start, _ in places]
    entities = []
    for mark in kept:
        first, last = bisect_left(starts, mark.start), bisect_left(starts, mark.end)
        if first < last:
            entities.append(Span(mark.kind, first, last))
        else:
            losses.add(EMPTY, line, text[mark.start : mark.end])
    return tuple(places), tuple(tags_of(entities, len(places)))


def _trimmed(text: str, mark: Mark, losses: Losses, line: int) -> Mark | None:
    if not 0 <= mark.start <= mark.end <= len(text):
        raise FormatError(
            f"{losses.name}, line {line}: expected spans inside of {len(text)} characters, "
            f"got {abbreviate_value([mark.start, mark.end])}"
        )
    inner = text[mark.start : mark.end]
    start = mark.end - len(inner.lstrip())
    end = mark.start + len(inner.rstrip())
    if start >= end:
        losses.add(EMPTY, line, mark.kind)
        return None
    return Mark(start, end, mark.kind)


def _disjoint(marks: Sequence[Mark | None], text: str, losses: Losses, line: int) -> list[Mark]:
    """Return the non-overlapping marks, in text order."""
    different = dict.fromkeys(mark for mark in marks if mark is not None)
    kept: list[Mark] = []
    for mark in sorted(different, key=lambda mark: mark.start - mark.end):
        if any(mark.start < other.end and other.start < mark.end for other in kept):
            losses.add(OVERLAPPING, line, f"{text[mark.start : mark.end]} ({mark.kind})")
        else:
            kept.append(mark)
    return sorted(kept)
