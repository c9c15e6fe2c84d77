"""The button that makes a document's finished sentences a model, which proposes from then on."""

import streamlit as st

from crfviz.annotations.records import DocumentSummary
from crfviz.annotations.teaching.propose import (
    FAMILIES,
    MIN_DONE,
    Proposer,
    last_proposer,
    score_in_words,
    start_proposing,
)
from crfviz.exceptions import ModelError
from crfviz.taggers.tagger import CRF
from crfviz.taggers.user_models import safe_name
from crfviz.ui.annotate.learning import jobs, watch_job
from crfviz.ui.annotate.store import shown_name, store
from crfviz.ui.session.bound_widgets import bound_select
from crfviz.ui.session.permission import uploads_allowed
from crfviz.ui.session.scenario_state import choice_option
from crfviz.ui.session.scheduling import visitor
from crfviz.ui.session.session_store import errors_as_messages, widget_value
from crfviz.ui.words import plain
from crfviz.views.formatting import count

NAME = "propose.name"  # the box for that of the model
OPTION = "family"


def propose_row(document: DocumentSummary) -> None:
    """Draw the model of a document, the job that makes the next one, or the button for it.

    It is for documents with tags of their own, where models may be added.
    """
    made = last_proposer(document)
    if document.tags is None or (document.model and made is None) or not uploads_allowed():
        return
    job = jobs().about(_about(document))
    if job is not None and not watch_job(job) and not job.status.over:
        return
    new = store().count(document.name, state="done", sentences=True)
    new -= made.num_sentences if made else 0
    unsettled = [*store().disputed(document.name).values()].count(False) if new >= MIN_DONE else 0
    with st.container(horizontal=True, vertical_alignment="center", key="propose"):
        if new - unsettled >= MIN_DONE:
            _offer(document, made)
        if made is not None:
            st.caption(plain(f"{made.name}: {score_in_words(made.score)}."))
        elif new - unsettled < MIN_DONE:
            left = f" {count(unsettled, 'disagreement')} to settle first." * bool(unsettled)
            st.caption(
                f"From {MIN_DONE} finished sentences on, a model can learn them and propose.{left}"
            )


def _about(document: DocumentSummary) -> str:
    return f"propose {document.key}"


def _offer(document: DocumentSummary, made: Proposer | None) -> None:
    st.button("Propose tags", type="primary", on_click=_start, args=(document, made))
    with st.popover("Options", icon=":material/tune:"):
        bound_select("Model", OPTION, FAMILIES, made.family if made else CRF)
        st.text_input("Name of the model", made.name if made else _suggested(document), key=NAME)
        st.caption("Sentences about which annotators disagree are left out until they are settled.")


def _suggested(document: DocumentSummary) -> str:
    try:
        return safe_name(shown_name(document)).lower()
    except ModelError:  # no Latin letter
        return "own-tags"


def _start(document: DocumentSummary, made: Proposer | None) -> None:
    with errors_as_messages():
        family = choice_option(OPTION, FAMILIES, made.family if made else CRF)
        name, about = widget_value(NAME).strip(), _about(document)
        start_proposing(jobs(), document, name, family, visitor=visitor(), about=about)
