"""What surrounds every page: its links, its look, and the last resort when one fails."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crfviz.ui.widgets.guard import guarded

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


def run(page: st.Page) -> None:
    """Run a page. If it fails, the reader gets words, the log the trace, and the sidebar stays."""
    with guarded("This page"):
        page.run()
