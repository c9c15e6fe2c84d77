"""Tables with a header and one sentence per row, as CSV, TSV or Parquet."""

import ast
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.jsonl import parsed, sentence_of
from crfviz.text.readers.ends import SENTENCE_NAMES
from crfviz.text.readers.keys import TEXTS, verdict_of
from crfviz.text.readers.kinds import are_tags
from crfviz.text.readers.losses import question
from crfviz.text.readers.objects import ClassNames, ObjectReader
from crfviz.text.readers.quoting import SEPARATORS, table_rows
from crfviz.text.readers.roles import TAG_NAMES, WORD_NAMES
from crfviz.text.readers.rows import ANY, Wanted, chosen_column
from crfviz.text.readers.spans import Draft
from crfviz.text.sentences import Sentence

_NAME = re.compile(r"[^\W\d][\w .#-]{0,30}")
_NUMBER = re.compile(r"-?\d[\d.,:/-]*")
_LIST = re.compile(r"\[|\(\s*['\"\[(]|array\(")
_STRINGS = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_STRING = re.compile(_STRINGS)
_WORD_LIST = re.compile(r"[\[(]\s*['\"]|array\(|\[\]")
_BLANK_LIST = re.compile(rf"\[\s*{_STRINGS}(?:\s+{_STRINGS})+\s*\]")  # as NumPy prints one
_PAIR = 2  # columns
MANY = 100  # lines that show whether a file is a table


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


def is_table(lines: Sequence[str], header: tuple[str, list[str]]) -> bool:
    """Return whether the rows below a header are texts or lists, rather than single words."""
    separator, names = header
    word = next((n for n, name in enumerate(names) if name in WORD_NAMES), None)
    if word is None:
        return True
    rows = [line.split(separator) for line in lines[1:MANY]]
    rows = [row for row in rows if len(row) > word]
    if any(_WORD_LIST.match(row[word].lstrip(' "')) for row in rows[:1]):
        return True
    texts = [row for row in rows if len(row[word].split()) > 1]
    counts = ({len(cell.split()) for cell in row[word + 1 :]} for row in texts)
    found = (len(row[word].split()) in count for row, count in zip(texts, counts, strict=True))
    return 2 * len(texts) > len(rows) and all(found)


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


def read_table(
    text: str, separator: str, wanted: Wanted, reader: ObjectReader
) -> Iterator[tuple[int, Sentence | Draft]]:
    """Yield the sentences of a CSV or TSV table with a text, or a list of words, in each row.

    Tags are a list, or stand between blanks or commas; they belong to the words between the blanks
    of the text, one each.

    Raises:
        FormatError: no column has texts, rows have different widths, or tags are not one per word.
    """
    losses = reader.losses
    header, *rows = table_rows(text, separator, losses.name)
    names = [str(name).strip().lower() for name in header]
    chosen = [
        chosen_column(each, names, len(names), losses.name) for each in (wanted.words, wanted.tags)
    ]
    usual = (*WORD_NAMES, *TEXTS, "sentence"), TAG_NAMES
    word, tag = (
        pick if pick is not None else next((names.index(n) for n in known if n in names), None)
        for pick, known in zip(chosen, usual, strict=True)
    )
    if word is None and tag is None and len(names) == _PAIR:
        word, tag = 0, 1  # `finding` has seen words and tags below other names
    if word is None:
        got = abbreviate_names(names)
        raise FormatError(f"{losses.name}: expected a column of words or texts, got {got}")
    if tag is None:
        columns = list(zip(*rows, strict=True))
        likely = [n for n, cells in enumerate(columns) if n != word and _may_be_tags(cells)]
        if likely:
            raise question(losses.name, "a column may have the tags", names, columns)
    reader.wanted = ANY  # the cells have keys of their own
    for line, row in enumerate(rows, start=2):
        cells = {n: row[at] for at, n in enumerate(names) if at not in (word, tag)}
        if verdict := verdict_of(cells, losses.name):
            losses.add(f"sentences answered “{verdict}” were left out", line)
        elif row[word].strip():
            for sentence in _of_row(row[word], None if tag is None else row[tag], line, reader):
                yield line, sentence


def _may_be_tags(cells: Sequence[str]) -> bool:
    if all(map(_LIST.match, cells)):
        return True
    parts = [part for cell in cells for part in _parts(cell)]
    return len(parts) > len(cells) and are_tags(parts)


def _parts(cell: str) -> list[str]:
    return cell.replace(",", " ").split()


def _of_row(
    cell: str, tags: str | None, line: int, reader: ObjectReader
) -> Iterator[Sentence | Draft]:
    where = f"{reader.losses.name}, line {line}"
    if _WORD_LIST.match(cell):
        fields = {"tokens": _list_of(cell, where), "tags": _list_of(tags or "", where)}
        yield from reader.sentences(fields, line)
        return
    words = cell.split()
    if tags is None or not tags.strip():
        yield Sentence(tuple(token.text for token in reader.split(cell)), None, cell)
    elif tags.startswith('[{"'):  # Label Studio
        yield from reader.sentences({"text": cell, "spans": parsed(tags, where)}, line)
    elif _LIST.match(tags):
        yield sentence_of({"tokens": words, "tags": _list_of(tags, where)}, where)
    elif len(parts := _parts(tags)) == len(words) and (len(parts) > 1 or are_tags([tags] * 3)):
        yield sentence_of({"tokens": words, "tags": parts}, where)
    elif len(parts) > 1 and are_tags(parts):
        raise FormatError(f"{where}: expected {len(words)} tags, one per word, got {len(parts)}")
    else:
        reader.losses.add("a class of the whole text was left out", line, tags)
        yield Sentence(tuple(token.text for token in reader.split(cell)), None, cell)


def _list_of(cell: str, where: str) -> object:
    """Return the list in a cell, in Python's or NumPy's notation."""
    try:
        if _BLANK_LIST.fullmatch(cell.strip()):
            return [ast.literal_eval(each) for each in _STRING.findall(cell)]
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise FormatError(
            f"{where}: expected a list in the cell, got {abbreviate(cell)}"
        ) from error
    value = list(value) if isinstance(value, tuple) else value
    strings = _STRING.findall(cell)
    are_strings = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if are_strings and len(strings) != len(value):  # without a comma between them two are one
        raise FormatError(f"{where}: expected a comma between words, got {abbreviate(cell)}")
    return value


def read_parquet(content: bytes, reader: ObjectReader) -> Iterator[tuple[int, object]]:
    """Yield the numbered rows of a Parquet file; `datasets` stores class names in it.

    Raises:
        FormatError: it is damaged.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        reader.class_names = class_names(file.schema_arrow.metadata)
        line = 0
        for batch in file.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                line += 1
                yield line, _without_empty(row)
    except (pa.ArrowException, OSError, ValueError) as error:  # the last: text that is not UTF-8
        first = str(error).splitlines()[0]
        raise FormatError(f"{reader.losses.name}: expected a Parquet file, got {first}") from error


def first_row(content: bytes) -> dict[str, Any]:
    """Return the first row of a Parquet file; empty if it has none or is damaged."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        batches = parquet.ParquetFile(pa.BufferReader(content)).iter_batches(batch_size=1)
        return next((batch.to_pylist()[0] for batch in batches), {})
    except (pa.ArrowException, OSError, ValueError):
        return {}


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
