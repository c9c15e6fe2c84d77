"""The stage as a Streamlit element: mounts the component and hands its events on.

The component's files in `web/` are served by URL instead of travelling with every redraw: inline
code would be sent again with each change of the data, and is larger than the data. Streamlit finds
such files through the manifest of an installed package; registering the same manifest here lets the
app run from a plain checkout as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

NAME = "crfviz.stage"
PACKAGE = Path(__file__).parents[2]


def stage(
    data: Mapping[str, object],
    *,
    key: str,
    on_events: Callable[[list[dict[str, object]]], None],
) -> None:
    """Draw the stage, and call `on_events` before the next run when the user changes something.

    Args:
        data: what `crfviz.views.stage.payload.payload` returns.
        key: identity of this stage on its page.
        on_events: gets the events that the browser has not seen acknowledged yet, oldest first;
            each is a dict with an increasing `seq` and a `kind`. The same event may come twice;
            `data["ack"]` says what has been applied.
    """
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(NAME) is None:
        manifest = ComponentManifest("crfviz", "0", [ComponentConfig("stage", "views/stage/web")])
        manager.register_from_manifest(manifest, PACKAGE)
    mount = st.components.v2.component(NAME, js="stage.js", css="stage.css")

    def forward() -> None:
        state = st.session_state.get(key)
        events = state.get("events") if isinstance(state, Mapping) else None
        if isinstance(events, list):
            on_events([dict(event) for event in events if isinstance(event, Mapping)])

    mount(key=key, data=dict(data), on_events_change=forward)
