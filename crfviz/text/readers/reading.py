"""Sentences of a file of any format: detect the format, read it, and normalise the tags.

Columns, JSONL and FASTA are read as a stream, other files completely. Losses are warnings.
"""

import io
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from crfviz.exceptions import FormatError
from crfviz.text import columns, fasta, jsonl
from crfviz.text.files import lines_of
from crfviz.text.readers import brat, corpora, docbin, inline, misc, rows, tables
from crfviz.text.readers.decoding import refuse_office, text_lines, text_otherwise, unzipped
from crfviz.text.readers.ends import DOCUMENT
from crfviz.text.readers.finding import (
    BINARY,
    GZIP,
    LAYOUTS,
    PARQUET,
    ZIP,
    Found,
    find_format,
    summary_of,
)
from crfviz.text.readers.keys import elements_of
from crfviz.text.readers.kinds import are_tags
from crfviz.text.readers.losses import Losses
from crfviz.text.readers.objects import ObjectReader
from crfviz.text.readers.spans import Unit, settled
from crfviz.text.readers.spelling import (
    AS_WRITTEN,
    Tagged,
    converted,
    require_one_set,
    target_scheme,
    usual,
)
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

MAX_UNPACKED = 2 * 2**30  # bytes of a gzip archive
LAYERED = ("docbin", "brat", "webanno", "conll2012")  # formats with a choice of the tags alone
ONE_WAY = (*LAYERED, "fasta", "inline", "parallel", "text")
NAMES = {"conllu": rows.CONLLU_NAMES, "conllu-xpos": rows.CONLLU_NAMES}
HAS_ANSWERS = "the last column has a tagger's answers; the one before was read"
NO_UPOS = "the column UPOS is empty, and the column XPOS has tags; tags=xpos reads them"


