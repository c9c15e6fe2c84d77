"""Cells of pasted tables, their numbers and their labels.

- One separator for the whole table: TAB, semicolon, "|", comma or blanks. It is the one under which
  most lines can be read; on a tie, the first of these. Cells are quoted as in CSV, unless more
  lines can be read without quotes.
- Square brackets around rows, as printed by NumPy and PyTorch, are ignored. A comma in
  a cell is a decimal comma.
- `-inf`, `−∞` and `-Infinity` are minus infinity, without the sign infinity; an empty cell, `nan`,
  `null` and a dash are NaN.
- In a table of ids, a name, such as a tag, stands for its id; `START` stands for -1. Names that are
  numbers count as names, unless more cells can only be numbers.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, lines_of

MEANINGS: Mapping[str, float] = {  # values of cells without digits
    **dict.fromkeys(("", "nan", "null", "none", "–", "—", "-", "…", "n/a"), math.nan),
    **dict.fromkeys(("-inf", "-∞", "-infinity", "log(0)", "log 0"), -math.inf),
    **dict.fromkeys(("inf", "+inf", "∞", "+∞", "infinity"), math.inf),
}
EMPTY = ("", "–", "—", "-", "…")  # cells that are not filled in
START = "START"
SEPARATORS = "\t;|,"  # in this order if as many lines can be read
SAMPLE = 300  # lines from which the separator is inferred

_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
_WRAPPING = re.compile(r"(?:tensor|array)\s*+\(")
_KIND = re.compile(r"(?:dtype|device)\s*+=")
_BRACKETS = str.maketrans("[]", "  ")
_DECIMAL_COMMA = re.compile(r"([+\-−]?\d++),(\d++)")


@dataclass(frozen=True)
class Cells:
    """Parser of single cells."""

    ids: Mapping[str, int]  # what names stand for

    @classmethod
    def of(cls, names: Sequence[str]) -> "Cells":
        """Return the parser of ids of these names; without names, of numbers."""
        ids = {START: -1} | {name: k for k, name in enumerate(names)}
        return cls(ids if names else {})

    def value(self, cell: object) -> float | None:
        """Return the number in a cell; None without one."""
        if isinstance(cell, str):
            name = self.ids.get(cell, self.ids.get(cell.strip()))
            return _number(cell) if name is None else name
        if isinstance(cell, bool):
            return None
        if isinstance(cell, float):
            return cell
        return math.nan if cell is None else None

    def of_table(self, rows: Sequence[tuple[str, Sequence[object]]]) -> "Cells":
        """Return the parser of these cells; without names that can only be numbers here."""
        texts = Counter(cell.strip() for _, row in rows for cell in row if isinstance(cell, str))
        named = numeric = 0
        for text, times in texts.items():
            number = _number(text)
            if text in self.ids:
                named += times * (number not in self.ids.values())
            else:
                numeric += times * (number is not None and not math.isnan(number) and number != -1)
        if numeric <= named:
            return self
        return Cells({name: k for name, k in self.ids.items() if _number(name) is None})


def _number(cell: str) -> float | None:
    text = cell.strip().strip("\"'").replace("−", "-")
    if _DECIMAL_COMMA.match(text):
        text = text.replace(",", ".", 1)
    return float(text) if _NUMBER.fullmatch(text) else MEANINGS.get(text.lower())


def unit_of(cell: str) -> float:
    """Return the unit of the last digit of a number, as it is written.

    It is 0 if the digits do not tell it: for names, infinity, and whole numbers of one digit or
    with a zero at the end. It is NaN for an empty cell.

    Example:
        >>> [unit_of(cell) for cell in ("0.50", "-11", "3", "120", "1.5e-3", "")]
        [0.01, 1.0, 0.0, 0.0, 0.0001, nan]
    """
    text = cell.strip().strip("\"'").replace("−", "-").replace(",", ".", 1)
    if not _NUMBER.fullmatch(text):
        return math.nan if text in EMPTY else 0.0
    digits, _, power = text.lower().lstrip("+-").partition("e")
    whole, _, decimals = digits.partition(".")
    if not (decimals or power) and (len(whole) < 2 or whole.endswith("0")):
        return 0.0
    return float(f"1e{max(-400, min(int(power or 0), 400)) - len(decimals)}")


def split_lines(
    text: str, names: Sequence[str], reader: Cells, limit: int
) -> list[tuple[str, list[str]]] | None:
    """Return the cells of each non-empty line, with its place; None if they exceed the limit.

    Args:
        text: the whole text.
        names: names that may be labels; one that begins with a bracket is no printed array.
        reader: of the cells.
        limit: approximate maximum number of cells.

    Raises:
        FormatError: a cell is too long.
    """
    texts = lines_of(text)
    begin = text.lstrip()
    wrapped = not any(name.startswith("[") and begin.startswith(name) for name in names)
    if wrapped and _unwrapped(begin).lstrip().startswith("["):
        texts = [_unwrapped(line).translate(_BRACKETS).strip().strip(",") for line in texts]
    while texts and not texts[-1].strip():
        texts.pop()
    lines = [(n, line) for n, line in enumerate(texts, 1) if line.strip(" ") and not _is_rule(line)]
    found = [s for s in SEPARATORS if any(s in line for _, line in lines)]
    for separator in (*found[:1], None) if found else (None,):
        if sum(_count(line, separator) for _, line in lines) > limit:
            return None
    stripped = [line.strip() for _, line in lines]
    left = "|" * all(line.startswith("|") for line in stripped)
    right = "|" * all(line.endswith("|") for line in stripped)
    ways = [
        _Way(separator, quoted, (left, right) if separator == "|" else ("", ""))
        for separator in found
        for quoted in (True, False)
    ]
    sample = [line for _, line in lines[:SAMPLE]]
    best = max([*ways, _Way(None)], key=lambda way: way.readable(sample, reader))
    return [(f"line {number}", best.cells(line)) for number, line in lines]


@dataclass(frozen=True)
class _Way:
    """A way to split lines into cells."""

    separator: str | None  # None: blanks
    quoted: bool = True  # whether quotes are those of CSV
    bars: tuple[str, str] = ("", "")  # around each line, as in Markdown

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line.

        Raises:
            FormatError: a cell is too long.
        """
        if self.separator is None:
            return line.split()
        if any(self.bars):
            line = line.strip().removeprefix(self.bars[0]).removesuffix(self.bars[1])
        try:
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
            blanks = self.separator != "\t"
            row = csv.reader(
                [line], delimiter=self.separator, skipinitialspace=blanks, quoting=quoting
            )
            cells = next(row, []) or [""]
        except csv.Error as error:
            raise FormatError(f"{abbreviate(line)} is no row of a table: {error}") from error
        return [cell.strip() for cell in cells]

    def readable(self, lines: Sequence[str], reader: Cells) -> tuple[int, int]:
        """Count the lines of the usual width with numbers behind the first cell, and all of it."""
        rows = [self.cells(line) for line in lines]
        width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
        usual = [row for row in rows if len(row) == width > 1]
        read = (all(reader.value(cell) is not None for cell in row[1:]) for row in usual)
        return sum(read), len(usual)


