"""Disagreements of annotators at the desk: whose layer is labelled, what is left, and the links."""

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from crfviz.annotations.curation import Dispute, times_of
from crfviz.annotations.labelling import Desk
from crfviz.annotations.records import CURATED, Annotation, DocumentSummary
from crfviz.text.sentences import words_at
from crfviz.text.tokenizer import sentence_of
from crfviz.ui.annotate.queue import DISPUTED, Queue
from crfviz.ui.annotate.store import store
from crfviz.ui.session.scenario_state import scenario, set_view_option
from crfviz.ui.state.link import encode, explorer_link
from crfviz.views.formatting import count

AT_THE_DESK = {"part": "", "order": DISPUTED, "item": ""}  # page options


def layer_of(queue: Queue, who: str) -> str:
    """Whose annotations are made."""
    return CURATED if queue.settles else who


def finished_ids(document: DocumentSummary, queue: Queue, layer: str) -> set[int]:
    """Ids of the sentences that are done."""
    if queue.settles:
        return {item for item, settled in store().disputed(document.name).items() if settled}
    return store().done_ids(document.name, layer)


def settle_button(document: DocumentSummary) -> None:
    """Draw the button that opens the disputed sentences at the desk, if any is left."""
    left = [*store().disputed(document.name).values()].count(False)
    if left and st.button(f"Settle {count(left, 'disagreement')}", type="primary"):
        for name, value in AT_THE_DESK.items():
            set_view_option(name, value)
        st.rerun()


def settling_link(item: int) -> str:
    """Return the address of a disputed sentence at the desk."""
    view = {**scenario().view, **AT_THE_DESK, "item": str(item)}
    link = encode(replace(scenario(), view={name: value for name, value in view.items() if value}))
    return f"?{urlencode(link.params)}"


def changed_since(desk: Desk, annotation: Annotation) -> str:
    """Say which versions of a settled sentence have changed or come since."""
    if annotation.curation is None:
        return ""
    before, now = annotation.curation.versions, times_of(desk.versions)
    names = sorted(who for who in {*before, *now} if before.get(who) != now.get(who))
    return f"settled before a change by {', '.join(names)}" if names else ""


def why_link(desk: Desk, annotation: Annotation, dispute: Dispute) -> str | None:
    """The explorer, asked why the model does not have a tag of a version at a word."""
    said = {((start, end), tag) for reading in dispute.readings for start, end, tag in reading}
    words = words_at(desk.item.text, annotation.offsets)
    for t, place in enumerate(annotation.offsets):
        for tag in desk.tagger.tags:
            if (place, tag) in said and tag != annotation.final[t] and desk.tagger.probabilistic:
                text = sentence_of(words, desk.tagger.split)
                return explorer_link(desk.tagger.name, text, (), (t, tag))
    return None
