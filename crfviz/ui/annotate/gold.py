"""What people labelled as tagged sentences, for the pages that need gold."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.teaching.teach import finished
from crfviz.text.sentences import Sentence
from crfviz.ui.annotate.store import EVERYBODY, choose_annotator, choose_document, store
from crfviz.ui.words import plain


def labelled_sentences() -> tuple[str, Sequence[Sentence]] | None:
    """Let the reader choose a document and an annotator of the store.

    Returns:
        A name for people and the finished sentences; None where there are none, which is then said.

    Raises:
        StoreError: the store cannot be read.
    """
    documents, people = st.columns(2)
    with documents:
        document = choose_document()
    if document is None:
        st.info("Nothing is labelled yet: add sentences on the page Annotate.")
        return None
    with people:
        who = choose_annotator(document, "By", "teacher", label_visibility="collapsed")
    sentences = finished(store().annotations(document.name, who, "done"))
    if not sentences:
        st.info(f"No sentence of {plain(document.name)} is done yet: Enter accepts one.")
        return None
    return f"{document.name}, labelled by {who or EVERYBODY}", sentences
