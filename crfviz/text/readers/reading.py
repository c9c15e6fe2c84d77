"""Sentences of a file of any format: find the format, read it, then treat all alike.

Files of columns, JSONL and FASTA are read as a stream, all others whole. Losses are warnings.
"""

import codecs
import gzip
import io
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from crfviz.exceptions import FormatError
from crfviz.text import columns, fasta, jsonl
from crfviz.text.files import UTF_16, decoded, decoded_otherwise, lines_of
from crfviz.text.readers import corpora, documents, inline, rows, tables
from crfviz.text.readers.finding import (
    BINARY,
    GZIP,
    LAYOUTS,
    PARQUET,
    ZIP,
    Found,
    find_format,
)
from crfviz.text.readers.losses import Losses, LossWarning
from crfviz.text.readers.objects import ObjectReader, elements_of
from crfviz.text.readers.spelling import Tagged, converted, target_scheme, usual
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

MAX_UNPACKED = 2 * 2**30  # bytes of a gzip archive
CHUNK = 2**20  # bytes
HAS_ANSWERS = "the last column has a tagger's answers; the one before was read"


@dataclass(frozen=True)
class Choice:
    """What a reader was asked for; None leaves it to the content."""

    file_format: str | None = None
    column: str | int | None = None  # of the tags: a name, or a number from 1
    scheme: str | None = None  # convert entities to BIO, IOB1, BIOES or BILOU
    strict: bool = True  # refuse tags that are of no scheme; else they stay
    split: Split = tokens  # of texts that come without words
    apart: str = ""  # takes several sentences of a line apart, by the marks of this tokenizer


