"""A table as plain HTML: its links are links of the page, which keys and screen readers reach."""

from collections.abc import Mapping
from html import escape

import pandas as pd

CLASS = "crfviz-plain"  # of the box around it, for style sheets
OPEN = "open"  # what a link says; its name has the first texts of its row, too
_LONGEST_NAME = 80  # characters of such a name


def plain_table(
    frame: pd.DataFrame,
    links: list[str],
    formats: Mapping[str, str] | None = None,
    marked: int | None = None,
) -> str:
    """The rows of a frame, in its order of columns.

    Args:
        frame: texts and numbers.
        links: the columns that hold addresses, or None where a row has none.
        formats: how the numbers of a column are written, such as "{:.2f}".
        marked: the row that the reader comes back from.

    Returns:
        One element, with everything from the frame escaped.
    """
    heads = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in frame.columns)
    rows = []
    for place, row in enumerate(frame.to_dict("records")):
        texts = [str(row[name]) for name in frame.columns if name not in links]
        about = ", ".join(texts[:3])[:_LONGEST_NAME]
        cells = [
            _link(row[name], f"{OPEN} {name}: {about}")
            if name in links
            else f"<td>{escape(_written(row[name], (formats or {}).get(name)))}</td>"
            for name in frame.columns
        ]
        here = ' aria-current="true"' if place == marked else ""
        rows.append(f"<tr{here}>{''.join(cells)}</tr>")
    body = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="{CLASS}"><table>{body}</table></div>'


def _link(address: object, name: str) -> str:
    if not isinstance(address, str) or not address:
        return "<td></td>"
    given = escape(address, quote=True), escape(name, quote=True)
    return f'<td><a href="{given[0]}" aria-label="{given[1]}">{OPEN}</a></td>'


def _written(cell: object, form: str | None) -> str:
    if cell is None or (isinstance(cell, float) and pd.isna(cell)):
        return "–"
    return form.format(cell) if form else str(cell)
