"""What surrounds every page: its links, its look, and the last resort when one fails."""

from __future__ import annotations

import logging
from pathlib import Path
from uuid import uuid4

import streamlit as st
from streamlit.errors import FragmentHandledException

from crfviz.exceptions import CrfvizError
from crfviz.ui.words import plain

PAGES = (
    ("pages/explore.py", "Explore", ""),
    ("pages/emissions.py", "Emissions", "emissions"),
    ("pages/transitions.py", "Transitions", "transitions"),
    ("pages/forward-backward.py", "Forward–backward", "forward-backward"),
    ("pages/viterbi.py", "Viterbi", "viterbi"),
    ("pages/marginals.py", "Marginals", "marginals"),
    ("pages/why.py", "Why this tag", "why"),
    ("pages/hmm-as-crf.py", "HMM as CRF", "hmm-as-crf"),
    ("pages/models.py", "Models", "models"),
)  # script, title, path in the address; the first is the home page

SIDEBAR_WIDTH = 250  # pixels

_STYLE_SHEET = Path(__file__).with_name("frame.css")

_log = logging.getLogger(__name__)


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
    """Run a page. If it fails, the reader gets words, the log the trace, and the sidebar stays.

    Streamlit stops and repeats scripts by exceptions of its own; those pass.
    """
    try:
        page.run()
    except FragmentHandledException:
        raise
    except CrfvizError as error:
        _log.warning("page %s", page.title, exc_info=True)
        st.error(plain(str(error)))
    except Exception:  # noqa: BLE001 - the last resort: nobody above could say it in words
        number = uuid4().hex[:8]
        _log.exception("page %s failed, log id %s", page.title, number)
        st.error(
            f"This page could not be drawn (log id {number}). Your sentence and edits are kept: "
            "change them on the left, press Reset there, or go to another page."
        )
