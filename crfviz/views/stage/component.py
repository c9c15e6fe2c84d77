"""Live components as Streamlit elements: mounts one and hands its events on.

The components' files in `web/` are served by URL instead of travelling with every redraw: inline
code would be sent again with each change of the data, and is larger than the data. Streamlit finds
such files through the manifest of an installed package; registering the same manifest here lets the
app run from a plain checkout as well.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.components.v2.types import ComponentRenderer

NAMES = ("stage", "labeller")  # each has NAME.js and NAME.css
WEB = "views/stage/web"
OF_UI = "ui/web", ("player", "question")  # the folder and names of what the app adds
PACKAGE = Path(__file__).parents[2]

# To register one reads its files' names again, so each is registered once with Streamlit.
_known: WeakKeyDictionary[BidiComponentManager, dict[str, ComponentRenderer]] = WeakKeyDictionary()


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


def component(name: str, web: str = WEB, names: Sequence[str] = NAMES) -> ComponentRenderer:
    """A component as an element; a folder of the package has NAME.js and NAME.css of all names."""
    known = _known.setdefault(get_bidi_component_manager(), {})
    if name not in known:
        known[name] = _registered(name, web, names)
    return known[name]


def _registered(name: str, web: str, names: Sequence[str]) -> ComponentRenderer:
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"crfviz.{name}") is None:
        configs = [ComponentConfig(each, web) for each in names]
        manager.register_from_manifest(ComponentManifest("crfviz", "0", configs), PACKAGE)
    return st.components.v2.component(f"crfviz.{name}", js=f"{name}.js", css=f"{name}.css")
