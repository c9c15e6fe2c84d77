"""The sidebar of every page: links to the pages, annotator, colour theme, and Share."""

from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from secrets import token_hex
from urllib.parse import parse_qsl

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.live_room import broadcast
from crfviz.ui.session.bound_widgets import bound_flag, bound_tabs, bound_text
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.permission import (
    NOBODY,
    LoginError,
    account,
    is_logged_in,
    is_login_required,
)
from crfviz.ui.session.scenario_state import NO_LETTERS, go_to_link, scenario, set_view_option
from crfviz.ui.session.session_store import (
    BROWSER_DRAFT,
    DRAFT,
    discard_messages,
    get_value,
    messages,
    notify,
    session_value,
    set_value,
    widget_value,
)
from crfviz.ui.shell.frame import HIDDEN, SHOWN, SIDEBAR
from crfviz.ui.shell.share_menu import share_menu
from crfviz.ui.state.link import LONGEST_LINK, NOT_ELSEWHERE, Link
from crfviz.ui.state.scenario import ASK
from crfviz.ui.streamlit_compat import component
from crfviz.ui.words import plain
from crfviz.views.contents import GROUPS, Entry, page_of
from crfviz.views.quiz.selection import can_ask

ANNOTATE = "annotate"  # path of the page that needs the annotator's name
THEMES = ("system", "light", "dark")
_MAX_MESSAGES = 2  # messages shown at once
LONGEST_NAME = 40  # characters of an annotator's name


def sidebar(link: Link, path: str, tool: Callable[[str], None]) -> None:
    """Draw the sidebar of the page at `path`.

    Args:
        link: the state that the links of the menu Share open.
        path: the path of the current page, or the name of its view.
        tool: draws further actions in the menu Share, for the page at a path.
    """
    with st.sidebar:
        st.html('<div class="crfviz-brand">crfviz</div>')
        _links(page_of(path))
        if path == ANNOTATE:
            annotator_box()
        with st.container(key="status"):
            _status(link, path, tool)
    show_messages()


def show_messages() -> None:
    """Show the pending messages once: at most two, and how many more there are."""
    shown_messages = messages()
    shown, more = shown_messages[:_MAX_MESSAGES], len(shown_messages) - _MAX_MESSAGES
    if more > 0:
        shown = [*shown, f"{more} more not shown."]
    for message in shown:
        st.toast(plain(message), icon=":material/info:", duration="long")
    discard_messages(shown_messages)


def _links(here: Entry) -> None:
    """Draw the links to the pages, with the group of the current page open.

    They are one element: eighteen page links of Streamlit and their groups take 40 messages. The
    browser adds the scenario to the links, so that a page opened in another tab has the state.
    """
    with st.container(key="pages"):
        st.html(_links_html(next((name for name in GROUPS if here in GROUPS[name]), "")))


@cache
def _links_html(opened: str) -> str:
    """Return the links as HTML; it is the same on all pages of a group, which keeps the focus."""
    groups = (
        f"<details{' open' if heading == opened else ''}><summary>{escape(heading)}</summary>"
        + "".join(f'<a href="{page.path or "./"}">{escape(page.title)}</a>' for page in group)
        + "</details>"
        for heading, group in GROUPS.items()
    )
    return "".join(groups)


def _status(link: Link, path: str, tool: Callable[[str], None]) -> None:
    """Draw the switch "Ask me", the colour theme, the menu Share, and the device of the model."""
    if can_ask(path):
        bound_flag(st.toggle, "Ask me", ASK)
    place = st.container(key="theme", width="content")
    use_colours(bound_tabs("Colours", "theme", THEMES, THEMES[0], at=place))
    tagger = cached.known_tagger(scenario().model)
    device = "GPU" if tagger and tagger.device.startswith("cuda") else "CPU"
    with st.container(key="foot", horizontal=True, vertical_alignment="center"):
        share_menu(link, path, tool)
        st.button("Guides", on_click=request_page, args=("guides",), type="tertiary", key="guides")
    st.caption(f"Running on {device}" if tagger else "No model")


def use_colours(theme: str) -> None:
    """Mount the component "frame", which applies one of `THEMES` and handles the frame's events."""
    frame = component("frame", "ui/shell/web", ["frame"])
    frame(
        key="frame",
        data={
            "theme": theme,
            "lead": broadcast.room_key(),
            "draft": get_value(DRAFT),
            "own": NOT_ELSEWHERE,
            "letters": not flag_option(NO_LETTERS),
            "session": session_value("frame.session", lambda: token_hex(8)),
        },
        on_draft_change=_take_draft,
        on_sidebar_change=_keep_sidebar,
        on_lead_change=_go_on,
        on_turn_change=_turn,
        on_page_change=_open,
        on_visit_change=_visit,
        on_back_change=_draw,
        on_anew_change=_say_what_is_lost,
    )


def _draw() -> None:
    """Do nothing: the run itself redraws after a lost connection and handles the events."""


def _say_what_is_lost() -> None:
    """Show what is kept and what is lost after a lost connection led to a new session."""
    notify(
        "The connection is back, in a new session. Your scores are kept; undo, snapshots and "
        "unsaved texts are gone."
    )


def _sent(event: str) -> object:
    """Return what the component "frame" sent with an event; None for nothing."""
    events = widget_value("frame")
    return events.get(event) if isinstance(events, Mapping) else None


def _go_on() -> None:
    """Lead the room again that this browser leads in another tab, or led before a reload."""
    if (key := _sent("lead")) is not None:
        broadcast.resume_room(key)


def _take_draft() -> None:
    text = _sent("draft")
    if isinstance(text, str) and get_value(DRAFT) is None:
        set_value(BROWSER_DRAFT, text)
        set_value(DRAFT, text)


def _turn() -> None:
    """Open the next or previous page, after a key that no picture has used."""
    request_page(_sent("turn"))


def _open() -> None:
    request_page(_sent("page"))


def _visit() -> None:
    """Load the state of a link of the page that was clicked in the browser; it can be undone."""
    query = _sent("visit")
    if isinstance(query, str) and len(query) <= LONGEST_LINK:
        go_to_link(dict(parse_qsl(query, keep_blank_values=True)), {})


def _keep_sidebar() -> None:
    if (shown := _sent("sidebar")) in (SHOWN, HIDDEN):
        set_view_option(SIDEBAR, str(shown), SHOWN)


def annotator_box() -> None:
    """Draw the box for the annotator's name; with a login, the account and Log out or Log in."""
    try:
        has_login = is_login_required()
    except LoginError:  # the page shows the error
        return
    if not has_login:
        bound_text(
            "Annotator",
            "by",
            max_chars=LONGEST_NAME,
            placeholder=NOBODY,
            help="Two people need two names. The address holds yours: take `v.by` out of it "
            "before you send it to somebody.",
        )
    elif is_logged_in():
        st.caption(f"Annotator **{plain(account() or 'nobody')}**")
        st.button("Log out", on_click=st.logout, type="tertiary")
    else:
        st.button("Log in to label", on_click=st.login, type="primary")
