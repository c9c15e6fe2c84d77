"""A table of an error analysis on the page: sortable, with a button for CSV."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from crfviz.corpus.tables import Table, as_csv
from crfviz.views.error_tables import ABOUT, error_frame, formats

TALLEST = 360  # pixels


def show_table(
    name: str, table: Table, *, links: Sequence[str | None] = (), title: str = ""
) -> None:
    """Draw a table with its title; with links, the first column opens the explorer."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{title or ABOUT[name]}**", width="content")
        if table:
            st.download_button(
                "CSV",
                as_csv(table),
                file_name=f"{name}.csv",
                mime="text/csv",
                key=f"errors.csv.{name}",
                type="tertiary",
                on_click="ignore",
            )
    if not table:
        st.caption("None.")
        return
    frame = error_frame(table)
    columns = {
        column: st.column_config.NumberColumn(format=_printf(written))
        for column, written in formats(frame).items()
    }
    if links:
        frame.insert(0, "explore", pd.Series(list(links), dtype=object))
        columns["explore"] = st.column_config.LinkColumn(display_text="open", width=70)
    height = min(TALLEST, 38 + 35 * len(frame))
    st.dataframe(frame, hide_index=True, column_config=columns, height=height)


def _printf(written: str) -> str:
    return "%" + written.removeprefix("{:").removesuffix("}")