class Reader:
    """Reader of one file, which remembers what it found.

    Args:
        name: of the file, for messages.
        choice: what was asked for.
        most: bytes that an archive may have when it is unpacked.
    """

    def __init__(self, name: str, choice: Choice | None = None, most: int = MAX_UNPACKED) -> None:
        self.choice = choice or Choice()
        self.most = most
        self.losses = Losses(name)
        self.found: Found | None = None  # once reading has begun
        self.notes: list[str] = []  # how it was read
        self.has_documents = False  # whether `-DOCSTART-` stands between its sentences
        self.recoded = False  # whether it was unpacked, or was not UTF-8
        column = None if self.choice.column is None else str(self.choice.column)
        self.objects = ObjectReader(self.losses, column, split=self.choice.split)
        self._name = name

    def path(self, path: Path) -> Iterator[Tagged]:
        """Yield the sentences of a file, see `content`; brat's `.ann` is read with its `.txt`.

        Raises:
            FormatError: as `content` does, or the file cannot be opened.
        """
        try:
            pair = path.with_suffix(".txt"), path.with_suffix(".ann")
            if path.suffix in (".ann", ".txt") and all(each.is_file() for each in pair):
                self.found = Found("brat")
                parts = [decoded(each.read_bytes(), name=str(each)) for each in pair]
                text, marks = (part.replace("\r\n", "\n") for part in parts)
                yield from self._alike(
                    documents.read_brat(text, marks, self.losses, self.choice.split)
                )
                return
            with path.open("rb") as file:
                yield from self._file(file, seekable=path.is_file())
        except OSError as error:
            what = error.strerror or error
            raise FormatError(f"{path}: expected a file to read, got: {what}") from error

    def content(self, content: bytes) -> Iterator[Tagged]:
        """Yield the sentences of the bytes of a file; those that cannot be read have an error.

        Raises:
            FormatError: the file is of no format; says what it seems to be and what to do.
        """
        yield from self._file(io.BytesIO(content), seekable=True)

    def lines(self, lines: Iterable[str]) -> Iterator[Tagged]:
        """Yield the sentences of lines without line ends, see `content`."""
        source = iter(lines)
        head = list(islice(source, rows.SAMPLE))
        self.found = self._format(head)
        self.has_documents = any(line.startswith(rows.DOCUMENT) for line in head)
        if self.found.columns and self.found.columns.predicted is not None:
            self.losses.add(HAS_ANSWERS, 0)
        yield from self._alike(self._read(chain(head, source)))

    def _file(self, file: BinaryIO, *, seekable: bool) -> Iterator[Tagged]:
        buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file)  # type: ignore[type-var]
        head = buffered.peek(16)[:16]
        if head.startswith(GZIP):
            self.recoded = True
            yield from self.content(self.unzipped(buffered))
        elif head.startswith((PARQUET, ZIP)) or documents.is_docbin(buffered.peek(4096)):
            yield from self._alike(self._binary(buffered.read(), head))
        elif what := next((BINARY[start] for start in BINARY if head.startswith(start)), None):
            raise FormatError(f"{self._name}: expected a text file, got {what[0]}; {what[1]}")
        else:
            yield from self.lines(self._text(buffered, seekable=seekable))

    def unzipped(self, file: BinaryIO) -> bytes:
        """Return the content of a gzip archive.

        Raises:
            FormatError: it is damaged or too large.
        """
        try:
            with gzip.open(file) as inner:
                content = inner.read(self.most + 1)
        except (EOFError, zlib.error, OSError) as error:
            raise FormatError(f"{self._name}: expected a gzip archive, got {error}") from error
        if len(content) > self.most or content.startswith(GZIP):
            size = f"{self.most / 2**20:,.0f} MB"
            raise FormatError(f"{self._name}: expected at most {size} in one gzip archive")
        return content

    def _binary(self, content: bytes, head: bytes) -> Iterator[Tagged]:
        if head.startswith(PARQUET):
            self.found = Found("parquet")
            return tables.read_parquet(content, self.choice.column, self.losses, self.choice.split)
        if head.startswith(ZIP):
            self._refuse_office(content)
            self.found = Found("brat")
            return documents.read_archive(content, self.losses, self.most, self.choice.split)
        self.found = Found("docbin")
        return documents.read_docbin(content, self.losses, self.most)

    def _refuse_office(self, content: bytes) -> None:
        if b"[Content_Types].xml" in content[:4096] or b"mimetypeapplication/vnd" in content[:256]:
            what, advice = BINARY[ZIP]
            raise FormatError(f"{self._name}: expected a text file, got {what}; {advice}")

    def _text(self, file: BinaryIO, *, seekable: bool) -> Iterator[str]:
        """Yield the lines of a text in UTF-8, UTF-16 or Windows-1252."""
        head = file.peek(2)[:2]  # type: ignore[attr-defined] # a BufferedReader
        if head in UTF_16 or (seekable and not _is_utf_8(file)):
            content = file.read()
            text, notes = decoded_otherwise(content, self._name) or (
                decoded(content, name=self._name),
                [],
            )
            self.notes += notes
            self.recoded = True
            yield from lines_of(text)
            return
        for number, line in enumerate(file, start=1):
            text = decoded(line, name=self._name, first_line=number)
            yield text.removesuffix("\n").removesuffix("\r")

    def _format(self, head: list[str]) -> Found:
        wanted, column = self.choice.file_format, self.choice.column
        if wanted in LAYOUTS and column is None:
            return Found(wanted, rows.Columns(LAYOUTS[wanted]))
        if wanted in (None, *LAYOUTS):
            return find_format(head, column, name=self._name)
        if wanted == "columns":
            chosen = rows.columns_of(head, column, name=self._name)
            return Found("columns", chosen or rows.Columns(columns.COLUMNS))
        if wanted in ("table", "inline", "pairs"):
            found = find_format(head, column, name=self._name)
            if found.format == wanted:
                return found
            separator = inline.separator_of([line for line in head if line.strip()]) or "/"
            return Found(wanted, separator=separator if wanted == "inline" else ",")
        return Found(str(wanted))

    def _read(self, lines: Iterable[str]) -> Iterator[Tagged]:
        """Yield the sentences of a text as they are written."""
        found = self.found or Found("text")
        match found.format:
            case "jsonl":
                return self._json_lines(lines)
            case "json":
                return self._json(lines)
            case "fasta":
                records = fasta.records(lines, self._name)
                return (Tagged(record.line, Sentence(record.letters)) for record in records)
            case "webanno":
                return corpora.read_webanno(lines, self.choice.column, self.losses)
            case "conll2012":
                return corpora.read_conll_2012(lines, self.choice.column, self.losses)
            case "table":
                text = "\n".join(lines)
                return tables.read_table(
                    text, found.separator, self.choice.column, self.losses, self.choice.split
                )
            case "inline":
                return self._each(
                    lines,
                    lambda line, where: [inline.inline_sentence(line, found.separator, where)],
                )
            case "text":
                return self._each(
                    lines,
                    lambda line, _: [
                        Sentence(
                            tuple(token.text for token in self.choice.split(text)),
                            None,
                            text.strip(),
                        )
                        for text in self._sentences(line)
                    ],
                )
            case "pairs":
                lines = (
                    "\t".join(line.rpartition(",")[::2]) if "," in line else line for line in lines
                )
                return self._columns(lines, rows.Columns(columns.COLUMNS))
        return self._columns(lines, found.columns or rows.Columns(columns.COLUMNS))

    def _sentences(self, line: str) -> list[str]:
        return split_sentences(line, self.choice.apart) if self.choice.apart else [line]

    def _columns(self, lines: Iterable[str], known: rows.Columns) -> Iterator[Tagged]:
        layout, name = known.layout, self._name
        for block in columns.blocks(rows.tab_lines(lines, known)):
            try:  # not `_kept`, which takes as long as a short sentence
                sentence = columns.sentence_of(block, layout, name)
            except FormatError as error:
                yield Tagged(block[0][0], Sentence(()), error)
            else:
                if sentence.tokens:
                    yield Tagged(block[0][0], sentence)

    def _json_lines(self, lines: Iterable[str]) -> Iterator[Tagged]:
        def read(line: str, where: str) -> Iterable[Sentence]:
            value = jsonl.parsed(line, where)
            return self.objects.sentences(value, int(where.rpartition(" ")[2]))

        return self._each(lines, read)

    def _json(self, lines: Iterable[str]) -> Iterator[Tagged]:
        text = "\n".join(lines)
        if text.lstrip().startswith("{"):
            value = jsonl.parsed(text, self._name)
            inner = elements_of(value) if isinstance(value, dict) else None
            elements: Iterable[tuple[int, object]] = (
                ((1, value),) if inner is None else ((n, each) for n, each in enumerate(inner, 1))
            )
        else:
            elements = list(jsonl.list_elements(text, self._name))
            values = [value for _, value in elements]
            pair = len(values) == 2 and isinstance(values[0], str)
            if pair or (values and all(_is_row(value) for value in values)):
                elements = ((1, values),)
        for line, element in elements:
            with self._kept(line) as errors:
                if isinstance(element, FormatError):
                    raise element
                for sentence in self.objects.sentences(element, line):
                    if sentence.tokens:
                        yield Tagged(line, sentence)
            yield from errors

    def _each(
        self, lines: Iterable[str], read: Callable[[str, str], Iterable[Sentence]]
    ) -> Iterator[Tagged]:
        """Read each line that is not blank by itself."""
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            with self._kept(number) as errors:
                for sentence in read(line, f"{self._name}, line {number}"):
                    if sentence.tokens:
                        yield Tagged(number, sentence)
            yield from errors

    @contextmanager
    def _kept(self, line: int) -> Iterator[list[Tagged]]:
        """Keep an error as the sentence that it stands for."""
        errors: list[Tagged] = []
        try:
            yield errors
        except FormatError as error:
            errors.append(Tagged(line, Sentence(()), error))

    def _alike(self, sentences: Iterable[Tagged]) -> Iterator[Tagged]:
        """Give all formats the usual tags, and the scheme that was asked for."""
        same = usual(sentences, lambda note: self.notes.append(f"{self._name}: {note}"))
        scheme = self.choice.scheme
        if scheme is None:
            yield from same
        else:
            yield from converted(same, target_scheme(scheme), strict=self.choice.strict)


