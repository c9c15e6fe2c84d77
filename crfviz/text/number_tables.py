"""A table of numbers out of what people paste: CSV and its kin, printed arrays, JSON.

How a text is read:

- Cells are separated by TAB, else by semicolon, "|", comma, else by blanks; square brackets around
  rows, as NumPy and PyTorch print them, do not count. Where no comma separates, it is a decimal
  comma.
- A first row or column of labels is dropped: of names and words mostly, or of the numbers from 0 or
  1 on below an empty or named corner.
- `-inf`, `−∞` and `-Infinity` are minus infinity, without the sign infinity; an empty cell, `nan`,
  `null` and a dash are NaN.
- A cell may be one of the given names, such as a tag, and means its id; `START` means -1.
- JSON is a list of rows, or an object that holds one.

Files are read by `number_files`.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.text.lines import lines_of, shown

MOST_CELLS = 100_000  # 120 words of 200 tags have 24 000
EMPTY = frozenset({"", "nan", "null", "none", "–", "—", "-", "n/a"})
MINUS_INFINITY = frozenset({"-inf", "-∞", "-infinity", "log(0)", "log 0"})
INFINITY = frozenset({"inf", "+inf", "∞", "+∞", "infinity"})
START = "START"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_JSON_INFINITY = re.compile(r"-\s*(?:inf(?:inity)?|∞)\b|−\s*∞|-\s*∞", re.IGNORECASE)
_JSON_NAN = re.compile(r"\bnan\b", re.IGNORECASE)
_PRINTED = re.compile(r"\s*(?:(?:tensor|array)\s*\(\s*)?\[")
_WRAPPING = re.compile(r"^\s*(?:tensor|array)\s*\(|,?\s*(?:dtype|device)\s*=[^)]*\)?\s*$|\)\s*$")


@dataclass(frozen=True, eq=False)
class NumberTable:
    """A table and what was said around it."""

    values: NDArray[np.float64]  # (rows, columns); NaN for an empty cell
    header: tuple[str, ...] | None  # a label per column, where there is a row of them
    labels: tuple[str, ...] | None  # a label per row, where there is a column of them
    source: str  # "CSV", "JSON", or the name of an array in a file


def parse_number_table(
    text: str, *, names: Sequence[str] = (), words: Sequence[str] = (), prefer: str = ""
) -> NumberTable:
    """The table in a text.

    Args:
        text: what was pasted.
        names: may stand for their index in a cell.
        words: of a sentence; they may head rows or columns even where they look like numbers.
        prefer: which table of a JSON object to take if it holds several.

    Raises:
        FormatError: there is no table, its rows differ in length, or a cell is no number; says
            where.
    """
    if not text.strip():
        raise FormatError("There is no table yet: paste one, a row per line.")
    reader = _Cells(names)
    if text.lstrip()[0] in "[{":
        rows = _json_rows(text, prefer)
        if rows is not None:
            return _table([(f"row {number}", row) for number, row in enumerate(rows, 1)], reader)
    numbered = _split_lines(text)
    if not numbered:
        raise FormatError("There is no row with a number in it.")
    cells = [row for _, row in numbered]
    numeric = any(_NUMBER.fullmatch(cell) for row in cells[1:] for cell in row[1:])
    about = _Labels(reader, words, cells[0][0], numeric)
    has_labels = about.are_labels([row[0] for row in cells[1:]])
    has_header = about.are_labels(cells[0][1:] if has_labels else cells[0])
    header = cells[0] if has_header else None
    body = numbered[1:] if has_header else numbered
    if not body:
        raise FormatError("There is a row of labels, but no row of numbers below it.")
    labels = tuple(row[0] for _, row in body) if has_labels else None
    if has_labels:
        body = [(where, row[1:]) for where, row in body]
        if header is not None and len(header) == len(body[0][1]) + 1:
            header = header[1:]
    table = _table(body, reader)
    return NumberTable(table.values, tuple(header) if header else None, labels, "CSV")


class _Cells:
    """Reads one cell."""

    def __init__(self, names: Sequence[str]) -> None:
        self.ids: Mapping[str, int] = {START: -1} | {name: k for k, name in enumerate(names)}
        self.has_names = bool(names)

    def value(self, cell: object) -> float | None:
        """The number; None if it is none."""
        if isinstance(cell, bool):
            return None
        if isinstance(cell, int | float):
            return float(cell)
        if cell is None:
            return math.nan
        text = str(cell).strip().strip("\"'").replace("−", "-")
        if self.has_names and text in self.ids and not _NUMBER.fullmatch(text):
            return float(self.ids[text])
        if text.lower() in EMPTY:
            return math.nan
        if text.lower() in MINUS_INFINITY:
            return -math.inf
        if text.lower() in INFINITY:
            return math.inf
        return float(text) if _NUMBER.fullmatch(text) else None


def _table(rows: Sequence[tuple[str, Sequence[object]]], reader: _Cells) -> NumberTable:
    """The numbers of rows, each with the place it comes from."""
    first, width = rows[0][0], len(rows[0][1])
    if len(rows) * width > MOST_CELLS:
        raise FormatError(f"The table has {len(rows)} × {width} cells, at most {MOST_CELLS} fit.")
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
                    f"{where}, column {j + 1}: expected a number, got {shown(str(cell))}"
                )
            values[i, j] = value
    return NumberTable(values, None, None, "JSON")


def _json_rows(text: str, prefer: str) -> list[list[object]] | None:
    """The rows of a JSON text; None if it is none, as what NumPy prints."""
    readable = _JSON_NAN.sub("NaN", _JSON_INFINITY.sub("-Infinity", text))
    try:
        value = json.loads(readable)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[0] == "{":
            raise FormatError(f"This looks like JSON but is none: {error}") from error
        return None
    if isinstance(value, dict):
        tables = {name: item for name, item in value.items() if _is_rows(item)}
        if prefer in tables:
            value = tables[prefer]
        elif len(tables) == 1:
            value = next(iter(tables.values()))
        else:
            held = ", ".join(map(str, value)) or "nothing"
            raise FormatError(
                f"The JSON object must hold one table, a list of rows, or one named "
                f"“{prefer}”; it holds {shown(held)}"
            )
    if not _is_rows(value):
        raise FormatError("The JSON must be a list of rows of numbers, as [[0.5, 1], [2, -3]].")
    rows: list[list[object]] = value
    return rows


def _is_rows(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(row, list) and len(row) > 0 for row in value)
    )


def _split_lines(text: str) -> list[tuple[str, list[str]]]:
    """The cells of each line that has any, with its place."""
    lines = [(number, line) for number, line in enumerate(lines_of(text), start=1)]
    if _PRINTED.match(text):
        lines = [
            (number, _WRAPPING.sub("", _WRAPPING.sub("", line)).replace("[", " ").replace("]", " "))
            for number, line in lines
        ]
        lines = [(number, line.strip().strip(",")) for number, line in lines]
    lines = [(number, line) for number, line in lines if line.strip() and not _is_rule(line)]
    separator = next((s for s in "\t;|," if any(s in line for _, line in lines)), None)
    return [(f"line {number}", _cells(line, separator)) for number, line in lines]


def _is_rule(line: str) -> bool:
    """Whether a line only separates, as the second one of a Markdown table."""
    return set(line.strip()) <= set("|:-+= ") and "--" in line


def _cells(line: str, separator: str | None) -> list[str]:
    if separator == "|":
        line = line.strip().removeprefix("|").removesuffix("|")
    cells = [cell.strip().strip('"') for cell in line.split(separator)]
    if separator == ",":
        return cells
    return [re.sub(r"^([+\-−]?\d+),(\d+)", r"\1.\2", cell) for cell in cells]


@dataclass(frozen=True)
class _Labels:
    """Tells labels from numbers."""

    reader: _Cells
    words: Sequence[str]
    corner: str  # the first cell of all
    numeric: bool  # whether the cells inside are numbers rather than names

    def are_labels(self, cells: Sequence[str]) -> bool:
        """Whether a first row or column, without the corner where there is one, holds labels."""
        texts = [cell.strip() for cell in cells]
        values = [self.reader.value(text) for text in texts]
        if not texts:
            return False
        if sum(value is None for value in values) * 2 > len(values):
            return True
        corner = self.reader.value(self.corner)
        beside_corner = corner is None or math.isnan(corner)
        tail = texts[1:] if len(texts) == len(self.words) + 1 else texts
        if beside_corner and self.words and tail == list(self.words):
            return True
        if (self.numeric or beside_corner) and self._are_all_names(texts):
            return True
        return beside_corner and _count_up(values)

    def _are_all_names(self, texts: Sequence[str]) -> bool:
        names = {name for name in self.reader.ids if name != START}
        named = [text for text in texts if text in names]
        return len(named) > 1 and set(named) == names and len(named) == len(names) >= len(texts) - 1


def _count_up(values: Sequence[float | None]) -> bool:
    """Whether these are the numbers from 0 or from 1 on, but for a corner."""
    counted = [value for value in values if value is not None and not math.isnan(value)]
    if len(counted) < max(2, len(values) - 1):
        return False
    return counted in (
        [float(n) for n in range(len(counted))],
        [float(n) for n in range(1, len(counted) + 1)],
    )
