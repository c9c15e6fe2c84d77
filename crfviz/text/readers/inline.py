"""Sentences as lines of word/TAG or word_TAG, with the tag after the last separator."""

import re
from collections.abc import Sequence

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.readers.kinds import BARE, ENTITY, KNOWN, are_tags
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Sentence

SEPARATORS = ("/", "_", "|")
MIN_LOWER = 6  # words, before lower-case tags such as those of the Brown corpus count
_LOWER = re.compile(r"[a-z$.,:;'`()*-][a-z0-9$+*:.,'`()-]*")
_TAG = re.compile(r"[A-Z$.,:;!?'\"`()#\[\]-][A-Za-z0-9$_+:.,'\"`)(\[\]*-]*")


def separator_of(lines: Sequence[str], name: str) -> str | None:
    """Return the separator of words and tags in lines; None for other lines.

    Raises:
        FormatError: each word has two tags.
    """
    pieces = [piece for line in lines for piece in line.split()]
    for separator in SEPARATORS:
        parts = [piece.rpartition(separator) for piece in pieces]
        tags = [
            tag for word, _, tag in parts if word and (_TAG.fullmatch(tag) or ENTITY.fullmatch(tag))
        ]
        known = sum(map(_is_known, tags))
        if len(parts) > 1 and len(tags) == len(parts) and 2 * known >= len(tags):
            marked = [word for word, _, tag in parts if tag != OUTSIDE]
            middle = [word.rpartition(separator)[2] for word in marked if separator in word]
            is_marked = separator != "|" and 0 < len(middle) == len(marked)
            if is_marked and (
                are_tags(middle) or BARE.issuperset(middle) or BARE.issuperset({*tags} - {OUTSIDE})
            ):
                raise FormatError(
                    f"{name}: has two tags behind each word, or a {separator} in its tags, got "
                    f"{abbreviate(pieces[0])}; leave out one tag, or write B-PER"
                )
            return separator
    parts = [piece.rpartition("/") for piece in pieces]
    if len(parts) >= MIN_LOWER and all(w and _LOWER.fullmatch(tag) for w, _, tag in parts):
        return "/"
    return None


def _is_known(tag: str) -> bool:
    return tag in KNOWN or ENTITY.fullmatch(tag) is not None


def is_parallel(lines: Sequence[str]) -> bool:
    """Return whether lines are a sentence, TAB, and a tag for each of its words, no names first."""
    cells = [line.split("\t") for line in lines]
    if not all(len(row) == 2 for row in cells):
        return False
    if len(cells) > 1 and not are_tags(cells[0][1].split() * 3) and len(cells[0][1].split()) == 1:
        rest = [tag for row in cells[1:] for tag in row[1].split()]
        if cells[0][1].strip() not in rest and are_tags(rest):
            return False
    pairs = [(row[0].split(), row[1].split()) for row in cells]
    tags = [tag for _, row in pairs for tag in row]
    known = sum(map(_is_known, tags))
    equal = sum(len(words) == len(row) for words, row in pairs)
    several = any(len(row) > 1 for _, row in pairs)
    return several and 2 * equal >= len(pairs) and 2 * known >= len(tags)


def has_parallel(lines: Sequence[str]) -> bool:
    """Return whether lines have a text and a tag for each of its words in two of their columns."""
    rows = [line.split("\t") for line in lines]
    if len({*map(len, rows)}) != 1 or len(rows[0]) < 3:
        return False
    columns = [[cell.split() for cell in column] for column in zip(*rows, strict=True)]
    tags = [c for c in columns if are_tags([tag for cell in c for tag in cell])]
    several = [c for c in tags if any(len(cell) > 1 for cell in c)]
    return any(
        all(len(cell) == len(tag) for cell, tag in zip(other, column, strict=True))
        for column in several
        for other in columns
        if other is not column
    )


def parallel_sentence(line: str, where: str) -> Sentence:
    """Return the sentence of a line of words, TAB, tags.

    Raises:
        FormatError: there is not one tag for each word; names the place `where`.
    """
    words, tags = (tuple(part.split()) for part in line.partition("\t")[::2])
    if len(words) != len(tags):
        raise FormatError(f"{where}: expected {len(words)} tags behind the TAB, got {len(tags)}")
    return Sentence(words, tags)


def inline_sentence(line: str, separator: str, where: str) -> Sentence:
    """Return the sentence of a line.

    Raises:
        FormatError: a word has no tag; names the place `where`.
    """
    pieces = line.split()
    parts = [piece.rpartition(separator) for piece in pieces]
    if separator == "|" and all(piece.count("|") > 1 for piece in pieces):  # word|POS|entity
        parts = [(word.partition("|")[0], mark, tag) for word, mark, tag in parts]
    for word, _, tag in parts:
        if not (word and tag):
            raise FormatError(
                f"{where}: expected word{separator}TAG, got {abbreviate(word or tag)}"
            )
    return Sentence(tuple(word for word, _, _ in parts), tuple(tag for _, _, tag in parts))
