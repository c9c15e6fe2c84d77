"""Sentences as lines of word/TAG or word_TAG, with the tag after the last separator."""

import re
from collections.abc import Sequence

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.readers.rows import ENTITY, KNOWN
from crfviz.text.sentences import Sentence

SEPARATORS = ("/", "_", "|")
_TAG = re.compile(r"[A-Z$.,:;!?'\"`()#\[\]-][A-Za-z0-9$_+:.,'\"`)(\[\]*-]*")


def separator_of(lines: Sequence[str]) -> str | None:
    """Return the separator of words and tags in lines; None for other lines."""
    pieces = [piece for line in lines for piece in line.split()]
    for separator in SEPARATORS:
        parts = [piece.rpartition(separator) for piece in pieces]
        tags = [tag for word, _, tag in parts if word and _TAG.fullmatch(tag)]
        known = sum(tag in KNOWN or ENTITY.fullmatch(tag) is not None for tag in tags)
        if len(parts) > 1 and len(tags) == len(parts) and 2 * known >= len(tags):
            return separator
    return None


def inline_sentence(line: str, separator: str, where: str) -> Sentence:
    """Return the sentence of a line.

    Raises:
        FormatError: a word has no tag; names the place `where`.
    """
    parts = [piece.rpartition(separator) for piece in line.split()]
    for word, _, tag in parts:
        if not (word and tag):
            raise FormatError(
                f"{where}: expected word{separator}TAG, got {abbreviate(word or tag)}"
            )
    return Sentence(tuple(word for word, _, _ in parts), tuple(tag for _, _, tag in parts))
