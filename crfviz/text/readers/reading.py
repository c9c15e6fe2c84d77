"""Sentences of a file of any format: detect the format, read it, and normalise the tags.

Columns, JSONL and FASTA are read as a stream, other files completely. Losses are warnings.
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
from crfviz.text.readers.roles import are_tags
from crfviz.text.readers.spelling import AS_WRITTEN, Tagged, converted, target_scheme, usual
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

MAX_UNPACKED = 2 * 2**30  # bytes of a gzip archive
CHUNK = 2**20  # bytes
HAS_ANSWERS = "the last column has a tagger's answers; the one before was read"
NO_UPOS = "the column UPOS is empty; the column XPOS has tags (xpos, or 5)"


@dataclass(frozen=True)
class Choice:
    """The options of a reader; None means detection from the content."""

    file_format: str | None = None
    column: str | int | None = None  # column of the tags: a name, or a number from 1
    scheme: str | None = None  # target scheme of entities: BIO, IOB1, BIOES or BILOU
    strict: bool = True  # whether to reject tags outside schemes, which otherwise stay
    split: Split = tokens  # for plain texts
    apart: str = ""  # tokenizer that splits lines of several sentences; empty for none


class Reader:
    """Reader of one file, which records its findings.

    Args:
        name: name of the file, for messages.
        choice: the options.
        most: maximum bytes of an unpacked archive.
    """

    def __init__(self, name: str, choice: Choice | None = None, most: int = MAX_UNPACKED) -> None:
        self.choice = choice or Choice()
        self.most = most
        self.losses = Losses(name)
        self.found: Found | None = None  # the format, once reading has begun
        self.notes: list[str] = []  # assumptions of the reader
        self.has_documents = False  # whether `-DOCSTART-` separates documents
        self.recoded = False  # whether the file was compressed, or not UTF-8
        column = None if self.choice.column is None else str(self.choice.column)
        self.objects = ObjectReader(self.losses, column, split=self.choice.split)
        self._name = name

    def path(self, path: Path) -> Iterator[Tagged]:
        """Yield the sentences of a file, see `content`; brat's `.ann` is read with its `.txt`.

        Raises:
            FormatError: as `content`, or the file cannot be opened.
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
        """Yield the sentences in the bytes of a file; unreadable ones have an error.

        Raises:
            FormatError: the format is unknown; names the likely type and the action.
        """
        yield from self._file(io.BytesIO(content), seekable=True)

    def lines(self, lines: Iterable[str]) -> Iterator[Tagged]:
        """Yield the sentences of lines without line ends, see `content`."""
        source = iter(lines)
        head = list(islice(source, rows.SAMPLE))
        self.found = self._format(head)
        self.has_documents = any(line.startswith(rows.DOCUMENT) for line in head)
        self.note_columns(self.found)
        yield from self._alike(self._read(chain(head, source)))

    def note_columns(self, found: Found) -> None:
        """Record the columns of tags that are not read."""
        if found.columns and found.columns.predicted is not None:
            self.losses.add(HAS_ANSWERS, 0)
        if found.columns and found.columns.lost:
            self.losses.add(found.columns.lost, 0)

    def _file(self, file: BinaryIO, *, seekable: bool) -> Iterator[Tagged]:
        # mypy: any readable binary file works
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
            if b"xl/" in content:
                what, advice = "a spreadsheet", "save it as CSV"
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
        if wanted in ("table", "inline", "csv", "pairs"):
            found = find_format(head, column, name=self._name)
            if found.format == wanted:
                return found
            separator = inline.separator_of([line for line in head if line.strip()]) or "/"
            return Found(wanted, separator=separator if wanted == "inline" else ",")
        return Found(str(wanted))

    def _read(self, lines: Iterable[str]) -> Iterator[Tagged]:
        """Yield the sentences of a text without normalisation."""
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
            case "parallel":
                return self._each(
                    lines, lambda line, where: [inline.parallel_sentence(line, where)]
                )
            case "csv":
                lines = ("\t".join(tables.cells_of_csv(line)) for line in lines)
                return self._columns(lines, rows.Columns(columns.COLUMNS))
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
            try:  # faster than `_kept`, which takes as long as a short sentence
                sentence = columns.sentence_of(block, layout, name)
            except FormatError as error:
                yield Tagged(block[0][0], Sentence(()), error)
            else:
                if sentence.tokens:
                    if layout == columns.CONLLU and sentence.tags is None and _has_xpos(block):
                        self.losses.add(NO_UPOS, block[0][0])
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
        """Read each non-blank line separately."""
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
        """Yield an error in place of its sentence."""
        errors: list[Tagged] = []
        try:
            yield errors
        except FormatError as error:
            errors.append(Tagged(line, Sentence(()), error))

    def _alike(self, sentences: Iterable[Tagged]) -> Iterator[Tagged]:
        """Normalise the tags of all formats, and convert them to the requested scheme."""
        if self.choice.scheme == AS_WRITTEN:
            yield from sentences
            return
        same = usual(sentences, lambda note: self.notes.append(f"{self._name}: {note}"))
        scheme = self.choice.scheme
        if scheme is None:
            yield from same
        else:
            yield from converted(same, target_scheme(scheme), strict=self.choice.strict)


def _has_xpos(block: columns.Block) -> bool:
    """Return whether a CoNLL-U sentence has tags in its fifth column."""
    cells = (line.split("\t") for _, line in block if not columns.is_comment(line))
    return any(row[4] not in ("_", "") for row in cells)


def strictly(
    reader: Reader,
    sentences: Iterable[Tagged],
    told: Callable[[str], object] | None = None,
    *,
    tagged: bool = True,
) -> Iterator[Tagged]:
    """Yield all sentences, and report the losses at the end.

    Args:
        reader: the reader of the file.
        sentences: the sentences that it yields.
        told: called with losses and notes; None warns of losses.
        tagged: whether to reject plain text, which has no tags.

    Raises:
        FormatError: the first error of a sentence, or the file is plain text.
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
    """Return the error for a file that should have tags but is plain text."""
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
        and are_tags([value[-1]])
    )


def _is_utf_8(file: BinaryIO) -> bool:
    """Return whether the whole file is UTF-8; the file is then rewound."""
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
