"""The columns, keys or layers of a file with values of each, for a choice of words and tags."""

import gzip
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crfviz.exceptions import FormatError
from crfviz.text.columns import is_comment
from crfviz.text.files import abbreviate_names, abbreviate_value, decoded_with_notes, lines_of
from crfviz.text.jsonl import list_elements
from crfviz.text.readers.brat import brat_layers, brat_pairs
from crfviz.text.readers.corpora import layers_in
from crfviz.text.readers.docbin import docbin_layers, is_docbin
from crfviz.text.readers.finding import BINARY, GZIP, JSON_LIST, JSON_START, PARQUET, ZIP
from crfviz.text.readers.losses import Losses
from crfviz.text.readers.misc import spelled_in
from crfviz.text.readers.quoting import BLANK, cells_of, dialect_of
from crfviz.text.readers.rows import SAMPLE
from crfviz.text.readers.tables import first_row

MAX_FIELDS = 20
MAX_ROWS = 50  # lines that are looked at for values
MAX_UNPACKED = 2**24  # bytes of a gzip archive that are looked at


class Fields(NamedTuple):
    """What a file offers for its words, tags and ends of sentences."""

    values: dict[str, str]  # columns by number from 1, keys or layers, each with values
    tags_alone: bool = False  # whether only the tags leave a choice


NO_FIELDS = Fields({})


def fields_in(content: bytes) -> Fields:
    """Return the columns, keys or layers of a file, with values; none if there is no choice.

    A column has its first two values that differ, so that a header shows its name. Keys with
    entities in MISC of CoNLL-U follow the columns.
    """
    try:
        if content.startswith(GZIP):
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(MAX_UNPACKED)
        if content.startswith(PARQUET):
            return Fields(_of_object(first_row(content)))
        if content.startswith(ZIP):
            return _of_tags(brat_layers(brat_pairs(content, Losses("file"), MAX_UNPACKED)))
        if is_docbin(content):
            return _of_tags(docbin_layers(content, MAX_UNPACKED))
        if content.startswith(tuple(BINARY)):
            return NO_FIELDS
        text = decoded_with_notes(content, "file")[0]
        head = lines_of(text)[:SAMPLE]
        if layers := layers_in(head):
            return _of_tags(layers)
        lines = [line for line in head if line.strip() and not is_comment(line)]
        if lines and (JSON_START.match(lines[0]) or JSON_LIST.match(lines[0])):
            return Fields(_keys(text, lines[0]))
        dialect = dialect_of(lines, "file")
        rows = [cells_of(line, dialect) for line in lines[:MAX_ROWS]]
    except (FormatError, ValueError, OSError, EOFError, zlib.error):
        return NO_FIELDS
    alike = [row for row in rows if len(row) == len(rows[0])]
    if not rows or (dialect.separator == BLANK and 2 * len(alike) < len(rows)):
        return NO_FIELDS
    columns = list(zip(*alike, strict=True))[:MAX_FIELDS]
    numbered = {str(n): _values(cells) for n, cells in enumerate(columns, start=1)}
    return Fields(numbered | {key: _values(each) for key, each in spelled_in(lines).items()})


def _of_tags(layers: Mapping[str, str]) -> Fields:
    several = dict(list(layers.items())[:MAX_FIELDS]) if len(layers) > 1 else {}
    return Fields(several, tags_alone=True)


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
