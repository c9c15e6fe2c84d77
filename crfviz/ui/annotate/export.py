"""Panel to download annotations as a file, and to remove a document."""

import streamlit as st

from crfviz.annotations.files.exporting import FILE_FORMATS, SUFFIXES, render
from crfviz.annotations.mixing import in_words, tag_sets
from crfviz.annotations.records import STATES, DocumentSummary
from crfviz.ui.annotate.add import FORMAT_NAMES, forget_added
from crfviz.ui.annotate.documents import (
    answered,
    choose_annotator,
    go_to_document,
    shown_name,
    store,
)
from crfviz.ui.annotate.queue import settle_button
from crfviz.ui.session.bound_widgets import bound_flag, bound_select
from crfviz.ui.session.permission import uploads_allowed
from crfviz.ui.session.session_store import errors_beside, last_error_beside
from crfviz.ui.widgets import download
from crfviz.ui.words import plain
from crfviz.views.formatting import count

EITHER = "done and begun"
SURE = "annotate.sure"  # key of the box in which the name of a document is confirmed
EXPORT_NAMES: dict[str, str] = {name: FORMAT_NAMES[name] for name in FILE_FORMATS}


def export_panel(document: DocumentSummary) -> None:
    """Draw the filters and the button that downloads the annotations they leave."""
    formats, people, states = st.columns(3)
    file_format = bound_select("Format", "format", EXPORT_NAMES, "conllu", at=formats)
    who = choose_annotator(document, "Annotator", "whose", at=people)
    state = bound_select("State", "state", [*STATES, EITHER], "done", at=states)
    chosen = next(name for name in FILE_FORMATS if name == file_format)
    filters = (document.name, who, next((name for name in STATES if name == state), None))
    pairs = store().annotations(*filters)
    sets = tag_sets(pairs, {document.name: document.tags})
    if len(sets) > 1:
        st.warning(
            f"**This file would mix tags of different models**: {plain(in_words(sets))}. Choose "
            "one annotator, or sort the sentences out after the download."
        )
    several = who is None and len({each.annotator for _, each in pairs}) > 1
    if several and bound_flag(st.toggle, "All versions of all annotators", "versions"):
        copies = pairs
    else:
        copies = answered(pairs)
        settle_button(document)
    if copies:
        download(
            f"Download {count(len(copies), 'annotated sentence')}",
            lambda: render(copies, chosen, {document.name: document.settings}),
            document.name.rsplit(".", 1)[0] + SUFFIXES[chosen],
            type="primary",
        )
        st.caption(
            "Each word has its characters in the sentence, its annotator and what the model "
            "proposed. The file can be added again, here or elsewhere, and gives back the same "
            "annotations. The command line does the same: `python -m crfviz annotations export`."
        )
    elif not pairs:
        st.info("No sentence fits: accept one with Enter, or choose another state or annotator.")
    if uploads_allowed():
        _remove(document)


def _remove(document: DocumentSummary) -> None:
    name, error = shown_name(document), last_error_beside(SURE)
    with st.expander("Remove this document", expanded=bool(error)):
        st.warning(
            f"This deletes {plain(name)} with everybody's annotations, and cannot be undone. "
            "Download it first: the file can be uploaded again."
        )
        typed = st.text_input(f"Type {plain(name)} to remove it", key=SURE)
        wrong = " ".join(typed.split()) != name
        st.button("Remove", disabled=wrong, on_click=_gone, args=(document.name,))
        if error:
            st.error(plain(error))


def _gone(name: str) -> None:
    with errors_beside(SURE):
        store().remove(name)
        forget_added()
        go_to_document("")
