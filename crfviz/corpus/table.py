"""Tables as lists of rows, shared by pages, reports, JSON and CSV.

A table is a list of rows. A row maps names of columns to texts or numbers. Shares
are in [0, 1]; `<share>_low` and `<share>_high` bound the 95 % interval.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence

from crfviz.corpus.metrics import Rate

Cell = str | int | float | None
TableRow = dict[str, Cell]
Table = list[TableRow]

DIGITS = 6  # decimals of numbers in JSON and CSV
_FORMULA = ("=", "+", "-", "@")  # first characters of cells that spreadsheets evaluate


def rate_cells(name: str, rate: Rate) -> TableRow:
    """Return a share and its interval as cells of a row."""
    return {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}


def rounded(table: Sequence[Mapping[str, Cell]]) -> Table:
    """Return the rows with numbers rounded to six decimals, and None for numbers not finite."""
    return [{name: _rounded(cell) for name, cell in row.items()} for row in table]


def as_csv(table: Sequence[Mapping[str, Cell]]) -> str:
    r"""Return the rows as CSV with a header, empty for an empty table.

    Texts that a spreadsheet would evaluate as a formula get an apostrophe in front.

    >>> as_csv([{"word": "=1+1", "share": 0.5}])
    "word,share\r\n'=1+1,0.5\r\n"
    """
    if not table:
        return ""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(table[0]))
    writer.writeheader()
    writer.writerows({name: _safe(cell) for name, cell in row.items()} for row in rounded(table))
    return file.getvalue()


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table; the first row is the header."""
    header, *others = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *others))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of text with aligned columns.

    >>> aligned([["done", "of"], ["12", "100"]])
    ['done  of', '12    100']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _rounded(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return round(cell, DIGITS) if math.isfinite(cell) else None
    return cell


def _safe(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
