"""The store of annotations as the pages use it: opened once, with what of it never changes kept."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.store.store import DocumentSummary, Store, open_store
from crfviz.ui.session.bound import Options, bound_select, bound_to
from crfviz.ui.session.current import set_view_option, view_option

NEWEST = -1
EVERYBODY = "all annotators"


@st.cache_resource(show_spinner="Opening the annotations …")
def store() -> Store:
    """The store of this server.

    Raises:
        StoreError: it cannot be opened; the next call tries again.
    """
    return open_store()


def choose_document() -> DocumentSummary | None:
    """Let the annotator choose a document; None where there is none yet."""
    documents = store().documents()
    if not documents:
        return None
    by_key = {document_key(document): document for document in documents}
    keys = list(by_key)
    chosen = view_option("doc")
    chosen = chosen if chosen in by_key else keys[NEWEST]
    bound_to(
        st.selectbox,
        "Document",
        "view.doc",
        chosen,
        go_to_document,
        options=keys,
        format_func=lambda key: by_key[key].name,
        label_visibility="collapsed",
    )
    return by_key[chosen]


def choose_annotator(
    document: DocumentSummary, label: str, option: str, **more: Options
) -> str | None:
    """Let the reader choose one annotator of a document; None stands for all of them."""
    names = [EVERYBODY, *store().annotators(document.name)]
    who = bound_select(label, option, names, EVERYBODY, **more)
    return None if who == EVERYBODY else who


def document_key(document: DocumentSummary) -> str:
    """What stands for a document in a link."""
    return f"{document.created:%Y%m%d%H%M%S%f}"


def go_to_document(key: str) -> None:
    """Open a document at its next sentence."""
    set_view_option("item", "")
    set_view_option("doc", key)


@st.cache_resource(max_entries=16, show_spinner=False)
def item_ids(document: str, key: str) -> Sequence[int]:  # noqa: ARG001 - the key tells namesakes apart
    """Ids of the sentences of a document, in its order; they never change."""
    return store().item_ids(document)
