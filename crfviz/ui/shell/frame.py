"""The frame of a page (style, head, navigation by keys), and the fragment that runs the page.

A full run draws the frame and the page. After an event of a stage, only the page is drawn again.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st

from crfviz.ui.errors.error_navigation import list_bar
from crfviz.ui.fragments import PAGE, edits_are_drawn, frame_stands, note_frame
from crfviz.ui.live_room import broadcast
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.page_end import PageEnd
from crfviz.ui.session.page_state import open_view, path, set_arrival
from crfviz.ui.session.scenario_state import publish, view_option
from crfviz.ui.session.session_store import get_value, notify, set_value
from crfviz.ui.shell.glossary import linked, terms_panel
from crfviz.ui.streamlit_compat import DeltaGenerator, is_fragment_run
from crfviz.ui.widgets import guarded
from crfviz.views.contents import (
    PAGES,
    Entry,
    at_path,
    beside,
    group_of,
    page_of,
    titled,
    views_of,
)

Width = int | Literal["content", "stretch"]  # pixels; as wide as the content; the rest of the row

SIDEBAR_WIDTH = 220  # pixels
SIDEBAR, SHOWN, HIDDEN = "sidebar", "open", "closed"  # page option, and its values

_FRAMED = "framed"  # session key: whether the frame has run, but not yet its page

_ROOT = Path(__file__).resolve().parents[3]
_STYLE_SHEET = Path(__file__).with_name("frame.css")


def configure() -> None:
    """Set the app's title, and show or hide the sidebar as the link says."""
    hidden = view_option(SIDEBAR) == HIDDEN
    width: int | Literal["collapsed"] = "collapsed" if hidden else SIDEBAR_WIDTH
    st.set_page_config(page_title="crfviz", layout="wide", initial_sidebar_state=width)


def style() -> None:
    set_value(_FRAMED, True)
    st.html(_STYLE_SHEET)


def pages() -> list[st.Page]:
    """Return all pages, in the order of the sidebar."""
    return [
        st.Page(each.script, title=each.title, url_path=each.path or None, default=not each.path)
        for each in PAGES
    ]


@cache
def page_code(script: str) -> CodeType:
    """Return the compiled script of a page; unlike `st.Page.run` it can run more than once."""
    return compile((_ROOT / script).read_text(encoding="utf-8"), script, "exec")


def header(title: str, *widths: Width, display: bool = False) -> list[DeltaGenerator]:
    """Draw the title of a page, the row of its views, and the question that it answers.

    Every script of a page or view calls this first.

    Args:
        title: of the page or view.
        widths: those of the containers for its own controls, right of the title or below.
        display: whether the controls only choose how the picture is drawn; on phones, they are
            below it.

    Returns:
        The containers.
    """
    _need_frame()
    entry = titled(title)
    page = page_of(entry.path)
    with st.container(key="head", horizontal=True):
        st.title(page.title, anchor=False, width="content")
        if page.views:
            _views(page, entry)
        st.html(
            f'<div class="crfviz-answers"><span>{linked(entry.answers, entry.terms)}</span> '
            f"{terms_panel(entry.terms)}</div>",
            width="content",
        )
        places = []
        if widths:
            key = "controls-display" if display else "controls"
            with st.container(key=key, horizontal=True, vertical_alignment="center"):
                places = [st.container(width=width) for width in widths]
    if entry.sentence:
        list_bar()
    return places


def _views(page: Entry, shown: Entry) -> None:
    """Draw the row of views of a page."""
    views = views_of(page)
    bound_to(
        st.segmented_control,
        "View",
        "view.view",
        shown.path,
        open_view,
        options=list(views),
        format_func=lambda name: views[name].label,
        required=True,
        label_visibility="collapsed",
        width="content",
    )


def _need_frame() -> None:
    """Rerun the app if a page runs without app.py.

    Until the first call of `st.navigation`, Streamlit treats pages/ as an old multipage app. The
    first visitor of a new server whose URL names a page would get that page without its frame.
    """
    if not (is_fragment_run() or get_value(_FRAMED)):
        st.navigation(pages(), position="hidden")
        st.rerun()
    set_value(_FRAMED, False)


def turn(pages: Sequence[st.Page], page: st.Page, way: str | None) -> None:
    """Open the requested page; show a message at the ends of a group.

    Args:
        pages: all pages of the app.
        page: the current page.
        way: "next" or "previous" in the group, or a page or view by path or name; None for no
            request.
    """
    if way is None:
        return
    steps = {"next": 1, "previous": -1}.get(way)
    target = beside(path(), steps) if steps else way
    if target is None:
        end = "last" if way == "next" else "first"
        group = group_of(page.url_path)
        notify(f"{page.title} is the {end} page of “{group}”." if group else "No page follows.")
    elif page_of(target).path != page.url_path:
        set_arrival(way, target)
        st.switch_page(next(each for each in pages if each.url_path == page_of(target).path))
    elif target != path():
        open_view(target, way)


def run() -> None:
    """Run the page; one about a sentence runs as a fragment."""
    entry = at_path(path())
    if entry.sentence:
        note_frame()
        _page(entry)
    else:
        with guarded("This page"), suppress(PageEnd):
            exec(page_code(entry.script), {"__name__": "__main__"})


@st.fragment(key=PAGE)
def _page(page: Entry) -> None:
    """Draw the page; rerun the whole app if the frame is not up to date."""
    with ExitStack() as around:
        if is_fragment_run():
            publish()
            if not (is_open(page) and frame_stands() and edits_are_drawn()):
                st.rerun()
            around.enter_context(broadcast.broadcast(page.title))
        around.enter_context(guarded("This page"))
        around.enter_context(suppress(PageEnd))
        exec(page_code(page.script), {"__name__": "__main__"})


def is_open(page: Entry) -> bool:
    """Return whether the browser still shows a page; an event may come from the previous page."""
    last = urlsplit(st.context.url or "").path.rstrip("/").rpartition("/")[2]
    known = any(each.path == last for each in PAGES)  # otherwise the base path of the app
    return page.path == path() and page_of(page.path).path == (last if known else "")
