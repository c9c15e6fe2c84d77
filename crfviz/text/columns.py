"""Column formats: one word per line, an empty line after each sentence.

| format  | columns, separated by TAB                | word   | tag                    |
|---------|------------------------------------------|--------|------------------------|
| conllu  | ten; rows `3-4` and `8.1` are not words  | second | fourth (UPOS) or fifth |
| iob2    | five: id, word, tag, -, annotator (UNER) | second | third                  |
| columns | two or more: word, ..., tag              | first  | last                   |

Special cases in real files:

- Only LF (or CR LF) ends a line, because U+2028 and similar characters occur inside words.
- Columns are separated by TAB, not by blanks: words may contain blanks. Blanks around a word are
  cut off.
- A row whose columns are all blank ends the sentence, like an empty line.
- A row with a tag but no word is dropped.
- A row without TAB that starts with `#` is a comment, and `# text = ...` the raw text; `#` TAB `O`
  is a word.
- `B-` and `I-` without a type are `O`; an illegal `I-X` is unchanged (see `schemes.repair`).
- `_` means untagged in CoNLL-U; a sentence of only `_` has no tags.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.schemes import OUTSIDE, begin, inside
from crfviz.text.sentences import Sentence

UNTAGGED = "_"
TEXT_COMMENT = "# text ="
BREAKS = re.compile(r"[\t\r\n]+")
Block = Sequence[tuple[int, str]]  # numbered lines
WORD_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?")


@dataclass(frozen=True)
class Layout:
    """Columns of words and tags in a format."""

    name: str  # name in messages: "CoNLL-U"
    expected: str  # description of a valid row, for messages
    word: int  # column of the word
    tag: int  # column of the tag
    width: int | None = None  # number of columns; None for two or more
    # whether rows begin with a word id: 3, or 3-4 and 8.1 for rows that are not words
    ids: bool = False


CONLLU = Layout("CoNLL-U", "10 columns separated by TAB", word=1, tag=3, width=10, ids=True)
CONLLU_XPOS = Layout("CoNLL-U", "10 columns separated by TAB", word=1, tag=4, width=10, ids=True)
IOB2 = Layout("iob2", "5 columns separated by TAB", word=1, tag=2, width=5, ids=True)
COLUMNS = Layout("CoNLL columns", "word TAB tag", word=0, tag=-1)


class WordRow(NamedTuple):
    """A row that is a word."""

    number: int  # line number in the file, from 1
    token: str
    tag: str
    cells: list[str]  # all columns, unchanged


def is_comment(line: str) -> bool:
    """Return whether a line is a comment: it begins with `#` and has no TAB."""
    return line.startswith("#") and "\t" not in line


def numbered_sentences(
    lines: Iterable[str], layout: Layout, name: str, first: int = 1
) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of lines without line ends, each with its first line number.

    Raises:
        FormatError: a row has the wrong number of columns, a broken id or no tag; says which line.
    """
    for block in blocks(lines, first):
        sentence = sentence_of(block, layout, name)
        if sentence.tokens:
            yield block[0][0], sentence


