"""Live components as Streamlit elements: they receive payloads and send events.

A component numbers its events and resends them until a payload acknowledges them. The server skips
numbers that it has handled, so each event is applied exactly once.

The browser has the same recursions: it draws an edit before Python answers, and computes tables
from the scores. If its numbers differ from Python's, it requests a whole payload with tables.

Otherwise a stage gets only the changes since a whole payload that its browser has. Each whole
payload has a name, and each event has the name that its browser has. Changes never refer to the
previous answer, which may be lost or overtaken. In a run without such an event, the whole payload
is sent.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Unpack

import streamlit as st

from crfviz.ui.session.session_store import LRUCache, session_value
from crfviz.ui.state.event_parser import Fields, new_events
from crfviz.ui.streamlit_compat import component, is_fragment_run
from crfviz.views.stage.payload import changes, payload
from crfviz.views.stage.payload_types import HostData, Payload
from crfviz.views.stage.picture import Picture, Subject

NAMES = ("stage", "labeller")  # each has NAME.js and NAME.css
WEB = "views/stage/web"
OF_UI = (
    "ui/web",
    ("player", "question", "tour", "exercise", "room"),
)  # folder and names of components of the app alone
NAME, SINCE = "whole", "since"  # keys: a whole payload's name; the name that changes refer to
MAX_PAYLOADS = 2  # whole payloads stored per session, as a page has at most two stages


@dataclass(frozen=True)
class _Whole:
    name: str
    data: Mapping[str, object]


def mount_stage(
    subject: Subject,
    picture: Picture,
    *,
    key: str,
    on_events: Callable[[], None],
    **more: Unpack[HostData],
) -> Payload:
    """Draw a chain on a stage; return its whole payload.

    Args:
        subject: the chain to draw.
        picture: the parts to draw, such as rows and tables.
        key: the stage's name.
        on_events: callback that runs before the next run after a user action; `sent_events` returns
            the browser's events.
        more: further fields of the payload.
    """
    asked = key in _browser_payloads() and _browser_payloads()[key] is None
    data: Payload = {**payload(subject, picture, last_event(key), with_tables=asked), **more}
    sent = _plain(answer(key, data))
    component("stage", WEB, NAMES)(key=key, data=sent, on_events_change=on_events)
    return data


def mount(
    name: str, data: Mapping[str, object], *, key: str, on_events: Callable[[], None]
) -> None:
    """Draw a component.

    Args:
        name: one of NAMES.
        data: its payload, serialisable as JSON; `data["ack"]` acknowledges events.
        key: identity of this element on its page.
        on_events: callback, see `mount_stage`.
    """
    component(name, WEB, NAMES)(key=key, data=_plain(data), on_events_change=on_events)


def sent_events(key: str) -> object:
    """Return the events that the browser sent to the running callback, for `fresh_events`."""
    state = st.session_state.to_dict().get(key)  # `st.session_state[key]` may end the callback
    return state.get("events") if isinstance(state, Mapping) else None


def answer(stage: str, data: Mapping[str, object]) -> dict[str, object]:
    """Return a stage's whole payload, or only its changes since one that the browser has."""
    reply = _browser_payloads().pop(stage, None)
    wholes = session_value("stages", lambda: LRUCache[_Whole](MAX_PAYLOADS))
    known = wholes.get(stage)
    if known is not None and known.name == reply and is_fragment_run():
        return {**changes(data, known.data), SINCE: known.name}
    whole = _Whole(token_hex(8), data)
    wholes.add(stage, whole)
    return {**data, NAME: whole.name}


def note_payload(stage: str, name: object) -> None:
    """Record the name of the whole payload that a stage's browser has; None if it has none."""
    _browser_payloads()[stage] = name


def fresh_events(key: str, sent: object) -> Iterator[Fields]:
    """Yield the events of a component that were not handled yet, and mark each as handled.

    Args:
        key: the key of the component.
        sent: the browser's list of events; those without a valid number are skipped.
    """
    for number, event in new_events(sent, after=last_event(key)):
        _handled()[key] = number
        yield event


def wait_for_again(key: str, number: int) -> None:
    """Mark an event and all later ones as not handled, so that the component resends them."""
    _handled()[key] = number - 1


def last_event(key: str) -> int:
    """Return the number of a component's last handled event, which its payload acknowledges."""
    return _handled().get(key, 0)


def _browser_payloads() -> dict[str, object]:
    """Return, by stage, the name of the browser's whole payload; set by events of this run only."""
    return session_value("payloads in browsers", dict[str, object])


def _handled() -> dict[str, int]:
    return session_value("events", dict[str, int])


def _plain(data: Mapping[str, object]) -> dict[str, object]:
    """Return the payload with tuples for lists: Streamlit would search lists for tables."""
    return {name: tuple(of) if isinstance(of, list) else of for name, of in data.items()}
