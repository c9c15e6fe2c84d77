"""Tables of numbers from files or pasted text: CSV, printed arrays, Markdown, JSON, NumPy.

Rules:

- Lines are split into cells as `crfviz.text.cells` says.
- A first row or column of labels is removed: names, words, or consecutive numbers from 0 or 1 with
  an empty or named corner.
- JSON is a list of rows, or an object that holds one.

A file may also be `.npz` or `.npy`, detected by its content. Nothing is unpickled.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.text.archives import NPY_MAGIC, ZIP_MAGIC, Archive, npy_array, npz_arrays
from crfviz.text.cells import Cells, Labels, split_lines, unit_of
from crfviz.text.files import abbreviate, abbreviate_value

MAX_CELLS = 100_000  # 120 words with 200 tags have 24 000
# tables may have label columns, and Markdown tables empty outer cells
MAX_WITH_LABELS = 5 * MAX_CELLS
TOO_MANY = f"The table has too many cells: at most {MAX_CELLS} fit."
MAX_BYTES = 5_000_000  # of a file
MAX_UNPACKED = 20_000_000  # bytes of all arrays in an .npz
MAX_ARRAYS = 1000  # in an .npz
PICKLE_MAGIC = b"\x80"

_JSON_INFINITY = re.compile(r"-\s*+inf(?:inity)?\b|[-−]\s*+∞", re.IGNORECASE)
_JSON_NAN = re.compile(r"\bnan\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class NumberTable:
    """A table with its labels."""

    values: NDArray[np.float64]  # (rows, columns); NaN for an empty cell
    header: tuple[str, ...] | None  # one label per column, if there is a header
    labels: tuple[str, ...] | None  # one label per row, if there is a label column
    source: str  # "CSV", "JSON", or the name of an array in a file
    # (rows, columns) unit of each cell's last digit: 0 if unknown, NaN for an empty cell
    units: NDArray[np.float64] | None = None  # of text only


def parse_number_table(
    text: str,
    *,
    names: Sequence[str] = (),
    words: Sequence[str] = (),
    prefer: str = "",
    ids: bool = True,
) -> NumberTable:
    """Return the table in a text.

    Args:
        text: the pasted text.
        names: names of columns or rows; they stand for their index in a cell.
        words: words of a sentence, which may be labels even if they look like numbers.
        prefer: the name of the table to choose from a JSON object.
        ids: whether cells may be names; False for a table of scores.

    Raises:
        FormatError: there is no table, its rows differ in length, or a cell is not a number; names
            the place.

    """
    _check_size(text)
    reader = Cells.of(names if ids else ())
    if text.lstrip()[0] in "[{":
        rows = _json_rows(text, prefer)
        if rows is not None:
            return _table([(f"row {number}", row) for number, row in enumerate(rows, 1)], reader)
    numbered = split_lines(text, names, reader, MAX_WITH_LABELS)
    if numbered is None:
        raise FormatError(TOO_MANY)
    if not numbered:
        raise FormatError("There is no row with a number in it.")
    about = Labels.of([row for _, row in numbered], names, words, reader)
    header = about.header()
    body = numbered[1:] if header else numbered
    if not body:
        raise FormatError("There is a row of labels, but no row of numbers below it.")
    labels = tuple(row[0] for _, row in body) if about.has_labels else None
    if about.has_labels:
        body = [(where, row[1:]) for where, row in body]
        if header and len(header) == len(body[0][1]) + 1:
            header = header[1:]
    table = _table(body, reader)
    units = np.array([[unit_of(cell) for cell in row] for _, row in body])
    return NumberTable(table.values, tuple(header) or None, labels, "CSV", units)


def read_number_table(
    data: bytes,
    *,
    names: Sequence[str] = (),
    words: Sequence[str] = (),
    prefer: str = "",
    ids: bool = True,
) -> NumberTable:
    """Parse the table in the bytes of a file; its format is detected from the content.

    Args:
        data: the whole file.
        names: see `parse_number_table`.
        words: see `parse_number_table`.
        prefer: the name of the array or table to choose.
        ids: see `parse_number_table`.

    Raises:
        FormatError: there is no table, or none that can be read without unpickling.
    """
    if len(data) > MAX_BYTES:
        raise FormatError(f"The file has {len(data):,} bytes, at most {MAX_BYTES:,} are read.")
    if data.startswith(ZIP_MAGIC):
        return _from_npz(data, prefer)
    if data.startswith(NPY_MAGIC):
        return _checked(npy_array(data, "npy"), "npy")
    if data.startswith(PICKLE_MAGIC):
        raise FormatError("This is a pickle, which may hold programs. Save CSV, JSON or .npz.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"The file is neither .npz nor UTF-8 text (byte {error.start + 1} is no text)."
        ) from error
    return parse_number_table(text, names=names, words=words, prefer=prefer, ids=ids)


def _check_size(text: str) -> None:
    if not text.strip():
        raise FormatError("There is no table yet: paste one, a row per line.")
    if len(text) > MAX_BYTES:
        raise FormatError(f"The text has {len(text):,} characters, at most {MAX_BYTES:,} are read.")
    if text.count("\n") > MAX_WITH_LABELS or sum(map(text.count, "[{,")) > 2 * MAX_WITH_LABELS:
        raise FormatError(TOO_MANY)


def _table(rows: Sequence[tuple[str, Sequence[object]]], reader: Cells) -> NumberTable:
    """Return the numbers of rows; each row comes with its place."""
    first, width = rows[0][0], len(rows[0][1])
    reader = reader.of_table(rows)
    if len(rows) * width > MAX_CELLS:
        raise FormatError(f"The table has {len(rows)} × {width} cells, at most {MAX_CELLS} fit.")
    values = np.empty((len(rows), width))
    for i, (where, row) in enumerate(rows):
        if len(row) != width:
            raise FormatError(
                f"{where}: expected {width} numbers as in {first}, got {len(row)}. Write a dash "
                "for an empty cell."
            )
        for j, cell in enumerate(row):
            value = reader.value(cell)
            if value is None:
                raise FormatError(
                    f"{where}, column {j + 1}: expected a number, got {abbreviate_value(cell)}"
                )
            values[i, j] = value
    return NumberTable(values, None, None, "JSON")


def _json_rows(text: str, prefer: str) -> list[list[object]] | None:
    """Return the rows of a JSON text; None for other texts, such as NumPy output."""
    readable = _JSON_NAN.sub("NaN", _JSON_INFINITY.sub("-Infinity", text))
    try:
        value = json.loads(readable, parse_int=float)  # avoids Python's limit of digits
    except (ValueError, RecursionError) as error:
        if text.lstrip()[0] == "{":
            raise FormatError(f"This looks like JSON but is none: {error}") from error
        return None
    if isinstance(value, dict):
        tables = {name: item for name, item in value.items() if _is_rows(item)}
        held = ", ".join(map(str, value)) or "nothing"
        name = _only(tables, prefer, "JSON object must hold one table, a list of rows", held)
        value = tables[name]
    if not _is_rows(value):
        raise FormatError("The JSON must be a list of rows of numbers, as [[0.5, 1], [2, -3]].")
    rows: list[list[object]] = value
    return rows


def _is_rows(value: object) -> bool:
    rows = value if isinstance(value, list) else []
    return bool(rows) and all(isinstance(row, list) and row for row in rows)


def _from_npz(data: bytes, prefer: str) -> NumberTable:
    archive = Archive(data, most_members=MAX_ARRAYS, most_unpacked=MAX_UNPACKED)
    arrays = npz_arrays(archive)
    tables = {name: array for name, array in arrays.items() if array.ndim == 2}
    held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "no array"
    name = _only(tables, prefer, ".npz must hold one table", held)
    return _checked(tables[name], name)


def _only(tables: Collection[str], prefer: str, expected: str, held: str) -> str:
    if prefer not in tables and len(tables) != 1:
        raise FormatError(f"The {expected}, or one named “{prefer}”; it holds {abbreviate(held)}")
    return prefer if prefer in tables else next(iter(tables))


def _checked(array: NDArray[Any], name: str) -> NumberTable:
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.size == 0:
        raise FormatError(
            f"The array {abbreviate(name)} must be a table of numbers, "
            f"got {array.dtype} of shape {array.shape}"
        )
    if array.size > MAX_CELLS:
        raise FormatError(f"The table has {array.shape} cells, at most {MAX_CELLS} fit.")
    with np.errstate(invalid="ignore"):  # a signalling NaN counts as NaN
        return NumberTable(array.astype(np.float64), None, None, name)
