"""Live components as Streamlit elements: mounts one and hands its events on.

The components' files in `web/` are served by URL instead of travelling with every redraw.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit as st

from crfviz.ui import streamlit_compat
from crfviz.ui.streamlit_compat import Component

NAMES = ("stage", "labeller")  # each has NAME.js and NAME.css
WEB = "views/stage/web"
OF_UI = "ui/web", ("player", "question")  # the folder and names of what the app adds
PACKAGE = Path(__file__).parents[1]


def mount(
    name: str,
    data: Mapping[str, object],
    *,
    key: str,
    on_events: Callable[[list[dict[str, object]]], None],
) -> None:
    """Draw a component, and call `on_events` before the next run when the user does something.

    Args:
        name: one of NAMES.
        data: its payload, of what JSON knows.
        key: identity of this element on its page.
        on_events: gets the events that the browser has not seen acknowledged yet, oldest first;
            each is a dict with an increasing `seq` and a `kind`. The same event may come twice;
            `data["ack"]` says what has been applied.
    """
    element = component(name)

    def forward() -> None:
        state = st.session_state.to_dict().get(key)  # any other look-up may end the callback
        events = state.get("events") if isinstance(state, Mapping) else None
        if isinstance(events, list):
            on_events([dict(event) for event in events if isinstance(event, Mapping)])

    element(key=key, data=_plain(data), on_events_change=forward)


def _plain(data: Mapping[str, object]) -> dict[str, object]:
    """The same with tuples for lists: Streamlit looks whether any other value is a table."""
    return {name: tuple(of) if isinstance(of, list) else of for name, of in data.items()}


def component(name: str, web: str = WEB, names: Sequence[str] = NAMES) -> Component:
    """A component as an element; a folder of the package has NAME.js and NAME.css of all names."""
    return streamlit_compat.component(name, web, names, PACKAGE)
