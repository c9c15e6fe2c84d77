"""Conversion of spans to tags of words, and the evidence for what a span counts.

A span counts characters, UTF-16 units, bytes, or words from 0 or 1, and its end is included or not.
All spans of a file count alike. Words that a span quotes must be there. Without quotes the spans
must fit the words; if they fit only when counted otherwise, the file is refused.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_value
from crfviz.text.readers.losses import Losses
from crfviz.text.schemes import Span, tags_of
from crfviz.text.sentences import Offsets, Sentence, joined, words_at
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

OVERLAPPING = "overlapping spans were left out; the longer one stays"
SECOND_LABEL = "second labels on a span were left out; the first one stays"
SPLIT = "words were split where a span without its text ends inside of them"
EMPTY = "spans without a word were left out"
MISQUOTED = "spans that quote other words of the text were left out"
UNQUOTED = 'write the words of each span as its "text"'
FIRST_WIDE = 0x2E80  # scripts from here on write no blanks between words
Item = TypeVar("Item")


class Mark(NamedTuple):
    """A labelled span of a text: the characters [start, end), or other units before `settled`."""

    start: int
    end: int
    kind: str  # "PER"
    quote: str = ""  # the words that the file writes beside it


@dataclass
class Draft:
    """A sentence whose spans wait for the evidence of the whole file."""

    text: str
    marks: list[Mark]
    words: Offsets | None = None  # from the file; None splits the text
    counts_words: bool = False  # whether the spans can only count words


class Unit(NamedTuple):
    """What spans count."""

    name: str
    of_words: bool
    included: bool  # whether the end belongs to the span
    width: Callable[[str], int] = lambda _: 1  # of a character
    first: int = 0  # number of the first word

    def __str__(self) -> str:
        return f"{self.name}{', ends included' if self.included else ''}"


def _units() -> list[Unit]:
    widths: tuple[tuple[str, Callable[[str], int]], ...] = (
        ("characters", lambda _: 1),
        ("UTF-16 units", lambda letter: 1 + (ord(letter) > 0xFFFF)),
        ("bytes", lambda letter: len(letter.encode("utf-8", "surrogatepass"))),
    )
    return [
        Unit(name, False, included, width) for included in (False, True) for name, width in widths
    ]


LETTERS = _units()
WORDS = [Unit("words", True, included) for included in (False, True)]
FROM_ONE = [Unit("words from 1", True, included, first=1) for included in (True, False)]
CHARACTERS, BY_WORD = LETTERS[0], WORDS[0]
_WORD = re.compile(r"\S+")


def moved(draft: Draft, unit: Unit) -> list[Mark] | None:
    """Return the spans of a text in characters; None if one is outside of it."""
    edges: Sequence[int]
    if unit.of_words:
        words = draft.words
        if words is None:
            words = tuple(each.span() for each in _WORD.finditer(draft.text))
        found = []
        for mark in draft.marks:
            first = mark.start - unit.first
            last = mark.end - unit.first - (not unit.included)
            if not 0 <= first <= last < len(words):
                return None
            found.append(mark._replace(start=words[first][0], end=words[last][1]))
        return found
    edges = [*accumulate(map(unit.width, draft.text), initial=0)]
    index = {edge: at for at, edge in enumerate(edges)}
    places = [(index.get(m.start), index.get(m.end + unit.included)) for m in draft.marks]
    return [
        mark._replace(start=start, end=end)
        for mark, (start, end) in zip(draft.marks, places, strict=True)
        if start is not None and end is not None
    ] if all(None not in place for place in places) else None  # fmt: skip


def fits(draft: Draft, unit: Unit) -> bool:
    """Return whether the spans of a text are at the words that they quote, or at whole words."""
    marks = moved(draft, unit)
    if marks is None:
        return False
    return all(
        is_quoted(draft.text, mark) if mark.quote else _is_whole(draft, mark) for mark in marks
    )


def _is_whole(draft: Draft, mark: Mark) -> bool:
    text = draft.text
    if mark.start >= mark.end:
        return False
    if draft.words is not None:
        starts, ends = ({place[n] for place in draft.words} for n in (0, 1))
        inner = text[mark.start : mark.end]
        first = mark.end - len(inner.lstrip())
        return first in starts and mark.start + len(inner.rstrip()) in ends
    return not (_joins(text, mark.start) or _joins(text, mark.end))


def _joins(text: str, at: int) -> bool:
    """Return whether a place is inside of a word."""
    around = text[max(at - 1, 0) : at + 1] if 0 < at < len(text) else ""
    return len(around) == 2 and all(c.isalnum() and ord(c) < FIRST_WIDE for c in around)


def is_quoted(text: str, mark: Mark) -> bool:
    """Return whether a span has the words that it quotes; blanks and line ends may differ."""
    found = text[max(mark.start, 0) : max(mark.end, 0)]
    return not mark.quote or _squeezed(found) == _squeezed(mark.quote)


def _squeezed(text: str) -> str:
    return "".join(text.replace("\\n", " ").replace("\ufeff", "").split())


def unit_of(drafts: Sequence[Draft], name: str) -> Unit:
    """Return what the spans of a file count.

    Raises:
        FormatError: the evidence fits several units, or another one than characters.
    """
    marked = [draft for draft in drafts if draft.marks]
    only_words = [draft for draft in marked if draft.counts_words]
    if only_words:  # nobody counts from 1 without the end
        units = [*WORDS, *FROM_ONE] if any(map(_quotes, only_words)) else [*WORDS, FROM_ONE[0]]
        likely = [unit for unit in units if all(fits(draft, unit) for draft in only_words)]
        if len(likely) == 1:
            return likely[0]
        what = f"may count {_either(likely)}" if likely else "count no words of the sentence"
        what = "may include their end or not" if likely == WORDS else what
        mark = only_words[0].marks[0]
        raise FormatError(
            f"{name}: the spans {what}, such as {abbreviate_value([*mark[:3]])} in "
            f"{abbreviate(only_words[0].text)}; {UNQUOTED}"
        )
    quoted = [draft for draft in marked if _quotes(draft)]
    for unit in (*LETTERS, *WORDS, *FROM_ONE) if quoted else (CHARACTERS,):
        if all(fits(draft, unit) for draft in quoted or marked):
            return unit
    wrong = next((d for d in marked if not fits(d, CHARACTERS)), None)
    if wrong is None or any(_misquotes(draft) for draft in quoted):
        return CHARACTERS
    units = [*LETTERS[1:], *WORDS, FROM_ONE[0]]
    others = [unit for unit in units if all(fits(d, unit) for d in marked)]
    if others:
        shown = next((m for m in wrong.marks if not _is_whole(wrong, m)), wrong.marks[0])
        raise FormatError(
            f"{name}: the spans, such as {abbreviate_value([*shown[:3]])} in "
            f"{abbreviate(wrong.text)}, are no words if they count characters; they seem to count "
            f"{_either(others)}; {UNQUOTED}"
        )
    return CHARACTERS


def _either(units: Sequence[Unit]) -> str:
    return " or ".join(map(str, units))


def _quotes(draft: Draft) -> bool:
    return any(mark.quote for mark in draft.marks)


def _misquotes(draft: Draft) -> bool:
    return any(not is_quoted(draft.text, mark) for mark in draft.marks)


def settled(
    items: Iterable[tuple[int, Item | Draft]],
    losses: Losses,
    split: Split = tokens,
    said: Callable[[Unit], object] = lambda _: None,
) -> Iterator[tuple[int, Item | Sentence | FormatError]]:
    """Yield numbered sentences; from the first draft on they wait for the end of the file.

    Raises:
        FormatError: as `unit_of`.
    """
    iterator = iter(items)
    for line, item in iterator:
        if not isinstance(item, Draft):
            yield line, item
            continue
        rest = [(line, item), *iterator]
        unit = unit_of([each for _, each in rest if isinstance(each, Draft)], losses.name)
        said(unit)
        for number, each in rest:
            if not isinstance(each, Draft):
                yield number, each
                continue
            try:
                yield number, finished(each, unit, losses, number, split)
            except FormatError as error:
                yield number, error


def finished(draft: Draft, unit: Unit, losses: Losses, line: int, split: Split) -> Sentence:
    """Return the sentence of a draft.

    Raises:
        FormatError: a span exceeds the text.
    """
    marks = draft.marks if unit is CHARACTERS else moved(draft, unit)
    if marks is None:
        shown = abbreviate_value([[*mark[:3]] for mark in draft.marks])
        raise FormatError(
            f"{losses.name}, line {line}: expected spans inside of {abbreviate(draft.text)}, "
            f"got {shown}"
        )
    right = []
    for mark in marks:
        if is_quoted(draft.text, mark):
            right.append(mark)
        else:
            losses.add(MISQUOTED, line, mark.quote)
    places, tags = tagged_words(draft.text, right, losses, line, draft.words, split)
    return Sentence(words_at(draft.text, places), tags, draft.text)


def draft_of_words(words: Sequence[str], marks: list[Mark]) -> Draft:
    """Return a sentence whose spans count words."""
    text, places = joined(words)
    return Draft(text, marks, places, counts_words=True)


def tagged_words(
    text: str,
    marks: Sequence[Mark],
    losses: Losses,
    line: int,
    words: Offsets | None = None,
    split: Split = tokens,
) -> tuple[Offsets, tuple[str, ...]]:
    """Return the words of a text and their BIO tags.

    Outer blanks of a mark are ignored. A mark that ends inside a word splits the word, and is a
    loss without a quote. Of overlapping marks the longest is kept, of equally long ones the first.

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
    unquoted = {edge for mark in marks if not mark.quote for edge in (mark.start, mark.end)}
    places: list[tuple[int, int]] = []
    for start, end in words or [(token.start, token.end) for token in split(text)]:
        inner = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        places += pairwise([start, *inner, end])
        if any(edge in unquoted and (words or _joins(text, edge)) for edge in inner):
            losses.add(SPLIT, line, text[start:end])
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
            same = any(mark[:2] == other[:2] for other in kept)
            what = SECOND_LABEL if same else OVERLAPPING
            losses.add(what, line, f"{text[mark.start : mark.end]} ({mark.kind})")
        else:
            kept.append(mark)
    return sorted(kept)
