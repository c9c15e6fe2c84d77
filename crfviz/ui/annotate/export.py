"""Panel to download annotations as a file, and to remove a document."""

import streamlit as st

from crfviz.annotations.files.exporting import (
    FILE_FORMATS,
    FOREIGN_SUFFIXES,
    SCHEMED,
    SUFFIXES,
    foreign,
    render,
)
from crfviz.annotations.mixing import in_words, tag_sets
from crfviz.annotations.records import STATES, DocumentSummary, Pair
from crfviz.exceptions import FormatError
from crfviz.text.readers.spelling import TARGETS
from crfviz.ui.annotate.add import forget_added
from crfviz.ui.annotate.documents import (
    answered,
    choose_annotator,
    go_to_document,
    shown_name,
    store,
)
from crfviz.ui.annotate.queue import settle_button
from crfviz.ui.annotate.reading import FORMAT_NAMES
from crfviz.ui.session.bound_widgets import bound_flag, bound_select
from crfviz.ui.session.permission import uploads_allowed
from crfviz.ui.session.session_store import errors_beside, last_error_beside
from crfviz.ui.widgets import download
from crfviz.ui.words import plain
from crfviz.views.formatting import count

EITHER = "done and begun"
SURE = "annotate.sure"  # widget key: the box that confirms the document's name
FOREIGN_NAMES = {
    "conll2003": "CoNLL-2003",
    "blanks": "two columns with blanks (CRF++)",
    "doccano": "doccano",
    "labelstudio": "Label Studio",
    "prodigy": "Prodigy",
    "docbin": "spaCy's DocBin",
    "parquet": "Parquet (datasets)",
}
EXPORT_NAMES: dict[str, str] = {
    **{name: FORMAT_NAMES[name] for name in FILE_FORMATS},
    **FOREIGN_NAMES,
}
AS_LABELLED = "as labelled"


def export_panel(document: DocumentSummary) -> None:
    """Draw the filters and the download button."""
    formats, people, states = st.columns(3)
    file_format = bound_select("Format", "format", EXPORT_NAMES, "conllu", at=formats)
    who = choose_annotator(document, "Annotator", "whose", at=people)
    state = bound_select("State", "state", [*STATES, EITHER], "done", at=states)
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
    if copies and file_format in FOREIGN_NAMES:
        _download_foreign(document, copies, file_format)
    elif copies:
        chosen = next(name for name in FILE_FORMATS if name == file_format)
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


def _download_foreign(document: DocumentSummary, copies: list[Pair], file_format: str) -> None:
    scheme = None
    if file_format in SCHEMED:
        chosen = bound_select("Scheme of entities", "scheme", [AS_LABELLED, *TARGETS], AS_LABELLED)
        scheme = None if chosen == AS_LABELLED else chosen
    try:
        content = foreign(copies, file_format, scheme)
    except FormatError as error:
        st.error(f"{plain(str(error))}. Choose another format or scheme.")
        return
    download(
        f"Download {count(len(copies), 'annotated sentence')}",
        lambda: content,
        document.name.rsplit(".", 1)[0] + FOREIGN_SUFFIXES[file_format],
        type="primary",
    )
    st.caption(
        "The words and their final tags. Pins, times and settings stay behind: choose CoNLL-U or "
        "JSONL for a copy that gives back everything."
    )


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
