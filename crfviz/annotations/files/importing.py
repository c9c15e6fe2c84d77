"""Sentences to label, out of a paste or a file of any format, with everything wrong about it said.

| format    | what it is                                                  | gold tags       |
|-----------|-------------------------------------------------------------|-----------------|
| text      | one sentence a line                                         | none            |
| conllu    | CoNLL-U, see `text.columns`                                 | UPOS            |
| iob2      | five columns, see `text.columns`                            | third           |
| columns   | word, ..., tag, see `text.columns`                          | last            |
| jsonl     | `{"tokens": ..., "tags": ..., "text": ...}` a line          | tags            |
| spacy     | a list of `{"text": ..., "annotations": {"entities": ...}}` | entities as BIO |

What `exporting` has written comes back with its annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from crfviz.annotations.files.columns import read_block
from crfviz.annotations.files.decoding import InputFormat, check_utf_8, decoded, detected
from crfviz.annotations.files.extras import Found
from crfviz.annotations.files.gathering import Gathering, Problem
from crfviz.annotations.files.jsonl import read_line
from crfviz.annotations.files.spacy import elements, read_element
from crfviz.annotations.records import Annotation, Item
from crfviz.exceptions import FormatError
from crfviz.text.columns import Block, Layout, blocks, lines_of, shown
from crfviz.text.formats import LAYOUTS
from crfviz.text.tokenizer import tokenize

MAX_BYTES = 5 * 1024 * 1024
Stream = Iterator[tuple[int, Found | FormatError]]


Unit = TypeVar("Unit")


@dataclass(frozen=True)
class Import:
    """What a file holds; nothing is stored yet."""

    format: InputFormat
    items: tuple[Item, ...]  # the good sentences
    annotations: tuple[Annotation, ...]  # their `item` counts `items`
    problems: tuple[Problem, ...]  # in the order of the file

    @property
    def dropped(self) -> int:
        """How many sentences could not be read."""
        return sum(problem.dropped for problem in self.problems)


def read_items(
    content: bytes,
    name: str,
    file_format: InputFormat | None = None,
    *,
    tags: Collection[str] | None = None,
    limit: int | None = MAX_BYTES,
) -> Import:
    """Read all sentences that can be read, and say what is wrong with the others.

    Args:
        content: of the file.
        name: of the file; its document gets it.
        file_format: None tells it from the content.
        tags: that gold tags may be; a sentence with others loses them. None allows all.
        limit: bytes; None is no limit.

    Raises:
        FormatError: the file is too large, or UTF-16.
    """
    if limit is not None and len(content) > limit:
        raise FormatError(
            f"{name}: expected at most {limit / 2**20:g} MB, got {len(content):,} bytes; "
            f"`crfviz annotations import` reads larger files"
        )
    gathering = Gathering(name, tags)
    text = decoded(content, gathering)
    kind = file_format or detected(text)
    gathering.take(_sentences(text, kind, name))
    return Import(
        kind, tuple(gathering.items), tuple(gathering.annotations), tuple(gathering.problems)
    )


def _sentences(text: str, kind: InputFormat, name: str) -> Stream:
    """Every sentence with its line, or what is wrong with it."""
    if kind == "spacy":
        return _each(elements(text), read_element, name)
    if kind in LAYOUTS:
        layout = LAYOUTS[kind]
        numbered = ((block[0][0], block) for block in blocks(lines_of(text)))
        return _each(numbered, lambda block, _: _block(block, layout, name), name)
    lines = ((n, line) for n, line in enumerate(lines_of(text), start=1) if line.strip())
    return _each(lines, lambda line, where: _line(line, kind, where), name)


def _each(
    units: Iterable[tuple[int, Unit]], read: Callable[[Unit, str], Found | None], name: str
) -> Stream:
    for line, unit in units:
        if isinstance(unit, FormatError):  # the units themselves break off here
            yield line, FormatError(f"{name}, line {line}: {unit}")
            return
        try:
            found = read(unit, f"{name}, line {line}")
        except FormatError as error:
            yield line, error
        else:
            if found is not None:
                yield line, found


def _read_text(line: str, where: str) -> Found:
    text = line.strip()
    places = tuple((token.start, token.end) for token in tokenize(text))
    if not places:
        raise FormatError(f"{where}: expected a sentence, got {shown(line)}")
    return Found(Item(text, places))


def _block(block: Block, layout: Layout, name: str) -> Found | None:
    for number, line in block:
        check_utf_8(line, f"{name}, line {number}")
    return read_block(block, layout, name)


def _line(line: str, kind: InputFormat, where: str) -> Found | None:
    check_utf_8(line, where)
    return read_line(line, where) if kind == "jsonl" else _read_text(line, where)
