"""Readers and writers of tagged sentences: CoNLL-U, UNER iob2, CoNLL columns, JSONL; and FASTA.

Files are told apart by content. `columns`, `jsonl` and `fasta` say what the formats look like and
how broken rows are read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Literal, get_args

from crfviz.exceptions import FormatError
from crfviz.text import columns, fasta, jsonl
from crfviz.text.columns import (
    COLUMNS,
    CONLLU,
    CONLLU_XPOS,
    IOB2,
    WORD_ID,
    is_comment,
    parse_columns,
    render_columns,
)
from crfviz.text.files import abbreviate, decoded, lines_of
from crfviz.text.jsonl import parse_jsonl, render_jsonl
from crfviz.text.sentences import Sentence, fold_handles, map_types

FormatName = Literal["conllu", "conllu-xpos", "iob2", "columns", "jsonl", "fasta"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)
LAYOUTS = {"conllu": CONLLU, "conllu-xpos": CONLLU_XPOS, "iob2": IOB2, "columns": COLUMNS}
JSON_START = re.compile(r'\s*\{(\s*"|[^\t]*$)')


@dataclass(frozen=True)
class SentenceFile:
    """A UTF-8 file of sentences, read lazily each time it is iterated.

    Iterating raises FormatError as `read_sentences` does, when it comes to the line.
    """

    path: Path
    file_format: FormatName | None = None  # None tells it from the content
    fold_handles: bool = False  # join `@` and the word after it, see `cleaning.fold_handles`
    types: Mapping[str, str] | None = None  # renames entity types, see `cleaning.map_types`

    def __iter__(self) -> Iterator[Sentence]:
        name = str(self.path)
        lines, seen = tee(self._lines())  # opened once: what comes through a pipe comes once
        file_format = self.file_format or detect_format(seen, name=name)
        del seen  # or it would hold all lines
        for sentence in _parse(lines, file_format, name):
            folded = fold_handles(sentence) if self.fold_handles else sentence
            yield folded if self.types is None else map_types(folded, self.types)

    def _lines(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as file:  # text mode would end lines at a lone CR, too
                for number, line in enumerate(file, start=1):
                    text = decoded(line, name=str(self.path), first_line=number)
                    yield text.removesuffix("\n").removesuffix("\r")
        except OSError as error:
            raise FormatError(
                f"{self.path}: expected a file to read, got: {error.strerror}"
            ) from error


def read_sentences(
    path: str | Path,
    *,
    file_format: FormatName | None = None,
    fold_handles: bool = False,
    types: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """Return all sentences of a UTF-8 file.

    Args:
        path: of the file.
        file_format: None tells it from the content; `conllu-xpos` reads the fifth column as tag.
        fold_handles: join `@` and the word after it, see `cleaning.fold_handles`.
        types: renames entity types and drops all others, see `cleaning.map_types`.

    Raises:
        FormatError: the file cannot be opened, is not UTF-8, or has a line that breaks the format.
    """
    return list(SentenceFile(Path(path), file_format, fold_handles, types))


def parse_sentences(
    text: str,
    *,
    name: str = "text",
    file_format: FormatName | None = None,
    pause: Callable[[], object] = lambda: None,
) -> list[Sentence]:
    r"""Like `read_sentences`, from a string; `name` is what messages call it.

    A server can do something else in a `pause`, which is called after each sentence.

    >>> parse_sentences("Hello\tINTJ\n!\tPUNCT\n")
    [Sentence(tokens=('Hello', '!'), tags=('INTJ', 'PUNCT'), text=None)]
    """
    lines = lines_of(text)
    sentences: list[Sentence] = []
    for sentence in _parse(lines, file_format or detect_format(lines, name=name), name):
        sentences.append(sentence)
        pause()
    return sentences


def _parse(lines: Iterable[str], file_format: FormatName, name: str) -> Iterator[Sentence]:
    if file_format == "jsonl":
        return parse_jsonl(lines, name)
    if file_format == "fasta":
        return (Sentence(record.letters) for record in fasta.records(lines, name))
    return parse_columns(lines, LAYOUTS[file_format], name)


def parse_part(
    content: bytes, file_format: FormatName, *, name: str, first_line: int
) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of some lines of a file, each with the line of its beginning.

    Args:
        content: whole sentences.
        file_format: of the file.
        name: of the file, for messages.
        first_line: the number of the first line in the file.

    Raises:
        FormatError: as `read_sentences` does, with the line in the file.
    """
    lines = lines_of(decoded(content, name=name, first_line=first_line))
    if file_format == "jsonl":
        return jsonl.numbered_sentences(lines, name, first_line)
    if file_format == "fasta":
        sequences = fasta.records(lines, name, first_line)
        return ((record.line, Sentence(record.letters)) for record in sequences)
    return columns.numbered_sentences(lines, LAYOUTS[file_format], name, first_line)


def detect_format(lines: Iterable[str], *, name: str = "text") -> FormatName:
    """Return which format lines have, from the first one that is neither blank nor a comment.

    A file without such a line has no sentence in any format; it counts as CoNLL columns.

    Raises:
        FormatError: the line fits no format.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip() or is_comment(line):
            continue
        row = line.split("\t")
        if JSON_START.match(line):
            return "jsonl"
        if line.startswith((fasta.NAME, fasta.COMMENT)) and len(row) == 1:
            return "fasta"
        if len(row) == 10 and WORD_ID.fullmatch(row[0]):
            return "conllu"
        if len(row) == 5 and WORD_ID.fullmatch(row[0]):
            return "iob2"
        if len(row) > 1:
            return "columns"
        raise FormatError(
            f"{name}, line {number}: expected CoNLL-U (10 columns separated by TAB), iob2 (5), "
            f"CoNLL columns (word TAB tag), JSONL or FASTA, got {abbreviate(line)}"
        )
    return "columns"


def render_sentences(sentences: Iterable[Sentence], file_format: FormatName) -> str:
    """Return the sentences as text; `parse_sentences` reads back the same ones.

    Raises:
        FormatError: a column format cannot hold a word, see `columns.render_columns`; or FASTA is
            asked for, which has no place for tags.
    """
    if file_format == "fasta":
        raise FormatError("FASTA has no place for tags: choose columns")
    if file_format == "jsonl":
        return render_jsonl(sentences)
    return render_columns(sentences, LAYOUTS[file_format])