def blocks(lines: Iterable[str], first: int = 1) -> Iterator[Block]:
    """Yield blocks of adjacent non-blank lines, each line with its number from `first` on."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=first):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def sentence_of(block: Block, layout: Layout, name: str) -> Sentence:
    """Return the sentence of one block.

    Raises:
        FormatError: as `numbered_sentences` does.
    """
    words = word_rows(block, layout, name)
    tokens = tuple(word.token for word in words)
    untagged = [word for word in words if word.tag == UNTAGGED]
    if untagged and len(untagged) < len(words):
        raise FormatError(
            f"{name}, line {untagged[0].number}: expected a tag for "
            f"{abbreviate(untagged[0].token)}, "
            f"because other words of the sentence have one, got {UNTAGGED!r}"
        )
    tags = None if untagged or not words else tuple(word.tag for word in words)
    return Sentence(tokens, tags, comment(block, TEXT_COMMENT))


def comment(block: Block, start: str) -> str | None:
    """Return the rest of the first comment that begins with `start`; None without one."""
    lines = (line for _, line in block if line.startswith(start) and is_comment(line))
    return next((line.removeprefix(start).strip() for line in lines), None)


def word_rows(block: Block, layout: Layout, name: str) -> list[WordRow]:
    """Return the rows of a block that are words.

    Raises:
        FormatError: a row has the wrong number of columns, a broken id or no tag; says which line.
    """
    rows = (_word(number, line, layout, name) for number, line in block if not is_comment(line))
    words = [row for row in rows if row is not None]
    odd = next((row for row in words if len(row.cells) != len(words[0].cells)), None)
    if odd is not None and layout.tag < 0:
        raise FormatError(
            f"{name}, line {odd.number}: expected {len(words[0].cells)} columns, as in line "
            f"{words[0].number}, got {len(odd.cells)}"
        )
    for before, row in pairwise(words) if layout.ids else ():
        old, new = (each.cells[0].lstrip("0") for each in (before, row))
        if (len(new), new) <= (len(old), old):
            raise FormatError(
                f"{name}, line {row.number}: expected a blank line before the word id "
                f"{abbreviate(row.cells[0])}, which follows {abbreviate(before.cells[0])}; add it, "
                f"or use sentences=restart"
            )
    return words


def words_in(block: Block, layout: Layout) -> int:
    """Return the number of rows of a block that are words, including invalid ones."""
    rows = (line for _, line in block if not is_comment(line))
    return sum(not layout.ids or line.partition("\t")[0].isdecimal() for line in rows)


def render_columns(sentences: Iterable[Sentence], layout: Layout) -> str:
    """Return the sentences as text in a column format; unknown columns are `_`.

    Line breaks and TABs in the raw text become blanks, because a comment is one line.

    Raises:
        FormatError: a word or tag is empty, has outer blanks, or contains a TAB or line break.
    """
    return "".join(_rendered(sentence, layout) for sentence in sentences)


def rendered(comments: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return one sentence as text: comments, rows and an empty line."""
    lines = [*comments, *("\t".join(cells) for cells in rows), ""]
    return "".join(f"{line}\n" for line in lines)


def fits(value: str) -> bool:
    """Return whether a column can hold a word or tag losslessly."""
    return bool(value) and value == value.strip() and not BREAKS.search(value)


def _word(number: int, line: str, layout: Layout, name: str) -> WordRow | None:
    row = line.split("\t")
    problem = _problem(row, layout)
    if problem:
        raise FormatError(f"{name}, line {number}: {problem}")
    token, tag = row[layout.word].strip(), row[layout.tag].strip()
    if not token or (layout.ids and not row[0].isdecimal()):
        return None
    return WordRow(number, token, OUTSIDE if tag in (begin(""), inside("")) else tag, row)


def _problem(row: Sequence[str], layout: Layout) -> str:
    line = "\t".join(row)
    needed = max(2, layout.word + 1, layout.tag + 1, -layout.tag)
    if layout.width not in (None, len(row)) or len(row) < needed:
        return f"expected {layout.expected} ({layout.name}), got {len(row)}: {abbreviate(line)}"
    if layout.ids and not WORD_ID.fullmatch(row[0]):
        expected = "a word id such as 3, 3-4 or 8.1 in the first column"
        return f"expected {expected}, got {abbreviate(row[0])}"
    if not row[layout.tag].strip():
        return f"expected a tag in column {layout.tag % len(row) + 1}, got none: {abbreviate(line)}"
    return ""


def _rendered(sentence: Sentence, layout: Layout) -> str:
    rows = []
    tags = sentence.tags or (UNTAGGED,) * len(sentence.tokens)
    for number, (token, tag) in enumerate(zip(sentence.tokens, tags, strict=True), start=1):
        for value in (token, tag):
            if not fits(value):
                raise FormatError(
                    f"{layout.name} cannot hold {abbreviate(value)}: expected a word or tag "
                    f"without TAB, line break or blanks around it (JSONL can hold it)"
                )
        row = [UNTAGGED] * (layout.width or 2)
        row[0] = str(number)
        row[layout.word], row[layout.tag] = token, tag
        rows.append(row)
    text = () if sentence.text is None else (f"{TEXT_COMMENT} {BREAKS.sub(' ', sentence.text)}",)
    return rendered(text, rows)
