"""The menu Share: the link, the live room of this screen, snapshots, and "Add to lecture"."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import segno
import streamlit as st

from crfviz.ui.live_room import broadcast
from crfviz.ui.live_room.rooms import Room
from crfviz.ui.panels.compare import SIDES, snapshot_option
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.components import OF_UI
from crfviz.ui.session.scenario_state import apply_snapshot, scenario, set_view_option, view_option
from crfviz.ui.session.session_store import (
    draft,
    errors_as_messages,
    set_draft,
    set_snapshots,
    snapshots,
)
from crfviz.ui.state.link import LONGEST_LINK, Link
from crfviz.ui.state.snapshots import Snapshot, Snapshots, query
from crfviz.ui.streamlit_compat import component

_NAME = "snapshot.name"  # widget key: the name of a new snapshot


def share_menu(link: Link, path: str, tool: Callable[[str], None]) -> None:
    """Draw the menu; `tool` draws further actions for the page at `path`."""
    room = broadcast.current_room()
    with st.popover("Share" if room is None else f"Room {room.code}", key="share", type="tertiary"):
        with st.container(key="sharing", horizontal=True, vertical_alignment="center"):
            # a link is partial if the complete one would be too long
            copies = "Copy link" if link.complete else "Copy partial link"
            st.html(
                f'<button type="button" class="crfviz-copy" aria-live="polite">{copies}</button>',
                width="content",
            )
            if room is None:
                st.button(
                    "Let others follow",
                    on_click=_lead,
                    key="following.lead",
                    help="on their phones, without an account",
                )
            tool(path)
        if room is not None:
            _room(room)
        _snapshots()


def _snapshots() -> None:
    now = snapshots()
    with st.container(key="snapshots"):
        number = f" ({len(now.snapshots)})" if now.snapshots else ""
        st.html(f"<b>Snapshots{number}</b>")
        bound_to(
            st.text_input,
            "Save model, sentence, edits and pins as",
            _NAME,
            draft(_NAME),
            _save,
            placeholder="Type a name, press Enter",
        )
        if now.snapshots:
            _saved(now)
        if now.deleted:
            st.button(
                f"Undo delete ({len(now.deleted)})",
                on_click=lambda: set_snapshots(snapshots().restored()),
                key="snapshot.undo",
            )


def _saved(now: Snapshots) -> None:
    current = now.current()
    if current is None:
        return
    bound_to(
        st.selectbox,
        "Saved",
        "snapshot.chosen",
        current.name,
        lambda name: set_snapshots(replace(snapshots(), chosen=name)),
        options=now.names(),
    )
    bound_to(
        st.text_input,
        "Its name",
        "snapshot.rename",
        current.name,
        lambda name: _rename(current.name, name),
        help="Type another one and press Enter.",
    )
    with st.container(horizontal=True):
        st.button("Load", on_click=_load, key="snapshot.load")
        st.button("Delete", on_click=_delete, args=(current.name,), key="snapshot.delete")
    _link(current)


def _link(snapshot: Snapshot) -> None:
    link = f"?{query(snapshot.scenario)}"
    if len(link) > LONGEST_LINK:
        st.caption("Too long for a link: it stays in this session.")
    else:
        st.caption("Behind the address of a page this opens it:")
        st.code(link, language=None, height=70)


def _load() -> None:
    if chosen := snapshots().current():
        apply_snapshot(chosen.scenario)


def _save(name: str) -> None:
    set_draft(_NAME, name)  # a rejected name stays in its box
    if name:
        with errors_as_messages():
            set_snapshots(snapshots().saved(name, scenario()))
            set_draft(_NAME, "")


def _rename(old: str, new: str) -> None:
    with errors_as_messages():
        set_snapshots(snapshots().renamed(old, new))
        for side in SIDES:
            if view_option(side) == snapshot_option(old):
                set_view_option(side, snapshot_option(snapshots().chosen))


def _delete(name: str) -> None:
    """Delete the selected snapshot, or `name` if none is selected.

    `name` was current when the button was drawn, so a fast second click deletes no other snapshot.
    """
    with errors_as_messages():
        set_snapshots(snapshots().without(snapshots().chosen or name))


_ALONE = ("localhost", "127.0.0.1", "::1")  # host names that other devices cannot reach
_SIZE = 7  # pixels per dot of a QR code, about 230 in all: readable from the fifth row


def _room(room: Room) -> None:
    link = f"{broadcast.join_address()}/{room.code}"
    picture, text = st.columns([2, 3], vertical_alignment="center")
    picture.image(segno.make(link, error="m").svg_inline(scale=_SIZE, border=4, light="white"))
    with text:
        st.html(f'<div class="crfviz-code">{room.code}</div>')
        st.code(link, language=None, wrap_lines=True)
        if urlsplit(link).hostname in _ALONE:
            st.caption(
                "Only this machine can open this address: start the server with --server.address"
            )
        component("room", *OF_UI)(key="room", data=broadcast.join())
        st.button("Close the room", on_click=_leave, key="following.leave")


def _lead() -> None:
    with errors_as_messages():
        broadcast.open_room()


def _leave() -> None:
    with errors_as_messages():
        broadcast.close_room()
