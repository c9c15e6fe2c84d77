"""Tables with a header and one word or one sentence per row, as CSV, TSV or Parquet."""

import ast
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.jsonl import parsed, sentence_of
from crfviz.text.readers.losses import Losses
from crfviz.text.readers.objects import TEXTS, ClassNames, ObjectReader
from crfviz.text.readers.roles import TAG_NAMES, WORD_NAMES, are_tags
from crfviz.text.readers.rows import chosen_column
from crfviz.text.readers.spelling import Tagged
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

SEPARATORS = (",", ";", "\t", "|")
_NAME = re.compile(r"[^\W\d][\w .#-]{0,30}")
_NUMBER = re.compile(r"-?\d[\d.,:/-]*")
SENTENCE_NAMES = (
    *("sentence #", "sentence#", "sentence_id", "sentence id", "sent_id", "sentence_no", "sent"),
    *("sentence_number", "sentence_num", "sentence_idx", "sentence", "sentid", "sentence_index"),
)


def header_of(line: str) -> tuple[str, list[str]] | None:
    """Return the separator and the column names of a table of tagged words or of texts."""
    for separator in SEPARATORS:
        try:
            row = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:
            return None
        names = [cell.strip().lower() for cell in row]
        has_tag = any(name in TAG_NAMES for name in names)
        text = next((name for name in names if name in (*WORD_NAMES, *TEXTS)), None)
        has_number = any(name in SENTENCE_NAMES and name != text for name in names)
        if len(names) > 1 and text is not None and (has_tag or has_number):
            return separator, names
    return None


