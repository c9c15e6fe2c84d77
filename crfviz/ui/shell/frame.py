"""What surrounds every page: its links, its look, and the last resort when one fails."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.pages_manager import PagesManager

from crfviz.ui.widgets import guarded

PAGES = (
    ("pages/explore.py", "Explore", ""),
    ("pages/emissions.py", "Emissions", "emissions"),
    ("pages/transitions.py", "Transitions", "transitions"),
    ("pages/forward-backward.py", "Forward–backward", "forward-backward"),
    ("pages/viterbi.py", "Viterbi", "viterbi"),
    ("pages/marginals.py", "Marginals", "marginals"),
    ("pages/why.py", "Why this tag", "why"),
    ("pages/hmm-as-crf.py", "HMM as CRF", "hmm-as-crf"),
    ("pages/what-if.py", "What if", "what-if"),
    ("pages/entities.py", "Entities", "entities"),
    ("pages/compare.py", "Compare", "compare"),
    ("pages/paths.py", "Paths", "paths"),
    ("pages/learn.py", "Learn", "learn"),
    ("pages/naive.py", "Naive way", "naive"),
    ("pages/log-space.py", "Log space", "log-space"),
    ("pages/homework.py", "Homework", "homework"),
    ("pages/annotate.py", "Annotate", "annotate"),
    ("pages/model-errors.py", "Model errors", "model-errors"),
    ("pages/models.py", "Models", "models"),
    ("pages/bring.py", "Bring your own", "bring"),
)  # script, title, path in the address; the first is the home page

Columns = list[DeltaGenerator]

SIDEBAR_WIDTH = 250  # pixels

_STYLE_SHEET = Path(__file__).with_name("frame.css")


def style() -> None:
    """Send the style sheet; it takes no room on the page."""
    st.html(_STYLE_SHEET)


def pages() -> list[st.Page]:
    """The pages in the order of their links."""
    return [
        st.Page(script, title=title, url_path=path or None, default=not path)
        for script, title, path in PAGES
    ]


def header(title: str, *widths: float, align: Literal["top", "center"] = "center") -> Columns:
    """Draw the title of a page, the first thing that each of them does.

    The widths are those of the columns in its line, that of the title first; none if it stands
    alone.

    Returns:
        The columns, the title already in the first of them.
    """
    _need_frame()
    if not widths:
        st.title(title)
        return []
    columns = st.columns(widths, vertical_alignment=align)
    columns[0].title(title)
    return columns


def _need_frame() -> None:
    """Begin the run again if a page runs without app.py around it.

    Streamlit takes pages/ for its older kind of app until `st.navigation` was called once: the
    first visitor of a new server who names a page in the address would get that page alone. As
    nothing of the frame has run by then, it is the page that has to notice.
    """
    if PagesManager.uses_pages_directory is not False:
        PagesManager.uses_pages_directory = False
        st.rerun()


def turn(pages: Sequence[st.Page], page: st.Page, way: str | None) -> None:
    """Go to the page after this one, or before it; nothing happens at the ends."""
    if way is not None:
        at = [each.url_path for each in pages].index(page.url_path) + (1 if way == "next" else -1)
        if 0 <= at < len(pages):
            st.switch_page(pages[at])


def run(page: st.Page) -> None:
    """Run a page. If it fails, the reader gets words, the log the trace, and the sidebar stays."""
    with guarded("This page"):
        page.run()
