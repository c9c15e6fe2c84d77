"""The page inside its frame: drawn with all around it, or alone after an event of its stage."""

from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st

from crfviz.ui.fragments import PAGE, edits_are_drawn, frame_stands, note_frame
from crfviz.ui.live_room import broadcast
from crfviz.ui.scene import keep_back_point, show_point, told_point
from crfviz.ui.session.current import path, publish
from crfviz.ui.session.kept import found, keep
from crfviz.ui.shell.frame import run_script
from crfviz.ui.streamlit_compat import StopException, is_fragment_run
from crfviz.ui.widgets import guarded
from crfviz.views.contents import ENTRIES, Entry, at_path

_POINT = "frame.point"  # what the example on the screen is said to show


def run(page: st.Page) -> None:
    """Run a page inside its frame, which is drawn by now."""
    entry = at_path(page.url_path)
    if not entry.sentence:
        with guarded("This page"):
            page.run()
        return
    keep_back_point()
    note_frame()
    _and_then(lambda: _page(entry), _tell_point)


@st.fragment(key=PAGE)
def _page(page: Entry) -> None:
    """The page; alone if the frame around it stands, else everything is drawn anew."""
    if not is_fragment_run():
        _run(page)
        return
    publish()
    if not (is_open(page) and frame_stands() and edits_are_drawn()):
        st.rerun()
    keep_back_point()
    with broadcast.broadcast(page.title):
        _and_then(lambda: _run(page), _have_point_told)


def is_open(page: Entry) -> bool:
    """Return whether the browser is at a page: it may have sent this before it left another."""
    last = urlsplit(st.context.url or "").path.rstrip("/").rpartition("/")[2]
    known = any(each.path == last for each in ENTRIES)  # else the path under which the app is
    return page.path == path() == (last if known else "")


def _run(page: Entry) -> None:
    """If a page fails, the reader gets words, the log the trace, and what is around it stays."""
    with guarded("This page"):
        run_script(page)


def _tell_point() -> None:
    show_point()
    keep(_POINT, told_point())


def _have_point_told() -> None:
    if told_point() != found(_POINT):
        st.rerun()


def _and_then(draw: Callable[[], None], end: Callable[[], None]) -> None:
    """Draw something that may end early, and do the rest; a run that begins anew has none."""
    try:
        draw()
    except StopException:
        end()
        raise
    end()