def untagged_table(lines: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return separator and column names of a table without tags; None if it is not a table.

    A table has a header, and rows with as many cells. It also has a column of numbers or of texts,
    unlike sentences with commas.
    """
    for separator in SEPARATORS:
        try:
            header, *rows = list(csv.reader(lines, delimiter=separator, strict=True))
        except csv.Error:
            continue
        names = [cell.strip().lower() for cell in header]
        widths = {len(row) for row in (header, *rows)}
        if len(names) < 2 or len(widths) > 1 or not rows or not all(map(_NAME.fullmatch, names)):
            continue
        columns = list(zip(*rows, strict=True))
        if are_tags([header[-1], *columns[-1]]):  # `Data,NOUN` is a word and its tag
            continue
        has_numbers = any(all(map(_NUMBER.fullmatch, column)) for column in columns)
        texts = (cells for name, cells in zip(names, columns, strict=True) if name in TEXTS)
        if has_numbers or any(
            2 * sum(" " in cell for cell in cells) >= len(rows) for cells in texts
        ):
            return separator, names
    return None


def cells_of_csv(line: str) -> list[str]:
    """Return the cells of a CSV row; the line itself if its quotes are broken."""
    try:
        return next(csv.reader([line], strict=True), [""])
    except csv.Error:
        return [line]


def read_table(
    text: str, separator: str, column: str | int | None, losses: Losses, split: Split = tokens
) -> Iterator[Tagged]:
    """Yield the sentences of a CSV or TSV table.

    A sentence number may be in all its rows or only in the first. Without such a column an empty
    row ends a sentence.

    Raises:
        FormatError: the table has no column of words, or rows of different widths.

    """
    import pandas as pd

    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            header=None,  # rows with too many cells raise an error
            encoding_errors="strict",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, ValueError) as error:
        raise FormatError(f"{losses.name}: expected a table with a header, got {error}") from error
    header, *rows = table.to_numpy().tolist()
    names = [str(name).strip().lower() for name in header]
    word = next((names.index(name) for name in WORD_NAMES if name in names), None)
    if word is None:
        yield from _texts(rows, names, losses, split)
        return
    tag = chosen_column(column, names, len(names), losses.name)
    if tag is None:
        tag = next((names.index(name) for name in TAG_NAMES if name in names), None)
    if tag is None:
        got = abbreviate_names(names)
        raise FormatError(f"{losses.name}: expected a column of tags, got {got}")
    number = next((names.index(name) for name in SENTENCE_NAMES if name in names), None)
    if any(str(row[word]).startswith("[") for row in rows[:1]):
        yield from _lists(rows, word, tag, losses)
        return
    yield from _grouped(rows, word, tag, number, losses)


def _grouped(
    rows: Sequence[Sequence[str]], word: int, tag: int, number: int | None, losses: Losses
) -> Iterator[Tagged]:
    words: list[str] = []
    tags: list[str] = []
    before, begun = "", 2
    for line, row in enumerate(rows, start=2):
        here = row[number].strip() if number is not None else ""
        ends = bool(here and here != before) if number is not None else not any(row)
        if ends and words:
            yield Tagged(begun, Sentence(tuple(words), tuple(tags)))
            words, tags = [], []
        begun = begun if words else line
        before = here or before
        if not row[word].strip():
            if any(row) and row[tag].strip():
                losses.add("rows with a tag and no word were left out", line)
            continue
        if not row[tag].strip():
            raise FormatError(
                f"{losses.name}, line {line}: expected a tag for {abbreviate(row[word])}"
            )
        words.append(row[word].strip())
        tags.append(row[tag].strip())
    if words:
        yield Tagged(begun, Sentence(tuple(words), tuple(tags)))


def _lists(rows: Sequence[Sequence[str]], word: int, tag: int, losses: Losses) -> Iterator[Tagged]:
    """Read cells with lists: one sentence per row."""
    reader = ObjectReader(losses)
    for line, row in enumerate(rows, start=2):
        cells = [_list_of(row[index], f"{losses.name}, line {line}") for index in (word, tag)]
        for sentence in reader.sentences({"tokens": cells[0], "tags": cells[1]}, line):
            yield Tagged(line, sentence)


def _list_of(cell: str, where: str) -> object:
    """Return the list in a cell, in Python's notation."""
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise FormatError(
            f"{where}: expected a list in the cell, got {abbreviate(cell)}"
        ) from error


def _texts(
    rows: Sequence[Sequence[str]], names: Sequence[str], losses: Losses, split: Split
) -> Iterator[Tagged]:
    """Read one text per row; tag lists beside it belong to its words between blanks."""
    index = next((names.index(name) for name in (*TEXTS, "sentence") if name in names), None)
    if index is None:
        got = abbreviate_names(names)
        raise FormatError(f"{losses.name}: expected a column of words or texts, got {got}")
    tags = next((names.index(name) for name in TAG_NAMES if name in names), None)
    for line, row in enumerate(rows, start=2):
        where = f"{losses.name}, line {line}"
        if not row[index].strip():
            continue
        if tags is not None and row[tags].startswith("[") and not row[tags].startswith('[{"'):
            fields = {"tokens": row[index].split(), "tags": _list_of(row[tags], where)}
            yield Tagged(line, sentence_of(fields, where))
            continue
        if tags is not None and row[tags].startswith('[{"'):  # Label Studio
            reader = ObjectReader(losses, split=split)
            spans = parsed(row[tags], where)
            for sentence in reader.sentences({"text": row[index], "spans": spans}, line):
                yield Tagged(line, sentence)
            continue
        parts = row[tags].split() if tags is not None else []
        if len(parts) == len(row[index].split()) and are_tags(parts):
            yield Tagged(line, sentence_of({"tokens": row[index].split(), "tags": parts}, where))
            continue
        if tags is not None and row[tags].strip():
            losses.add(f"“{names[tags]}” is a class of the whole text and was left out", line)
        words = tuple(token.text for token in split(row[index]))
        yield Tagged(line, Sentence(words, None, row[index]))


def read_parquet(
    content: bytes, column: str | int | None, losses: Losses, split: Split = tokens
) -> Iterator[Tagged]:
    """Yield the sentences of a Parquet file; `datasets` stores class names in it.

    Raises:
        FormatError: it is damaged, or a row is not a sentence.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        reader = ObjectReader(losses, _key(column), class_names(file.schema_arrow.metadata), split)
        line = 0
        for batch in file.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                line += 1
                for sentence in reader.sentences(_without_empty(row), line):
                    yield Tagged(line, sentence)
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # the last: text that is not UTF-8
        first = str(error).splitlines()[0]
        raise FormatError(f"{losses.name}: expected a Parquet file, got {first}") from error


def _key(column: str | int | None) -> str | None:
    return None if column is None else str(column)


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def class_names(metadata: Mapping[bytes, bytes] | None) -> ClassNames:
    """Return the class names of each column, as stored by `datasets`."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError):
        return {}
    names: dict[str, Sequence[str]] = {}
    for key, feature in features.items() if isinstance(features, dict) else ():
        inner = feature[0] if isinstance(feature, list) and feature else feature
        if isinstance(inner, dict):
            inner = inner if "names" in inner else inner.get("feature", {})
        if isinstance(inner, dict) and isinstance(inner.get("names"), list):
            names[key] = [str(each) for each in inner["names"]]
    return names
