"""The columns or keys of a file with a value of each, for a choice of words, tags and sentences."""

import gzip
import json

from crfviz.exceptions import FormatError
from crfviz.text.columns import is_comment
from crfviz.text.files import abbreviate_value, decoded_with_notes, lines_of
from crfviz.text.jsonl import list_elements
from crfviz.text.readers.finding import BINARY, GZIP, JSON_LIST, JSON_START, PARQUET, ZIP
from crfviz.text.readers.quoting import BLANK, cells_of, dialect_of
from crfviz.text.readers.rows import SAMPLE

MAX_FIELDS = 20


def fields_in(content: bytes) -> dict[str, str]:
    """Return the columns of a file by number from 1, or its keys, with a value; none for others."""
    if content.startswith(GZIP):
        content = gzip.decompress(content)
    if content.startswith((PARQUET, ZIP, *BINARY)):
        return {}
    try:
        text = decoded_with_notes(content, "file")[0]
        lines = [line for line in lines_of(text)[:SAMPLE] if line.strip() and not is_comment(line)]
        if lines and (JSON_START.match(lines[0]) or JSON_LIST.match(lines[0])):
            return _keys(text, lines[0])
        dialect = dialect_of(lines, "file")
    except (FormatError, ValueError):
        return {}
    rows = [cells_of(line, dialect) for line in lines[:2]]
    if not rows or (dialect.separator == BLANK and len({*map(len, rows)}) > 1):
        return {}
    return {str(n): abbreviate_value(cell) for n, cell in enumerate(rows[-1][:MAX_FIELDS], start=1)}


def _keys(text: str, line: str) -> dict[str, str]:
    if text.lstrip().startswith("["):
        value = next(list_elements(text, "file"), (0, None))[1]
    else:
        try:
            value = json.loads(line)
        except ValueError:
            value = json.loads(text)
    if not isinstance(value, dict):
        return {}
    return {key: abbreviate_value(each) for key, each in list(value.items())[:MAX_FIELDS]}
