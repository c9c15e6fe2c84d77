"""The store of annotations as the pages use it: opened once, and chosen from."""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.curation import Pair, answers, chosen_copies, finished_first
from crfviz.annotations.records import DocumentSummary
from crfviz.annotations.store.store import Store, open_store
from crfviz.annotations.teaching.teach import finished
from crfviz.text.sentences import Sentence
from crfviz.ui.session.bound_widgets import Options, bound_select, bound_to
from crfviz.ui.session.scenario_state import choice_option, set_view_option, view_option
from crfviz.ui.session.session_store import set_value
from crfviz.ui.words import plain
from crfviz.views.formatting import count

EVERYBODY = "all annotators"
OPENED = "document opened"  # key of the one that was chosen last, until it is drawn


@st.cache_resource(show_spinner="Opening the annotations …")
def store() -> Store:
    """The store of this server.

    Raises:
        StoreError: it cannot be opened; the next call tries again.
    """
    return open_store()


def choose_document(documents: Sequence[DocumentSummary]) -> DocumentSummary | None:
    """Let the annotator choose one of all documents; None before."""
    if not documents:
        return None
    names = {document.key: shown_name(document) for document in documents}
    chosen = chosen_document(documents)
    bound_to(
        st.selectbox,
        "Document",
        "view.doc",
        None if chosen is None else chosen.key,
        go_to_document,
        options=list(names),
        format_func=names.get,
        label_visibility="collapsed",
        placeholder="Choose a document",
    )
    return chosen


def chosen_document(documents: Sequence[DocumentSummary]) -> DocumentSummary | None:
    """The one of all documents that was chosen; None where none was, or one that is gone."""
    return next((each for each in documents if each.key == view_option("doc")), None)


def choose_annotator(
    document: DocumentSummary, label: str, option: str, **more: Options
) -> str | None:
    """Let the reader choose one annotator of a document; None stands for all of them."""
    bound_select(label, option, _people(document), EVERYBODY, **more)
    return chosen_annotator(document, option)


def chosen_annotator(document: DocumentSummary, option: str) -> str | None:
    """The annotator who was chosen; None stands for all of them."""
    who = choice_option(option, _people(document), EVERYBODY)
    return None if who == EVERYBODY else who


def answered(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a copy of each answer; sentences without one, as annotators disagree, are counted."""
    pairs = finished_first(pairs)
    if without := answers(pairs)[1]:
        total = count(len({item.id for item, _ in pairs}), "sentence")
        st.warning(
            f"Annotators disagree about **{without:,} of {total}**, which are left out. "
            "Settle them on the page Annotate, part Agreement, or choose one annotator."
        )
    return chosen_copies(pairs, "agreed")


def labelled_sentences() -> tuple[str, Sequence[Sentence]] | None:
    """Let the reader choose a document and an annotator of the store, for pages that need gold.

    Returns:
        A name for people and the finished sentences; None where there are none, which is then said.

    Raises:
        StoreError: the store cannot be read.
    """
    documents, people = st.columns(2)
    with documents:
        everything = store().documents()
        document = choose_document(everything)
    if document is None:
        way = "choose a document" if everything else "add sentences on the page Annotate"
        st.info(f"Nothing is chosen: {way}.")
        return None
    who = choose_annotator(document, "By", "teacher", label_visibility="collapsed", at=people)
    pairs = store().annotations(document.name, who, "done")
    sentences = finished(answered(pairs))
    if not sentences and not pairs:
        st.info(f"No sentence of {plain(document.name)} is done yet: Enter accepts one.")
    if not sentences:
        return None
    return f"{document.name}, labelled by {who or EVERYBODY}", sentences


def go_to_document(key: str) -> None:
    """Open a document at its next sentence; an empty key goes to the list of all."""
    set_view_option("item", "")
    set_view_option("doc", key)
    set_value(OPENED, key)


def shown_name(document: DocumentSummary) -> str:
    """The name of a document as people see and type it."""
    return " ".join(document.name.split()) or "(no name)"


def _people(document: DocumentSummary) -> list[str]:
    return [EVERYBODY, *store().annotators(document.name)]


@st.cache_resource(max_entries=16, show_spinner=False)
def item_ids(document: str, key: str) -> Sequence[int]:  # noqa: ARG001 - the key tells namesakes apart
    """Ids of the sentences of a document, in its order; they never change."""
    return store().item_ids(document)
