"""The store of annotations as the pages use it: opened once, and chosen from."""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.store.store import DocumentSummary, Store, open_store
from crfviz.annotations.teaching.teach import finished
from crfviz.text.sentences import Sentence
from crfviz.ui.session.bound import Options, bound_select, bound_to
from crfviz.ui.session.current import set_view_option, view_option
from crfviz.ui.session.kept import keep
from crfviz.ui.words import plain

NEWEST = -1
OPENED = "document opened"  # key of the one that was chosen last, until it is drawn
EVERYBODY = "all annotators"


@st.cache_resource(show_spinner="Opening the annotations …")
def store() -> Store:
    """The store of this server.

    Raises:
        StoreError: it cannot be opened; the next call tries again.
    """
    return open_store()


def choose_document(
    documents: Sequence[DocumentSummary], *, newest: bool = False
) -> DocumentSummary | None:
    """Let the annotator choose a document.

    Args:
        documents: all of them, oldest first.
        newest: whether to take the newest where none is chosen.

    Returns:
        The one chosen, or None.
    """
    if not documents:
        return None
    by_key = {document_key(document): document for document in documents}
    keys = list(by_key)
    named = view_option("doc")
    chosen = named if named in by_key else keys[NEWEST] if newest else None
    bound_to(
        st.selectbox,
        "Document",
        "view.doc",
        chosen,
        go_to_document,
        options=keys,
        format_func=lambda key: shown_name(by_key[key]),
        label_visibility="collapsed",
        placeholder="Choose a document",
    )
    return None if chosen is None else by_key[chosen]


def choose_annotator(
    document: DocumentSummary, label: str, option: str, **more: Options
) -> str | None:
    """Let the reader choose one annotator of a document; None stands for all of them."""
    names = [EVERYBODY, *store().annotators(document.name)]
    who = bound_select(label, option, names, EVERYBODY, **more)
    return None if who == EVERYBODY else who


def finished_sentences(document: DocumentSummary, who: str | None) -> list[Sentence]:
    """What an annotator finished of a document, or all did, with its final tags."""
    return finished(store().annotations(document.name, who, "done"))


def labelled_sentences() -> tuple[str, Sequence[Sentence]] | None:
    """Let the reader choose a document and an annotator of the store, for pages that need gold.

    Returns:
        A name for people and the finished sentences; None where there are none, which is then said.

    Raises:
        StoreError: the store cannot be read.
    """
    documents, people = st.columns(2)
    with documents:
        document = choose_document(store().documents(), newest=True)
    if document is None:
        st.info("Nothing is labelled yet: add sentences on the page Annotate.")
        return None
    with people:
        who = choose_annotator(document, "By", "teacher", label_visibility="collapsed")
    sentences = finished_sentences(document, who)
    if not sentences:
        st.info(f"No sentence of {plain(document.name)} is done yet: Enter accepts one.")
        return None
    return f"{document.name}, labelled by {who or EVERYBODY}", sentences


def document_key(document: DocumentSummary) -> str:
    """What stands for a document in a link."""
    return f"{document.created:%Y%m%d%H%M%S%f}"


def go_to_document(key: str) -> None:
    """Open a document at its next sentence; an empty key goes to the list of all."""
    set_view_option("item", "")
    set_view_option("doc", key)
    keep(OPENED, key)


def shown_name(document: DocumentSummary) -> str:
    """The name of a document as people see and type it."""
    return " ".join(document.name.split()) or "(no name)"


@st.cache_resource(max_entries=16, show_spinner=False)
def item_ids(document: str, key: str) -> Sequence[int]:  # noqa: ARG001 - the key tells namesakes apart
    """Ids of the sentences of a document, in its order; they never change."""
    return store().item_ids(document)