def _count(line: str, separator: str | None) -> int:
    """Return the approximate number of cells in a line."""
    return len(line.split()) if separator is None else line.count(separator) + 1


def _unwrapped(line: str) -> str:
    """Strip the wrapping of a printed array from a line: `tensor(`, `dtype=...`, `)`."""
    line = line.strip()
    if start := _WRAPPING.match(line):
        line = line[start.end() :]
    if kind := _KIND.search(line):
        line = line[: kind.start()].rstrip().removesuffix(",")
    return line.rstrip(") ")


def _is_rule(line: str) -> bool:
    return set(line) <= set("|:-+= ") and "--" in line


@dataclass(frozen=True)
class Labels:
    """Detector of label rows and columns."""

    rows: Sequence[Sequence[str]]
    names: frozenset[str]
    words: Sequence[str]
    reader: Cells
    numeric: bool  # whether the inner cells are numbers rather than names
    beside_corner: bool  # whether the first cell is not a number
    names_at_side: bool  # whether a row or column is a corner, and all names in some order

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[str]],
        names: Sequence[str],
        words: Sequence[str],
        reader: Cells,
    ) -> "Labels":
        """Return the detector for these rows."""
        numeric = any(_NUMBER.fullmatch(cell) for row in rows[1:] for cell in row[1:])
        corner = reader.value(rows[0][0])
        # Backpointers by name have such rows and columns, too, but fewer of them.
        sides = [(rows[0], len(rows))] * (len(rows) > 1)
        sides += [([row[0] for row in rows], len(rows[0]))] * bool(words)
        at_side = any(
            sorted(cells[1:]) == sorted(names) != [] and number >= len(words)
            for cells, number in sides
        )
        beside_corner = corner is None or math.isnan(corner) or at_side
        return cls(rows, frozenset(names), words, reader, numeric, beside_corner, at_side)

    @cached_property
    def has_labels(self) -> bool:
        """Return whether the first column has labels."""
        if self.names_at_side and len(self.rows[0]) == len(self.rows[1]):
            return True
        return self._are_labels([row[0] for row in self.rows[1:]])

    def header(self) -> Sequence[str]:
        """Return the first row if it has labels; else ()."""
        first = self.rows[0]
        if len(self.rows) == len(self.words) + 1 and self._are_all_names(first, enough=1):
            return first
        return first if self._are_labels(first[1:] if self.has_labels else first) else ()

    def _are_labels(self, cells: Sequence[str]) -> bool:
        """Return whether a first row or column, without its corner, has labels."""
        texts = [cell.strip() for cell in cells]
        values = [self.reader.value(text) for text in texts]
        if not texts or values.count(None) * 2 > len(values):
            return bool(texts)
        enough = 1 if self.beside_corner else 2
        if (self.numeric or self.beside_corner) and self._are_all_names(texts, enough):
            return True
        tail = texts[1:] if len(texts) == len(self.words) + 1 else texts
        are_words = bool(self.words) and tail == list(self.words)
        return self.beside_corner and (are_words or _count_up(list(map(_number, texts))))

    def _are_all_names(self, texts: Sequence[str], enough: int) -> bool:
        named = [text for text in texts if text in self.names]
        every = set(named) == self.names and len(named) == len(self.names)
        return len(named) >= enough and every and len(named) >= len(texts) - 1


def _count_up(values: Sequence[float | None]) -> bool:
    """Return whether the cells count from 0 or 1, apart from a corner."""
    counted = [value for value in values if value is not None and not math.isnan(value)]
    if len(counted) < max(2, len(values) - 1):
        return False
    return any(counted == list(range(first, first + len(counted))) for first in (0, 1))
