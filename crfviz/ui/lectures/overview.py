"""The page Lectures: the draft, the list of lectures, handouts."""

import streamlit as st

from crfviz.exceptions import FormatError
from crfviz.ui.lectures.editor import HANDOUT, OWN, edit, edit_lecture, in_the_making, own, played
from crfviz.ui.lectures.handout import STYLE_SHEET, handout, handout_body
from crfviz.ui.lectures.lecture_store import lecture, lectures
from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.widgets import download, guarded
from crfviz.ui.words import plain
from crfviz.views.formatting import count

KEYS = (
    "PageDown, space, → and a clicker go on, PageUp and ← back · B blanks the screen · G goes to a "
    "cue by its number · T types another sentence · Esc leaves to the explorer, Back returns"
)


def show_lectures() -> None:
    """Draw the draft and the list of lectures, or a handout if the link has one."""
    if name := view_option(HANDOUT):
        with guarded("This handout"):
            _handout(name)
        return
    draft = in_the_making()
    if draft:
        edit_lecture()
    _ready()
    if not draft:
        edit_lecture()


def _ready() -> None:
    st.container(key="lecture-keys").caption(KEYS)  # hidden on phones
    st.markdown("Alone? [Take the tour](./?tour=1): eight things to try on your own sentence.")
    for name, path in lectures().items():
        try:
            loaded = lecture(name)
        except FormatError as error:
            st.error(plain(str(error)))
            continue
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", key=f"lecture.{name}"
        ):
            st.markdown(f"**{plain(loaded.title)}**", width=290)
            st.text(f"{loaded.minutes:g} min, {count(len(loaded.cues), 'cue')}", width=110)
            st.link_button("Play", played(name), type="primary")
            st.link_button("Speaker view", played(name, speaker="1"))
            st.button(
                "Handout", on_click=set_view_option, args=(HANDOUT, name), key=f"handout.{name}"
            )
            download("Download", path.read_bytes, path.name, "application/toml")
            st.button("Edit a copy", on_click=edit, args=(loaded,), key=f"change.{name}")
        for problem in loaded.problems:
            st.warning(plain(problem))
    st.caption(
        "Set CRFVIZ\\_LECTURES to a folder to add your own lectures. A lecture is a text file: "
        "[the guide](guides?v.guide=lectures) describes it."
    )


def _handout(name: str) -> None:
    """Draw the handout of a lecture with its buttons; the browser prints only the handout."""
    with st.container(key="handout_bar", horizontal=True, vertical_alignment="center"):
        st.button("Back to the lectures", on_click=set_view_option, args=(HANDOUT, ""))
        shown = own() if name == OWN else lecture(name)
        text = handout(shown)
        download("Save as one file", lambda: text, "handout.html", "text/html")
        st.caption("The browser prints the pages below and nothing else.")
    st.html(STYLE_SHEET)
    with st.container(key="handout"):
        st.html(handout_body(shown))
