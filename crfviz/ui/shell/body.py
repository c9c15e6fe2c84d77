"""The page inside its frame: drawn with all around it, or alone after an event of its stage."""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from crfviz.ui.following import wall
from crfviz.ui.scene import keep_back_point, show_point, told_point
from crfviz.ui.session.current import publish, scenario, view_option
from crfviz.ui.session.kept import found, keep, messages, shelf
from crfviz.ui.shell.parts import PAGE, part, running
from crfviz.ui.shell.sidebar import is_behind
from crfviz.ui.state.link import TOUR, Link
from crfviz.ui.widgets import guarded
from crfviz.views.contents import at_path

# Page options that stages choose; nothing around a page tells of them.
IN_PAGE = ("at", "cell", "chosen", "entity", "folded", "nodes", "nudge", "panel", "weight")
_FRAME, _POINT = "frame", "frame.point"  # what the frame on the screen was drawn of


def run(page: st.Page, link: Link) -> None:
    """Run a page inside its frame, which tells the address, `link`, and is drawn by now."""
    if not at_path(page.url_path).sentence:
        _run(page)
        return
    keep_back_point()
    keep(_FRAME, _frame(link))
    _and_then(lambda: _page(page), _tell_point)


@part(PAGE)
def _page(page: st.Page) -> None:
    """The page; alone if the frame around it stands, else everything is drawn anew."""
    if PAGE not in running():
        _run(page)
        return
    if not _stands(page, publish()):
        st.rerun()
    keep_back_point()
    with wall.followed(page.title):
        _and_then(lambda: _run(page), _have_point_told)


def _run(page: st.Page) -> None:
    """If a page fails, the reader gets words, the log the trace, and what is around it stays."""
    with guarded("This page"):
        page._can_be_called = True  # Streamlit expects one call for each run of app.py
        page.run()


def _stands(page: st.Page, link: Link) -> bool:
    """Whether the frame of a page would look as it does, but for the parts that are drawn, too."""
    context = get_script_run_ctx()
    return (
        context is not None
        and context.page_script_hash == page._script_hash
        and not view_option(TOUR)  # it looks at what was done
        and not messages()
        and found(_FRAME) == _frame(link)
        and not is_behind(running())
    )


def _frame(link: Link) -> object:
    """What the frame of a page tells, but for links and edits."""
    now, here = scenario(), wall.room()
    view = {name: value for name, value in now.view.items() if name not in IN_PAGE}
    return now.model, now.sentence, view, link.complete, shelf(), here and here.code


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
