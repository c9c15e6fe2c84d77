"""Cells of a line: what separates them, and whether quotation marks stand around them.

In a file with quoted cells a mark inside of one is written twice. Elsewhere a mark is a word. Each
line that can be read in only one of the two ways is evidence for it.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.readers.kinds import are_tags
from crfviz.text.readers.roles import TAG_NAMES, WORD_NAMES

TAB, BLANK = "\t", " "
SEPARATORS = (",", ";", "\t", "|")
QUOTE = '"'
_RULE = set("-|: ")  # signs of the line below the names of a table in Markdown
_BLANKS = re.compile("[ ]+")


@dataclass(frozen=True)
class Dialect:
    """How the cells of a line are written."""

    separator: str = TAB
    quoted: bool = False  # whether quotation marks stand around cells
    last: bool = False  # whether only the last separator of a line separates


TABS = Dialect()


def cells_of(line: str, dialect: Dialect) -> list[str]:
    """Return the cells of a line."""
    separator = dialect.separator
    if separator == BLANK:
        return line.split(TAB) if TAB in line else _BLANKS.split(line.strip(" \r"))
    if dialect.last:
        return list(line.rpartition(separator)[::2])
    if dialect.quoted and QUOTE in line:
        return _parsed(line, separator) or line.split(separator)
    return line.split(separator)


def is_quoted(lines: Sequence[str], separator: str, name: str) -> bool:
    """Return whether quotation marks stand around cells, rather than being words.

    Raises:
        FormatError: some lines show one and some the other.
    """
    marked = [line for line in lines if QUOTE in line]
    if not marked:
        return False
    plain = Counter(line.count(separator) for line in lines if QUOTE not in line)
    parsed = {line: _parsed(line, separator) for line in marked}
    widths = plain or Counter(len(cells) - 1 for cells in parsed.values() if cells)
    width = widths.most_common(1)[0][0] if widths else marked[0].count(separator)
    as_words = as_marks = ""
    for line, cells in parsed.items():
        fits = line.count(separator) == width
        parses = cells is not None and len(cells) == width + 1
        doubled = parses and any(_is_doubled(cell) for cell in line.split(separator))
        if fits and not parses:
            as_words = as_words or line
        elif parses and (doubled or not fits):
            as_marks = as_marks or line
    if as_words and as_marks:
        raise FormatError(
            f"{name}: quotation marks are words in {abbreviate(as_words)} and stand around a cell "
            f"in {abbreviate(as_marks)}; write them in one way"
        )
    if as_words or as_marks:
        return bool(as_marks)
    around = sum(any(_is_around(cell) for cell in line.split(separator)) for line in marked)
    return around == len(marked) and (separator != TAB or len(marked) >= len(lines) - 1)


def _parsed(line: str, separator: str) -> list[str] | None:
    """Return the cells of a line with quoted cells; None if its marks are not in pairs."""
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), None)
    except csv.Error:
        return None


def _is_around(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == QUOTE


def _is_doubled(cell: str) -> bool:
    return _is_around(cell) and QUOTE * 2 in cell[1:-1]


def table_rows(text: str, separator: str, name: str) -> list[list[str]]:
    """Return the rows of a table whose cells may have several lines.

    Raises:
        FormatError: the rows have different widths, or the quotation marks are not in pairs.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    width = lines[0].count(separator)
    if all(line.count(separator) == width for line in lines):
        dialect = Dialect(separator, is_quoted(lines, separator, name))
        return [cells_of(line, dialect) for line in lines]
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=separator, strict=True))
    except csv.Error as error:
        raise FormatError(f"{name}: expected a table with a header, got {error}") from error
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise FormatError(
                f"{name}, row {number}: expected {width} cells as in the header, got {len(row)}"
            )
        swallowed = (line for cell in row for line in cell.split("\n")[1:-1])
        if any(line.count(separator) == width - 1 for line in swallowed):
            raise FormatError(
                f"{name}, row {number}: a quotation mark opens a cell of several rows, "
                f"{abbreviate(row[0])}; write the mark twice, or quote all cells"
            )
    return rows


def dialect_of(lines: Sequence[str], name: str) -> Dialect:
    """Return how the cells of lines of words are separated; by blanks if nothing else fits.

    Raises:
        FormatError: as `is_quoted`, or the lines are a table in Markdown.
    """
    if any("---" in line and "|" in line and set(line.strip()) <= _RULE for line in lines[1:2]):
        raise FormatError(f"{name}: seems to be a table in Markdown; separate its columns by TABs")
    marked = [line for line in lines if TAB in line]
    if marked and not all(line.startswith("# ") for line in marked):
        return Dialect(TAB, is_quoted(marked, TAB, name))
    for separator in SEPARATORS if len(lines) > 1 else ():
        names = [name.strip().lower() for name in lines[0].replace(QUOTE, "").split(separator)]
        named = {*names} & {*WORD_NAMES} and {*names} & {*TAG_NAMES}
        if not all(separator in line for line in lines):
            continue
        dialect = Dialect(separator, is_quoted(lines, separator, name))
        rows = [cells_of(line, dialect) for line in lines]
        if named:
            return dialect
        if separator == "|":
            continue
        if len({*map(len, rows)}) > 1 or len(rows[0]) < 2:
            dialect = Dialect(separator, last=True)
            rows = [cells_of(line, dialect) for line in lines]
        for word in range(len(rows[0]) - 1):
            words = [row[word] for row in rows]
            if all(cell and BLANK not in cell for cell in words) and any(
                are_tags([row[at] for row in rows[skipped:]])
                for at in range(word + 1, len(rows[0]))
                for skipped in (0, 1)
            ):
                return dialect
    return Dialect(BLANK)
