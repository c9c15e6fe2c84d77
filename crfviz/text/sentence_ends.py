"""Sentences of a paragraph, by spaCy's rule for end marks applied to our words."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from crfviz.text.splitting import BLANKS, ENGLISH, splitter
from crfviz.text.tokenizer import Token, given_words

if TYPE_CHECKING:
    from spacy.language import Language

OF_MARKS = "spacy:xx"  # language-independent rules that split marks from words
_MAY_END = re.compile(r"[.!?…।؟։][^\s.!?…।؟։]*\s+\S")  # spaCy takes half a second to import
_CLOSES = "”’」』）】》"
_WIDE_END = re.compile(  # full-width marks, which need no tokenizer
    rf"(?<=[。！？｡])(?![。！？｡{_CLOSES}])|(?<=[。！？｡][{_CLOSES}])(?![{_CLOSES}])"
)
_RUN = re.compile(r"[!?.]*[!?][!?.]*")  # `?!` ends a sentence like `?`
_LETTER = re.compile(r"\w")


def split_sentences(text: str, tokenizer: str = ENGLISH) -> list[str]:
    """Return the sentences of a text unchanged; none for a blank text.

    A sentence has at least one word with a letter or digit. A text with two blanks in each gap is
    already tokenized, and one sentence.

    Args:
        text: of any length; each line is split separately.
        tokenizer: a name in `text.splitting`, so that `z.B.` ends no sentence in German.

    Raises:
        FormatError: the tokenizer is unknown.

    >>> split_sentences("Mr. Ford left. Did he?! “Yes.” He did.")
    ['Mr. Ford left.', 'Did he?!', '“Yes.”', 'He did.']

    """
    return [each for line in text.splitlines() for each in _of_line(line, tokenizer)]


def _of_line(line: str, tokenizer: str) -> list[str]:
    bare = line.strip()
    if not bare or given_words(bare) is not None:
        return [bare] * bool(bare)
    parts = (part.strip() for part in _WIDE_END.split(bare))
    return _joined(each for part in parts if part for each in _by_rules(part, tokenizer))


def _by_rules(bare: str, tokenizer: str) -> list[str]:
    if not _MAY_END.search(bare):
        return [bare]
    words = list(splitter(OF_MARKS if tokenizer == BLANKS else tokenizer)(bare))
    texts = ["!" if _RUN.fullmatch(word.text) else word.text for word in words]
    starts = [_opened(words, first) for first in _first_words(texts)]
    return [bare[a:b].strip() for a, b in zip(starts, [*starts[1:], len(bare)], strict=True)]


def _joined(parts: Iterable[str]) -> list[str]:
    """Return the parts, with parts without a letter appended to the previous one."""
    sentences: list[str] = []
    for part in parts:
        if sentences and not _LETTER.search(part):
            sentences[-1] += f" {part}"
        else:
            sentences.append(part)
    return sentences


def _opened(words: Sequence[Token], first: int) -> int:
    """Return the start of a sentence, including an opening bracket or quotation mark."""
    while first > 1:
        mark = words[first - 1]
        if mark.end != words[first].start or mark.start == words[first - 2].end:
            break
        if _LETTER.search(mark.text):
            break
        first -= 1
    return words[first].start


def _first_words(texts: list[str]) -> list[int]:
    from spacy.tokens import Doc

    pipeline = _sentencizer()
    doc = pipeline.get_pipe("sentencizer")(Doc(pipeline.vocab, words=texts))
    return [word.i for word in doc if word.is_sent_start]


@cache
def _sentencizer() -> "Language":
    import spacy

    pipeline = spacy.blank("xx")
    pipeline.add_pipe("sentencizer")
    return pipeline
