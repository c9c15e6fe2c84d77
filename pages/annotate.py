"""Annotate: the model proposes, one correction repairs its neighbours, every step is stored."""

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui.annotation_desk import show_desk
from crfviz.ui.annotation_queue import choose_queue
from crfviz.ui.annotation_store import choose_document
from crfviz.ui.annotator import annotator
from crfviz.ui.scenario import bound_view
from crfviz.ui.words import plain

PARTS = ("label", "add")
NAMES = {"label": "Label", "add": "Add sentences"}

title, parts, documents, orders = st.columns([1, 2.6, 1.6, 1.1], vertical_alignment="center")
title.title("Annotate")
who = annotator()
try:
    with documents:
        document = choose_document()
    with parts:
        part = bound_view(
            st.segmented_control,
            "Part",
            "part",
            PARTS,
            "label" if document else "add",
            format_func=NAMES.get,
            label_visibility="collapsed",
        )
    if who is None:
        st.info("Log in on the left: annotations are kept under your name.")
    elif part == "label" and document is not None:
        with orders:
            queue = choose_queue(document)
        show_desk(document, queue, who)
except CrfvizError as error:
    st.error(plain(str(error)))
