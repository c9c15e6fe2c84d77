"""The question for the annotator's name, asked once before the first sentence."""

import streamlit as st

from crfviz.annotations.records import DocumentSummary
from crfviz.ui.annotate.documents import store
from crfviz.ui.session.permission import NOBODY, is_login_required
from crfviz.ui.session.scenario_state import set_view_option
from crfviz.ui.session.session_store import get_value, set_value, widget_value
from crfviz.ui.words import plain
from crfviz.views.formatting import listed

NAME, ASKED = "annotate.who", "name asked"  # keys of the widget and of the session
MAX_NAMES = 3


def ask_name(document: DocumentSummary, who: str) -> None:
    """Ask for the name if it is the default, or if only others have labelled the document.

    Keys work meanwhile: the question is above the sentence, and the first step ends it. It belongs
    to the fragment of the desk; a new name reruns the page.
    """
    if is_login_required() or get_value(ASKED) in (True, document.key):
        return
    people = store().annotators(document.name)
    others = [name for name in people if name != who]
    if who != NOBODY and (who in people or not others):
        return
    why = "Annotations are stored under it."
    if others:
        why = f"{listed(others, MAX_NAMES)} labelled this document already."
    with st.container(horizontal=True, vertical_alignment="bottom", key="who"):
        st.text_input("Your name", "" if who == NOBODY else who, key=NAME, width=190)
        if st.button("Label under this name", type="primary", on_click=_take_name):
            st.rerun()
        st.button(f"Stay {plain(who)}", on_click=stop_asking)
        st.caption(plain(why))


def stop_asking(document: str = "") -> None:
    """Keep the present name for a document, by its key, or for the rest of the session."""
    if get_value(ASKED) is not True:
        set_value(ASKED, document or True)


def _take_name() -> None:
    stop_asking()
    if name := widget_value(NAME).strip():
        set_view_option("by", name)
        set_view_option("item", "")
