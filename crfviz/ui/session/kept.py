"""What one session keeps; but for the scenario and the snapshots compared, no link holds it.

Once the browser has asked for another run, Streamlit ends this one, and its callbacks too, at the
next look into `st.session_state`: half a change would be made, and an event lost that counts as
handled. So what is kept lies in a dict of our own, found in the state behind that, where a look
ends nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui.state.snapshots import Shelf
from crfviz.ui.streamlit_compat import browser_says, state_of_run
from crfviz.ui.watching.requests import asks_too_often

Kept = TypeVar("Kept")

KEPT = "crfviz"  # the key of the dict in `st.session_state`
DRAFT = (
    "lecture.text"  # the lecture in the making as a text, empty for none, that the browser keeps
)
TOLD = "lecture.told"  # what the browser kept of one that another session made


class LRUCache(Generic[Kept]):
    """A cache that drops the value that was not used for the longest.

    Args:
        size: how many values it has at most.
    """

    def __init__(self, size: int = 8) -> None:
        self._values: OrderedDict[str, Kept] = OrderedDict()
        self._size = size

    def get(self, key: str) -> Kept | None:
        """Return the value of a key, which counts as used; None if there is none."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def add(self, key: str, value: Kept) -> None:
        """Add or replace a value, and drop another beyond the limit."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)


def of_session(name: str, make: Callable[[], Kept]) -> Kept:
    """Something of this session, made when it is asked for first."""
    kept = _kept()
    if name not in kept:
        kept[name] = make()
    made: Kept = kept[name]
    return made


def of_server(name: str, make: Callable[[], Kept]) -> Kept:
    """Something that all sessions of this server share, made when it is asked for first."""
    made: Kept = _shared().setdefault(name, make())
    return made


def keep(name: str, value: object) -> None:
    """Replace something of this session."""
    _kept()[name] = value


def found(name: str) -> Any:  # noqa: ANN401 - whatever was kept
    """Something of this session, None where nothing of that name is kept."""
    return _kept().get(name)


def choice(key: str) -> Any:  # noqa: ANN401 - whatever the widget gives
    """What a widget says, for its callback."""
    return st.session_state.to_dict()[key]


def is_untold(key: str) -> bool:
    """Whether the browser may have heard nothing of the widget with this key, and shows it empty.

    What a run drew that ended early, as another was asked for, may never have been sent. The
    browser says with every request what the widgets hold of which it has heard.
    """
    untold = of_session("untold", set[str])
    if key not in st.session_state:
        untold.add(key)
    elif key in untold and browser_says(key):
        untold.discard(key)
    return key in untold


def say(message: str) -> None:
    """Show a message once, at the next drawing of the sidebar."""
    if message not in messages():
        of_session("messages", list[str]).append(message)


@contextmanager
def refusals_said() -> Iterator[None]:
    """Say what is refused inside; everything stays as it was then."""
    try:
        yield
    except CrfvizError as error:
        say(str(error))


def messages() -> Sequence[str]:
    """What is to be said now, oldest first."""
    every = of_session("messages", list[str])
    if often := asks_too_often():
        every.append(often)
    return tuple(every)


def forget(said: Sequence[str]) -> None:
    """Do not say these messages again; to be called when they are on the screen."""
    keep("messages", [message for message in messages() if message not in said])


def draft(name: str, default: str = "") -> str:
    """A text of this session, `default` until there is one."""
    return of_session("drafts", dict[str, str]).get(name, default)


def set_draft(name: str, text: str) -> None:
    """Keep a text for this session."""
    of_session("drafts", dict[str, str])[name] = text


def shelf() -> Shelf:
    """The snapshots of this session."""
    return of_session("shelf", Shelf)


def keep_shelf(changed: Shelf) -> None:
    """Replace the snapshots of this session."""
    keep("shelf", changed)


@st.cache_resource(show_spinner=False)
def _shared() -> dict[str, Any]:
    return {}


def _kept() -> dict[str, Any]:
    run, state = state_of_run()
    if state is None:
        return _made_in(st.session_state.to_dict())
    if run not in _of_runs:
        _of_runs[run] = _made_in(state)
    return _of_runs[run]


def _made_in(state: Mapping[str, Any]) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = state[KEPT]
    except KeyError:
        kept = st.session_state[KEPT] = {}
    return kept


# A page asks for what is kept some thirty times.
_of_runs: WeakKeyDictionary[object, dict[str, Any]] = WeakKeyDictionary()
