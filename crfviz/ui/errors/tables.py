"""A table of an error analysis on the page: sortable, with a button for CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from crfviz.corpus.table import Table, as_csv
from crfviz.ui.session.bound import bound_flag
from crfviz.ui.widgets import download
from crfviz.views.frames.errors import ABOUT, error_frame, formats

TALLEST = 360  # pixels
MOST_ROWS = 100  # of a table with links, which are long, until the reader asks for all
LAZY_FROM = 1000  # rows; more are sent as they come into sight

Links = Mapping[str, Sequence[str | None]]  # by the name of their column


def show_table(name: str, table: Table, *, links: Links | None = None, title: str = "") -> None:
    """Draw a table with its title, columns of links in front."""
    title = title or ABOUT[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{title}**", width="content")
        if table:
            download(
                "CSV",
                lambda: as_csv(table),
                f"{name}.csv",
                "text/csv",
                key=f"errors.csv.{name}",
                type="tertiary",
            )
        shown = len(table) if not links or _all_of(name, len(table)) else MOST_ROWS
    if not table:
        st.caption("None.")
        return
    frame = error_frame(table[:shown])
    columns = {
        column: st.column_config.NumberColumn(format=_printf(written))
        for column, written in formats(frame).items()
    }
    for place, (column, targets) in enumerate((links or {}).items()):
        frame.insert(place, column, pd.Series(list(targets[:shown]), dtype=object))
        columns[column] = st.column_config.LinkColumn(display_text="open", width=70)
    height = min(TALLEST, 38 + 35 * len(frame))
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns,
        height=height,
        lazy=True if len(frame) > LAZY_FROM else None,
    )


def _all_of(name: str, rows: int) -> bool:
    """Whether all rows are wanted; a toggle where there are many."""
    if rows <= MOST_ROWS:
        return True
    wanted = bound_flag(st.toggle, f"all {rows:,} rows", f"all_{name}")
    if not wanted:
        st.caption(f"The first {MOST_ROWS}; sorting is among these, the CSV has all.")
    return wanted


def _printf(written: str) -> str:
    return "%" + written.removeprefix("{:").removesuffix("}")
