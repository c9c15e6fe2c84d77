"""The store of annotations as the pages use it: opened once, and chosen from."""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.store.store import DocumentSummary, Store, open_store
from crfviz.annotations.teaching.teach import finished
from crfviz.text.sentences import Sentence
from crfviz.ui.session.bound import Options, bound_select, bound_to
from crfviz.ui.session.current import one_of, set_view_option, view_option
from crfviz.ui.words import plain

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
    names = {document_key(document): document.name for document in store().documents()}
    chosen = chosen_document()
    if chosen is None:
        return None
    bound_to(
        st.selectbox,
        "Document",
        "view.doc",
        document_key(chosen),
        go_to_document,
        options=list(names),
        format_func=names.get,
        label_visibility="collapsed",
    )
    return chosen


def chosen_document() -> DocumentSummary | None:
    """The document that was chosen, at first the newest; None where there is none yet."""
    by_key = {document_key(document): document for document in store().documents()}
    return by_key.get(view_option("doc")) or next(reversed(by_key.values()), None)


def choose_annotator(
    document: DocumentSummary, label: str, option: str, **more: Options
) -> str | None:
    """Let the reader choose one annotator of a document; None stands for all of them."""
    bound_select(label, option, _people(document), EVERYBODY, **more)
    return chosen_annotator(document, option)


def chosen_annotator(document: DocumentSummary, option: str) -> str | None:
    """The annotator who was chosen; None stands for all of them."""
    who = one_of(option, _people(document), EVERYBODY)
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
        document = choose_document()
    if document is None:
        st.info("Nothing is labelled yet: add sentences on the page Annotate.")
        return None
    who = choose_annotator(document, "By", "teacher", label_visibility="collapsed", at=people)
    sentences = finished_sentences(document, who)
    if not sentences:
        st.info(f"No sentence of {plain(document.name)} is done yet: Enter accepts one.")
        return None
    return f"{document.name}, labelled by {who or EVERYBODY}", sentences


def document_key(document: DocumentSummary) -> str:
    """What stands for a document in a link."""
    return f"{document.created:%Y%m%d%H%M%S%f}"


def go_to_document(key: str) -> None:
    """Open a document at its next sentence."""
    set_view_option("item", "")
    set_view_option("doc", key)


def _people(document: DocumentSummary) -> list[str]:
    return [EVERYBODY, *store().annotators(document.name)]


@st.cache_resource(max_entries=16, show_spinner=False)
def item_ids(document: str, key: str) -> Sequence[int]:  # noqa: ARG001 - the key tells namesakes apart
    """Ids of the sentences of a document, in its order; they never change."""
    return store().item_ids(document)