@dataclass(frozen=True)
class Choice:
    """The options of a reader; None means detection from the content."""

    file_format: str | None = None
    wanted: rows.Wanted = rows.ANY  # the columns or keys that the caller names
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
        self.objects = ObjectReader(self.losses, self.choice.wanted, split=self.choice.split)
        self.unit = ""  # what spans count
        self._name = name
        self._tags: set[str] = set()
        self._count = self._untagged = 0

    @property
    def reading(self) -> str:
        """What was read, in one line: format, words, tags, ends of sentences, scheme, number."""
        return self.summary(self._tags, self._count, self._untagged)

    def summary(self, tags: Collection[str], count: int, untagged: int = 0) -> str:
        """Return the line of `reading` for sentences that were read outside of this class."""
        read = self.objects
        keys = read.words_in, read.tags_in
        return summary_of(self.found or Found("text"), keys, self.unit, tags, count, untagged)

    def path(self, path: Path) -> Iterator[Tagged]:
        """Yield the sentences of a file, see `content`; brat's `.ann` is read with its `.txt`.

        Raises:
            FormatError: as `content`, or the file cannot be opened.
        """
        try:
            pair = path.with_suffix(".txt"), path.with_suffix(".ann")
            if path.suffix in (".ann", ".txt") and all(each.is_file() for each in pair):
                text, marks = (each.read_bytes() for each in pair)
                yield from self.alike(self._brat([(text, marks)]))
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
        self._begin(self._format(head))
        self.has_documents = any(line.startswith(DOCUMENT) for line in head)
        self.note_columns()
        yield from self.alike(self._read(chain(head, source)))

    def note_columns(self) -> None:
        """Record the columns of tags that are not read."""
        columns = self.found.columns if self.found else None
        if columns and columns.predicted is not None:
            self.losses.add(HAS_ANSWERS, 0)
        if columns and columns.lost:
            self.losses.add(columns.lost, 0)

    def _file(self, file: BinaryIO, *, seekable: bool) -> Iterator[Tagged]:
        # mypy: any readable binary file works
        buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file)  # type: ignore[type-var]
        head = buffered.peek(16)[:16]
        if head.startswith(GZIP):
            self.recoded = True
            yield from self.content(unzipped(buffered, self._name, self.most))
        elif head.startswith((PARQUET, ZIP)) or docbin.is_docbin(buffered.peek(4096)):
            yield from self.alike(self._binary(buffered.read(), head))
        elif what := next((BINARY[start] for start in BINARY if head.startswith(start)), None):
            raise FormatError(f"{self._name}: expected a text file, got {what[0]}; {what[1]}")
        else:
            yield from self.lines(self._text(buffered, seekable=seekable))

    def _binary(self, content: bytes, head: bytes) -> Iterator[Tagged]:
        if head.startswith(PARQUET):
            self.found = Found("parquet")
            return self._objects(tables.read_parquet(content, self.objects))
        if head.startswith(ZIP):
            refuse_office(content, self._name)
            return self._brat(brat.brat_pairs(content, self.losses, self.most))
        self._begin(Found("docbin"))
        layer, sentences = docbin.read_docbin(content, self.losses, self.most, self._named_layer)
        self.objects.tags_in = {layer} - {""}
        return sentences

    def _brat(self, pairs: Iterable[brat.Pair]) -> Iterator[Tagged]:
        self._begin(Found("brat"))
        return brat.read_brat(pairs, self.losses, self.choice.split, self._named_layer)

    @property
    def _named_layer(self) -> str | None:
        named = self.choice.wanted.tags
        return None if named is None else str(named)

    def _begin(self, found: Found) -> None:
        """Record the format, and refuse named columns that it does not have."""
        self.found, wanted = found, self.choice.wanted
        if found.format not in ONE_WAY:
            return
        named = {"words": wanted.words, "sentences": wanted.sentences}
        if found.format not in LAYERED:
            named["tags"] = wanted.tags
        elif wanted.tags is not None:
            self.objects.tags_in.add(str(wanted.tags))
        if other := next((part for part, each in named.items() if each is not None), None):
            raise FormatError(
                f"{self._name}: {found.format} leaves no choice of the {other}; leave out {other}="
            )

    def _text(self, file: BinaryIO, *, seekable: bool) -> Iterator[str]:
        """Yield the lines of a text in UTF-8, UTF-16 or Windows-1252."""
        if (whole := text_otherwise(file, self._name, seekable=seekable)) is None:
            return text_lines(file, self._name)
        text, notes = whole
        self.notes += notes
        self.recoded = True
        return iter(lines_of(text))

    def _format(self, head: list[str]) -> Found:
        chosen, wanted = self.choice.file_format, self.choice.wanted
        if chosen in LAYOUTS and not wanted:
            return Found(chosen, rows.Columns(LAYOUTS[chosen], names=NAMES.get(chosen, ())))
        if chosen in (None, *LAYOUTS):
            return find_format(head, wanted, name=self._name)
        if chosen in ("columns", "pairs"):
            known = rows.columns_of(head, wanted, name=self._name)
            return Found("columns", known or rows.Columns(columns.COLUMNS))
        if chosen in ("table", "inline"):
            found = find_format(head, wanted, name=self._name)
            if found.format == chosen:
                return found
            separator = (
                inline.separator_of([line for line in head if line.strip()], self._name) or "/"
            )
            return Found(chosen, separator=separator if chosen == "inline" else ",")
        return Found(str(chosen))

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
                return corpora.read_webanno(lines, self.choice.wanted.tags, self.losses)
            case "conll2012":
                return corpora.read_conll_2012(lines, self.choice.wanted.tags, self.losses)
            case "table":
                text = "\n".join(lines)
                rows_read = tables.read_table(
                    text, found.separator, self.choice.wanted, self.objects
                )
                return _tagged(self.settled(rows_read))
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
        return self._columns(lines, found.columns or rows.Columns(columns.COLUMNS))

    def _sentences(self, line: str) -> list[str]:
        return split_sentences(line, self.choice.apart) if self.choice.apart else [line]

    def _columns(self, lines: Iterable[str], known: rows.Columns) -> Iterator[Tagged]:
        layout, name = known.layout, self._name
        for block in columns.blocks(rows.tab_lines(lines, known, name)):
            try:  # faster than `_kept`, which takes as long as a short sentence
                sentence = columns.sentence_of(block, layout, name)
            except FormatError as error:
                yield Tagged(block[0][0], Sentence(()), error)
            else:
                misc.note_comments(block, sentence.tags, self.losses)
                if len(sentence.tokens) < columns.words_in(block, layout) and any(
                    "".join(line.split("\t")[layout.word :][:1]).strip(" \r").isspace()
                    for _, line in block
                ):
                    self.losses.add("words of white space were left out", block[0][0])
                if sentence.tokens:
                    if layout == columns.CONLLU and sentence.tags is None and _has_xpos(block):
                        self.losses.add(NO_UPOS, block[0][0])
                    yield Tagged(block[0][0], sentence)

    def _json_lines(self, lines: Iterable[str]) -> Iterator[Tagged]:
        def values() -> Iterator[tuple[int, object]]:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    try:
                        value = jsonl.parsed(line, f"{self._name}, line {number}")
                    except FormatError as error:
                        value = error
                    yield number, value

        return self._objects(values())

    def _json(self, lines: Iterable[str]) -> Iterator[Tagged]:
        text = "\n".join(lines)
        if text.lstrip().startswith("{"):
            value = jsonl.parsed(text, self._name)
            inner = (
                elements_of(value, self.choice.wanted.sentences, self._name)
                if isinstance(value, dict)
                else None
            )
            elements: Iterable[tuple[int, object]] = (
                ((1, value),) if inner is None else ((n, each) for n, each in enumerate(inner, 1))
            )
        else:
            elements = list(jsonl.list_elements(text, self._name))
            values = [value for _, value in elements]
            pair = len(values) == 2 and isinstance(values[0], str)
            if pair or (values and all(_is_row(value) for value in values)):
                elements = ((1, values),)
        return self._objects(elements)

    def _objects(self, values: Iterable[tuple[int, object]]) -> Iterator[Tagged]:
        """Read JSON values; an error stands in place of its sentence."""
        yield from _tagged(self.settled(self.objects.each(values)))
        self.objects.require_tags()

    def settled(self, items: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Yield numbered sentences after deciding what their spans count, see `spans.settled`."""

        def note(unit: Unit) -> None:
            self.unit = str(unit)

        return settled(items, self.losses, self.choice.split, note)

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

    def alike(self, sentences: Iterable[Tagged]) -> Iterator[Tagged]:
        """Normalise the tags of all formats, and convert them to the requested scheme."""
        scheme = self.choice.scheme
        same = iter(sentences)
        if scheme != AS_WRITTEN:
            same = usual(same, lambda note: self.notes.append(f"{self._name}: {note}"))
        if scheme not in (None, AS_WRITTEN):
            same = converted(same, target_scheme(str(scheme)), strict=self.choice.strict)
        for each in same:
            self._tags.update(each.sentence.tags or ())
            self._count += each.error is None
            self._untagged += each.error is None and each.sentence.tags is None
            yield each
        if self.choice.strict and self.choice.wanted.tags is None and scheme != AS_WRITTEN:
            require_one_set(self._tags, self._name)


def _tagged(items: Iterable[tuple[int, Tagged | Sentence | FormatError]]) -> Iterator[Tagged]:
    for line, item in items:
        if isinstance(item, Tagged):
            yield replace(item, line=line)
        elif isinstance(item, FormatError):
            yield Tagged(line, Sentence(()), item)
        elif item.tokens:
            yield Tagged(line, item)


def _has_xpos(block: columns.Block) -> bool:
    """Return whether a CoNLL-U sentence has tags in its fifth column."""
    cells = (line.split("\t") for _, line in block if not columns.is_comment(line))
    return any(row[4] not in ("_", "") for row in cells)


def _is_row(value: object) -> bool:
    """Return whether a value is a row of a word and its tags."""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(cell, str) for cell in value)
        and are_tags([value[-1]])
    )
