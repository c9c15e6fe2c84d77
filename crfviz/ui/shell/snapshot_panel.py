"""Save what is on the screen under a name; load, rename and delete what was saved."""

from dataclasses import replace

import streamlit as st

from crfviz.ui.panels.compare import SIDES, snapshot_option
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.current import scenario, set_view_option, take_up, view_option
from crfviz.ui.session.kept import draft, keep_shelf, refusals_said, set_draft, shelf
from crfviz.ui.state.link import LONGEST_LINK
from crfviz.ui.state.snapshots import Shelf, Snapshot, query

_NAME = "snapshot.name"  # the box for the name of a new one


def snapshot_panel() -> None:
    """Everything about snapshots behind one small button."""
    now = shelf()
    label = f"Snapshots ({len(now.snapshots)})" if now.snapshots else "Snapshots"
    with st.popover(label, key="snapshots", icon=":material/photo_camera:"):
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
                on_click=lambda: keep_shelf(shelf().restored()),
                key="snapshot.undo",
            )


def _saved(now: Shelf) -> None:
    current = now.current()
    if current is None:
        return
    bound_to(
        st.selectbox,
        "Saved",
        "snapshot.chosen",
        current.name,
        lambda name: keep_shelf(replace(shelf(), chosen=name)),
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
    """The link that opens the snapshot, to be copied."""
    link = f"?{query(snapshot.scenario)}"
    if len(link) > LONGEST_LINK:
        st.caption("Too long for a link: it stays in this session.")
    else:
        st.caption("Behind the address of a page this opens it:")
        st.code(link, language=None, height=70)


def _load() -> None:
    if chosen := shelf().current():
        take_up(chosen.scenario)


def _save(name: str) -> None:
    set_draft(_NAME, name)  # a name that is refused stays, to be mended
    if name:
        with refusals_said():
            keep_shelf(shelf().saved(name, scenario()))
            set_draft(_NAME, "")


def _rename(old: str, new: str) -> None:
    with refusals_said():
        keep_shelf(shelf().renamed(old, new))
        for side, default in SIDES.items():
            if view_option(side) == snapshot_option(old):
                set_view_option(side, snapshot_option(shelf().chosen), default)


def _delete(name: str) -> None:
    """The chosen one; by a second click, quicker than the first one's answer, no other one."""
    with refusals_said():
        keep_shelf(shelf().without(shelf().chosen or name))