def strictly(
    reader: Reader,
    sentences: Iterable[Tagged],
    told: Callable[[str], object] | None = None,
    *,
    tagged: bool = True,
) -> Iterator[Tagged]:
    """Yield all sentences; at the end the losses are told.

    Args:
        reader: of the file.
        sentences: that it yields.
        told: called with each loss and with how the file was read; None warns of losses.
        tagged: refuse plain text, in which no word can have a tag.

    Raises:
        FormatError: the first that a sentence has, or the file is plain text.
    """
    for each in sentences:
        if tagged and reader.found and reader.found.format == "text":
            raise plain_text(reader.losses.name, each.line)
        if each.error is not None:
            raise each.error
        yield each
    if told is not None:
        for message in [*reader.notes, *reader.losses.messages()]:
            told(message)
        return
    for message in [*(m for m in reader.notes if "Windows" in m), *reader.losses.messages()]:
        warnings.warn(message, LossWarning, stacklevel=3)


def plain_text(name: str, line: int) -> FormatError:
    """Return the error of a file of tagged sentences that has only text."""
    return FormatError(
        f"{name}, line {line}: seems to be plain text without tags; expected a word a line with "
        f"its tag behind a TAB or blank, CoNLL-U, JSONL or another format of docs/files.md"
    )


def _is_row(value: object) -> bool:
    """Return whether a value is a row of a word and its tags."""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(cell, str) for cell in value)
        and rows.are_tags([value[-1]])
    )


def _is_utf_8(file: BinaryIO) -> bool:
    """Return whether all of a file is UTF-8; it is read from its beginning afterwards."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        file.seek(0)
    return True
