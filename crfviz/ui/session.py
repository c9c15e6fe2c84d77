"""What one session keeps beside its scenario; no link holds it, but for the snapshots compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import streamlit as st

from crfviz.ui.events import Event, new_events
from crfviz.ui.snapshots import Shelf

Kept = TypeVar("Kept")

_KEPT = "crfviz.of."
_DRAFT = "crfviz.draft."


def of_session(name: str, make: Callable[[], Kept]) -> Kept:
    """Something of this session, made when it is asked for first."""
    if _KEPT + name not in st.session_state:
        st.session_state[_KEPT + name] = make()
    kept: Kept = st.session_state[_KEPT + name]
    return kept


def say(message: str) -> None:
    """Show a message once, at the next drawing of the sidebar."""
    messages = of_session("messages", list[str])
    if message not in messages:
        messages.append(message)


def take_messages() -> list[str]:
    """The messages to show now; they are forgotten."""
    messages = of_session("messages", list[str])
    taken = list(messages)
    messages.clear()
    return taken


def draft(name: str, default: str = "") -> str:
    """A text of this session, `default` until there is one."""
    text: str = st.session_state.get(_DRAFT + name, default)
    return text


def set_draft(name: str, text: str) -> None:
    """Keep a text for this session."""
    st.session_state[_DRAFT + name] = text


def fresh_events(component: str, events: object) -> Iterator[Event]:
    """The events that a live component did not send before; each counts as handled from then on.

    Args:
        component: its key; each counts its events by itself.
        events: as they came.
    """
    for number, event in new_events(events, after=last_event(component)):
        _handled()[component] = number
        yield event


def last_event(component: str) -> int:
    """The number of a component's last event that was handled; it forgets those up to it."""
    return _handled().get(component, 0)


def shelf() -> Shelf:
    """The snapshots of this session."""
    return of_session("shelf", Shelf)


def keep_shelf(changed: Shelf) -> None:
    """Replace the snapshots of this session."""
    st.session_state[_KEPT + "shelf"] = changed


def _handled() -> dict[str, int]:
    """By component the number of its last event that was handled."""
    return of_session("events", dict[str, int])
