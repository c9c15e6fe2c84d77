"""The page of a session: its path, its view, and the page requested next.

A page keeps the scenario. It drops the step and the page options of the page before it. In place of
a page, a session may show the cue of a lecture.
"""

import streamlit as st

from crfviz.ui.session.scenario_state import (
    change,
    load_address,
    scenario,
    set_view_option,
    view_option,
)
from crfviz.ui.session.session_store import (
    count_visit,
    get_value,
    notify,
    session_value,
    set_value,
)
from crfviz.ui.state.scenario import BEFORE_FIRST, MAX_STEP, OF_PAGE
from crfviz.ui.streamlit_compat import is_history_navigation
from crfviz.ui.words import quote
from crfviz.views.contents import ENTRIES, FORMER, VIEW, at_path, page_of, view_in, views_of

_PATH = "path"  # session key: path of the current page, or name of its view
_REQUEST = "turn"  # session key: the page that a key or a link requested
_PLAYED = "played"  # session key: whether the requested page opens before its first step
_ARRIVING = "arriving"  # session key: the step at which that page opens, and its view
SHOWN_CUE = "lecture.at"  # session key: lecture and number of the cue on the screen; None: a page

LECTURE = "lecture"  # parameter of the URL
START_STEPS = {"next": BEFORE_FIRST, "previous": MAX_STEP}  # the opening step by direction


def begin(page: str) -> None:
    """Begin a run of the page at a path.

    In a new session, and after Back or Forward, the scenario is loaded from the URL. After a change
    of the page, the step and the options of the previous page are dropped.
    """
    set_value(SHOWN_CUE, None)
    before = get_value(_PATH)
    is_another = before is not None and page_of(before).path != page
    if is_another:
        count_visit()
    step, view = get_value(_ARRIVING) or (0, "")
    set_value(_ARRIVING, None)
    if not load_address() and is_another:
        change(step=step, view=_options_with(view))
    set_value(_PATH, _view_on(page))


def may_be_cue() -> bool:
    """Return whether the URL names a lecture, or Back may have led to the page of a left cue."""
    return LECTURE in st.query_params or is_history_navigation()


def path() -> str:
    return session_value(_PATH, str)


def is_page_requested() -> bool:
    return get_value(_REQUEST) is not None


def take_page_request() -> str | None:
    """Return and clear the page request: "next", "previous", a path, or None."""
    requested: str | None = get_value(_REQUEST)
    set_value(_REQUEST, None)
    return requested


def request_page(page: object, *, played: bool = False) -> None:
    """Open "next", "previous", a page or a view in the next run; ignore anything else.

    A page that is `played` opens before its first step.
    """
    set_value(_PLAYED, played)
    known = {*START_STEPS, *FORMER, *(entry.path for entry in ENTRIES)}
    if isinstance(page, str) and page in known:
        set_value(_REQUEST, page)


def set_path(path: str) -> None:
    """Set the path of the current page, so that `begin` keeps options and step for it."""
    set_value(_PATH, path)


def set_arrival(direction: str, name: str) -> None:
    """Set how the next page opens.

    Args:
        direction: "next": before its first step, "previous": at its last; else at step 0.
        name: of the page or view.
    """
    way = "next" if get_value(_PLAYED) else direction
    set_value(_ARRIVING, (START_STEPS.get(way, 0), view_in(name)))


def open_view(name: str, direction: str = "") -> None:
    """Show another view of the current page, by its name; the path of the page is its first.

    `direction` is that of `set_arrival`.
    """
    change(view=_options_with(view_in(name)), step=START_STEPS.get(direction, 0))
    set_value(_PATH, at_path(name).path)


def _options_with(view: str) -> dict[str, str]:
    """Return the page options that another page or view keeps, with `view`."""
    kept = {name: value for name, value in scenario().view.items() if name not in OF_PAGE}
    return {**kept, VIEW: view} if view else kept


def _view_on(page: str) -> str:
    """Return the name of the view that the scenario names on a page; drop an unknown one."""
    named = view_option(VIEW)
    name = FORMER.get(named, named) or page
    known = views_of(page_of(page))
    if name not in known:
        others = ", ".join(filter(None, known))
        notify(f"{at_path(page).title} has no view {quote(named)}: expected one of {others}.")
        name = page
    set_view_option(VIEW, view_in(name))
    return name
