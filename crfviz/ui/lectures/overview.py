"""The list of lectures."""

from urllib.parse import urlencode

import streamlit as st

from crfviz.exceptions import FormatError
from crfviz.ui.lectures.shelf import VARIABLE, lecture, lectures
from crfviz.ui.words import plain
from crfviz.views.numbers import count

KEYS = (
    "PageDown, space, → and a clicker go on, PageUp and ← back · B blanks the screen · G goes to a "
    "cue by its number · T types another sentence · Esc leaves to the explorer, Back returns"
)


def show_lectures() -> None:
    """A line a lecture, with the way into it; a file that cannot be read says why."""
    st.caption(KEYS)
    for name, path in lectures().items():
        try:
            found = lecture(name)
        except FormatError as error:
            st.error(plain(str(error)))
            continue
        with st.container(horizontal=True, vertical_alignment="center", key=f"lecture.{name}"):
            st.markdown(f"**{plain(found.title)}**", width=420)
            st.text(f"{found.minutes:g} minutes, {count(len(found.cues), 'cue')}", width=180)
            st.link_button("Play", _address(name), type="primary")
            st.link_button("Speaker’s window", _address(name, speaker="1"))
            st.download_button("File", path.read_bytes, path.name, "application/toml")
        for problem in found.problems:
            st.warning(plain(problem))
    st.caption(
        f"A lecture is a text file. Yours count, too, in a folder that the variable {VARIABLE} "
        "names; docs/lectures.md says what stands in one."
    )


def _address(name: str, **more: str) -> str:
    return f"./?{urlencode({'lecture': name, **more})}"
