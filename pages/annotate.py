"""Annotate: the model proposes, one correction repairs its neighbours, every step is stored."""

import streamlit as st

from crfviz.ui.annotate.add import add_panel
from crfviz.ui.annotate.agreement import agreement_panel
from crfviz.ui.annotate.desk import show_desk
from crfviz.ui.annotate.documents import (
    choose_document,
    document_list,
    follow_document,
    is_by_hand,
    may_be_labelled,
    store,
)
from crfviz.ui.annotate.export import export_panel
from crfviz.ui.annotate.learning import model_panel
from crfviz.ui.annotate.queue import choose_queue
from crfviz.ui.annotate.settings import settings_panel
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.page_end import end_page
from crfviz.ui.session.permission import annotator, no_annotator_message
from crfviz.ui.shell.frame import header
from crfviz.ui.shell.topbar import MODEL_WIDTH, model_box
from crfviz.ui.widgets import guarded

PARTS = {
    "label": "Label",
    "add": "Add sentences",
    "export": "Export",
    "agreement": "Agreement",
    "learn": "Model",
    "settings": "Settings",
}

parts, documents, orders, model = header("Annotate", "content", 170, 130, MODEL_WIDTH)
who = annotator()
if who is None:  # without a login, not even the names of documents are shown
    st.info(no_annotator_message())
    end_page()
with guarded("Annotate", again=True):
    with documents:
        everything = store().documents()
        document = choose_document(everything, "visible")
    with parts:
        possible = PARTS if everything else {"add": PARTS["add"]}
        part = bound_tabs("Part", "part", possible, next(iter(possible)))
    if document is not None and part == "label":
        follow_document(document)
    if document is None or part == "learn" or not is_by_hand(document):
        with model:
            model_box(label_visibility="visible")
    if part == "add":
        add_panel()
    elif document is None:
        document_list(everything, who)
    elif part == "label":
        if may_be_labelled(document):
            with orders:
                queue = choose_queue(document, who)
            show_desk(queue)
    elif part == "export":
        export_panel(document)
    elif part == "agreement":
        agreement_panel(document, who)
    elif part == "settings":
        settings_panel(document)
    else:
        model_panel(document)
