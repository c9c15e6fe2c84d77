"""The columns or keys of a file with values of each, for a choice of words, tags and sentences."""

import gzip
import io
import json
import zlib
from collections.abc import Mapping, Sequence

from crfviz.exceptions import FormatError
from crfviz.text.columns import is_comment
from crfviz.text.files import abbreviate_names, abbreviate_value, decoded_with_notes, lines_of
from crfviz.text.jsonl import list_elements
from crfviz.text.readers.finding import BINARY, GZIP, JSON_LIST, JSON_START, PARQUET, ZIP
from crfviz.text.readers.misc import spelled_in
from crfviz.text.readers.quoting import BLANK, cells_of, dialect_of
from crfviz.text.readers.rows import SAMPLE
from crfviz.text.readers.tables import first_row

MAX_FIELDS = 20
MAX_ROWS = 50  # lines that are looked at for values
MAX_UNPACKED = 2**24  # bytes of a gzip archive that are looked at


def fields_in(content: bytes) -> dict[str, str]:
    """Return the columns of a file by number from 1, or its keys, with values; none for others.

    A column has its first two values that differ, so that a header shows its name. Keys with
    entities in MISC of CoNLL-U follow the columns.
    """
    try:
        if content.startswith(GZIP):
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(MAX_UNPACKED)
        if content.startswith(PARQUET):
            return _of_object(first_row(content))
        if content.startswith((ZIP, *BINARY)):
            return {}
        text = decoded_with_notes(content, "file")[0]
        lines = [line for line in lines_of(text)[:SAMPLE] if line.strip() and not is_comment(line)]
        if lines and (JSON_START.match(lines[0]) or JSON_LIST.match(lines[0])):
            return _keys(text, lines[0])
        dialect = dialect_of(lines, "file")
        rows = [cells_of(line, dialect) for line in lines[:MAX_ROWS]]
    except (FormatError, ValueError, OSError, EOFError, zlib.error):
        return {}
    alike = [row for row in rows if len(row) == len(rows[0])]
    if not rows or (dialect.separator == BLANK and 2 * len(alike) < len(rows)):
        return {}
    columns = list(zip(*alike, strict=True))[:MAX_FIELDS]
    numbered = {str(n): _values(cells) for n, cells in enumerate(columns, start=1)}
    return numbered | {key: _values(each) for key, each in spelled_in(lines).items()}


def _values(cells: Sequence[str]) -> str:
    different = dict.fromkeys(cell.strip() for cell in cells if cell.strip())
    return abbreviate_names(list(different)[:2])


def _keys(text: str, line: str) -> dict[str, str]:
    if text.lstrip().startswith("["):
        value = next(list_elements(text, "file"), (0, None))[1]
    else:
        try:
            value = json.loads(line)
        except ValueError:
            value = json.loads(text)
    return _of_object(value) if isinstance(value, dict) else {}


def _of_object(value: Mapping[str, object]) -> dict[str, str]:
    return {key: abbreviate_value(each) for key, each in list(value.items())[:MAX_FIELDS]}
