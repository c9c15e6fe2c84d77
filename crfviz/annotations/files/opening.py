"""Opening of a file with sentences to label: its format, and its sentences one by one.

The formats are those of `text.readers`, and plain text with one sentence per line. Files from
`exporting` are read with their annotations.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeVar, cast

from crfviz.annotations.files.columns import MARK, read_block
from crfviz.annotations.files.fields import FileSentence, check_length
from crfviz.annotations.files.objects import file_sentence, read_own
from crfviz.annotations.records import MAX_WORDS, Item
from crfviz.exceptions import FormatError
from crfviz.text.columns import CONLLU, Block, blocks, is_comment
from crfviz.text.files import abbreviate, check_utf_8, decoded_with_notes, lines_of
from crfviz.text.formats import LAYOUTS, FormatName
from crfviz.text.jsonl import list_elements
from crfviz.text.readers.docbin import is_docbin
from crfviz.text.readers.finding import BINARY, PARQUET, ZIP, Found, find_format
from crfviz.text.readers.misc import note_comments
from crfviz.text.readers.reading import Reader
from crfviz.text.readers.rows import SAMPLE, Columns, tab_lines
from crfviz.text.readers.spelling import Tagged
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import Split

Unit = TypeVar("Unit")  # the lines, or the line, of one sentence
Result = TypeVar("Result")


def open_file(
    content: bytes, name: str, file_format: str | None, reader: Reader
) -> tuple[str, list[str], Iterator[tuple[int, FileSentence | FormatError]]]:
    """Return the format, notes on the text, and every sentence or error with its line.

    Args:
        content: the bytes of the file, unzipped.
        name: name of the file, for messages.
        file_format: one of `importing.INPUT_FORMATS`; None detects the format.
        reader: reads all that `files.exporting` does not write; collects losses and notes.

    Raises:
        FormatError: the whole file is refused, such as binary files and UTF-16.
    """
    if content.startswith((PARQUET, ZIP, *BINARY)) or is_docbin(content):
        read = reader.content(content)
        first = list(islice(read, 1))
        kind = reader.found.format if reader.found else "text"
        return kind, [], _from_readers(chain(first, read), name)
    text, notes = decoded_with_notes(content, name)
    lines = lines_of(text)
    marked = _is_marked(lines)
    wanted = reader.choice.wanted
    found = Found("columns") if marked else find_format(lines[:SAMPLE], wanted, name=name)
    kind = file_format or _kind(found, lines, text, name)
    reader.found = Found("text") if kind == "text" else found
    if kind == "text":
        numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
        return kind, notes, _each(numbered, partial(_read_text, split=reader.choice.split), name)
    if not marked:
        reader.note_columns()
    if kind in LAYOUTS:
        columns = found.columns if kind == found.format and not marked else None
        columns = columns or Columns(LAYOUTS[cast("FormatName", kind)])
        reader.found = replace(found, columns=columns)
        rows = lines if marked else tab_lines(lines, columns, name)
        numbered_blocks = ((block[0][0], block) for block in blocks(rows))

        def read_rows(block: Block, where: str) -> FileSentence | None:
            sentence = read_block(block, where, columns.layout, name)
            if sentence is not None and sentence.annotation is None:
                note_comments(block, sentence.item.gold, reader.losses)
            return sentence

        read = (_tagged(*each) for each in _each(numbered_blocks, read_rows, name))
        return kind, notes, _from_readers(reader.alike(read), name)
    if kind in ("jsonl", "spacy"):
        as_json = "json" if kind == "spacy" else kind
        reader.choice = replace(reader.choice, file_format=as_json)
        reader.objects.own = _own
    return kind, notes, _from_readers(reader.lines(lines), name)


def _own(value: object, where: str) -> Tagged | None:
    """Read a sentence that `exporting` has written, with its annotation; None for others."""
    sentence = read_own(value, where)
    return None if sentence is None else _tagged(0, sentence)


def _tagged(line: int, sentence: FileSentence | FormatError) -> Tagged:
    """Return a sentence for a reader, which normalises gold tags, but no annotations."""
    if isinstance(sentence, FormatError):
        return Tagged(line, Sentence(()), sentence)
    tags = sentence.item.gold if sentence.annotation is None else None
    return Tagged(line, Sentence(tags or (), tags), own=sentence)


def _is_marked(lines: Sequence[str]) -> bool:
    """Return whether columns have annotations, as `files.columns` writes them."""
    rows = (n for n, line in enumerate(lines) if line.strip() and not is_comment(line))
    first = next(rows, len(lines))
    return any(line.startswith(MARK) for line in lines[: first + 1])


def _kind(found: Found, lines: Sequence[str], text: str, name: str) -> str:
    """Return the display name of a format; plain sentences if no other fits."""
    row = next((line for line in lines if line.strip() and not is_comment(line)), "")
    if found.format == "columns" and _is_marked(lines):
        return "conllu" if len(row.split("\t")) == CONLLU.width else "columns"
    if not row or found.format == "fasta":  # FASTA letters are not sentences to label
        return "text"
    if found.format == "json" and text.lstrip().startswith("["):
        first = next(list_elements(text, name), (0, None))[1]
        if isinstance(first, FormatError):
            return "text"
        pair = isinstance(first, list) and len(first) == 2 and isinstance(first[1], dict)
        return (
            "spacy"
            if pair or (isinstance(first, dict) and ("annotations" in first or "entities" in first))
            else "json"
        )
    return found.format


def _from_readers(
    sentences: Iterable[Tagged], name: str
) -> Iterator[tuple[int, FileSentence | FormatError]]:
    for each in sentences:
        try:
            if each.error is not None:
                raise each.error
            if each.own is None:
                yield each.line, file_sentence(each.sentence, f"{name}, line {each.line}")
            elif each.own.annotation is None:
                item = replace(each.own.item, gold=each.sentence.tags)
                yield each.line, replace(each.own, item=item)
            else:
                yield each.line, each.own
        except FormatError as error:
            yield each.line, error


def _each(
    units: Iterable[tuple[int, Unit | FormatError]],
    read: Callable[[Unit, str], Result | None],
    name: str,
) -> Iterator[tuple[int, Result | FormatError]]:
    for line, unit in units:
        if isinstance(unit, FormatError):
            yield line, unit
            continue
        try:
            sentence = read(unit, f"{name}, line {line}")
        except FormatError as error:
            yield line, error
        else:
            if sentence is not None:
                yield line, sentence


def _read_text(line: str, where: str, split: Split) -> FileSentence:
    check_utf_8(line, where)
    text = line.strip()
    check_length(len(text.split(None, MAX_WORDS)), where)  # before the slow tokenizer
    places = tuple((token.start, token.end) for token in islice(split(text), MAX_WORDS + 1))
    check_length(len(places), where)
    if not places:
        raise FormatError(f"{where}: expected a sentence, got {abbreviate(line)}")
    return FileSentence(Item(text, places))
