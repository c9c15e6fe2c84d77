"""Per-session state, most of which is not in the URL.

After the browser has requested another run, Streamlit aborts the current run at the next access to
`st.session_state`. That could leave a change incomplete, or lose a handled event. The state is
therefore one dict, which is accessed without `st.session_state`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui.state.snapshots import Snapshots
from crfviz.ui.streamlit_compat import browser_says, late_events, state_of_run
from crfviz.ui.watching.requests import rate_limit_message

Value = TypeVar("Value")

STORE_KEY = "crfviz"  # the key of the dict in `st.session_state`
DRAFT = "lecture.text"  # session key: the lecture's draft for the browser to store; "" for none
_VISIT = "visit"  # session key: number of changes of page so far
BROWSER_DRAFT = "lecture.told"  # session key: the draft from an earlier session of the browser


class LRUCache(Generic[Value]):
    """A cache that drops the least recently used value.

    Args:
        size: maximum number of values.
    """

    def __init__(self, size: int = 8) -> None:
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._size = size

    def get(self, key: str) -> Value | None:
        """Return the value of a key, and mark it as used; None if the key is missing."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def add(self, key: str, value: Value) -> None:
        """Add or replace a value; if the cache is full, drop the least recently used one."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)


def session_value(name: str, make: Callable[[], Value]) -> Value:
    """Return a value of this session; create it on first use."""
    values = _values()
    if name not in values:
        values[name] = make()
    value: Value = values[name]
    return value


def server_value(name: str, make: Callable[[], Value]) -> Value:
    """Return a value that all sessions of this server share; create it on first use."""
    value: Value = _server_values().setdefault(name, make())
    return value


def set_value(name: str, value: object) -> None:
    _values()[name] = value


def get_value(name: str) -> Any:  # noqa: ANN401 - of any type
    return _values().get(name)


def widget_value(key: str) -> Any:  # noqa: ANN401 - of any widget
    """Return the value of a widget; for use in its callback."""
    values = st.session_state.to_dict()
    return values[key] if key in values else late_events(key)


def may_be_unsent(key: str) -> bool:
    """Return whether the browser may not have received a widget, whose value must be set again.

    Streamlit may never send the elements of an aborted run. A widget has arrived once a request of
    the browser contains its value. At a change of page the request may speak of the widget on the
    page before, which the browser has removed since.
    """
    unsent = session_value("untold", set[str])
    drawn_at, visit = session_value("drawn at", dict[str, int]), get_value(_VISIT) or 0
    if key not in st.session_state or drawn_at.get(key, visit) != visit:
        unsent.add(key)
    elif key in unsent and browser_says(key):
        unsent.discard(key)
    drawn_at[key] = visit
    return key in unsent


def count_visit() -> None:
    """Note that another page begins; see `may_be_unsent`."""
    set_value(_VISIT, (get_value(_VISIT) or 0) + 1)


def notify(message: str) -> None:
    """Show a message once, when the sidebar is drawn next."""
    if message not in messages():
        session_value("messages", list[str]).append(message)


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Show a `CrfvizError` of the body as a message instead of raising it."""
    try:
        yield
    except CrfvizError as error:
        notify(str(error))


@contextmanager
def errors_beside(widget: str) -> Iterator[None]:
    """Store a `CrfvizError` of the body for `last_error_beside` instead of raising it.

    Args:
        widget: key of a widget beside which the error is shown.
    """
    errors = session_value("errors", dict[str, str])
    errors.pop(widget, None)
    try:
        yield
    except CrfvizError as error:
        errors[widget] = str(error)


def last_error_beside(widget: str) -> str:
    """Return the error to show beside a widget, empty without one; call it before drawing.

    The error is dropped after a run that did not draw the widget.
    """
    errors = session_value("errors", dict[str, str])
    if widget not in st.session_state:
        errors.pop(widget, None)
    return errors.get(widget, "")


def messages() -> Sequence[str]:
    """Return the messages to show now, oldest first."""
    pending = session_value("messages", list[str])
    if too_often := rate_limit_message():
        pending.append(too_often)
    return tuple(pending)


def discard_messages(shown: Sequence[str]) -> None:
    set_value("messages", [message for message in messages() if message not in shown])


def draft(name: str, default: str = "") -> str:
    """Return a draft, a text that the session keeps under a name; `default` if it is not set."""
    return session_value("drafts", dict[str, str]).get(name, default)


def set_draft(name: str, text: str) -> None:
    session_value("drafts", dict[str, str])[name] = text


def snapshots() -> Snapshots:
    return session_value("shelf", Snapshots)


def set_snapshots(changed: Snapshots) -> None:
    set_value("shelf", changed)


@st.cache_resource(show_spinner=False)
def _server_values() -> dict[str, Any]:
    return {}


def _values() -> dict[str, Any]:
    run, state = state_of_run()
    if state is None:
        return _store_in(st.session_state.to_dict())
    if run not in _stores:
        _stores[run] = _store_in(state)
    return _stores[run]


def _store_in(state: Mapping[str, Any]) -> dict[str, Any]:
    try:
        store: dict[str, Any] = state[STORE_KEY]
    except KeyError:
        store = st.session_state[STORE_KEY] = {}
    return store


# The dict of each run, cached because a page reads session values some thirty times.
_stores: WeakKeyDictionary[object, dict[str, Any]] = WeakKeyDictionary()
