"""Which sentence of a document comes next, for this annotator under this model."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from crfviz.annotations.queue import ORDERS, Doubt, Order, doubt, in_order, reason
from crfviz.annotations.records import DocumentSummary
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import BlankTagger
from crfviz.ui import cached
from crfviz.ui.annotate.documents import tagger_of
from crfviz.ui.annotate.store import item_ids, store
from crfviz.ui.session.bound_widgets import bound_select
from crfviz.ui.session.scenario_state import scenario, set_view_option, view_option
from crfviz.ui.session.scheduling import BusyError, turn
from crfviz.ui.session.session_store import server_value

NAMES = {
    "file": "file order",
    "entropy": "most uncertain",
    "margin": "smallest margin",
    "corrections": "most corrections",
}
DISPUTED = "disputed"  # the order of the sentences that annotators disagree about
MAX_SCORED = 1000  # sentences that are put in order of doubt; more would take minutes
CHUNK = 32  # sentences between two steps of the bar


@dataclass(frozen=True)
class Queue:
    """The sentences of a document, the one to see first at the front."""

    ids: Sequence[int]
    doubts: Mapping[int, Doubt]
    order: Order
    settles: bool = False  # whether they are disputed sentences, to be settled by a curator

    def reason(self, item: int) -> str:
        """Why a sentence comes where it comes."""
        if self.settles:
            return "annotators disagree"
        return reason(self.doubts.get(item), self.order)

    def after(self, item: int | None, done: set[int]) -> int | None:
        """The next sentence that is not done, from the beginning again after the last one."""
        at = self.ids.index(item) + 1 if item in self.ids else 0
        ahead = (i for i in (*self.ids[at:], *self.ids[:at]) if i not in done)
        return next(ahead, None)

    def beside(self, item: int, by: int) -> int:
        """The sentence before or after one, done or not; at the ends the same."""
        at = self.ids.index(item) + by
        return self.ids[min(max(at, 0), len(self.ids) - 1)]


def choose_queue(document: DocumentSummary) -> Queue:
    """Let the annotator choose an order; scores the sentences where it needs that.

    Raises:
        CrfvizError: the model cannot be loaded.
    """
    order: Order = "file"
    disputed = store().disputed(document.name)
    names = dict(NAMES)
    if isinstance(tagger_of(document), BlankTagger):
        names = {order: names[order]}
    if disputed:
        names[DISPUTED] = "disagreements"
    if len(names) > 1:
        chosen = bound_select("Order", "order", names, order, label_visibility="collapsed")
        if chosen == DISPUTED:
            return Queue([*disputed], {}, order, settles=True)
        order = next(name for name in ORDERS if name == chosen)
    ids = item_ids(document.name, document.key)
    doubts = {} if order == "file" else _doubts(document)
    return Queue(in_order(ids, doubts, order), doubts, order)


def _doubts(document: DocumentSummary) -> Mapping[int, Doubt]:
    """Of the first sentences of a document, from memory or worked out now, with a way to stop."""
    key = f"{cached.model_key(scenario().model)} {document.key}"
    known = server_value("doubts", dict[str, Mapping[int, Doubt]])
    if key in known:
        return known[key]
    if view_option("unscored") == document.key:
        st.button("Compute the order", on_click=set_view_option, args=("unscored", ""))
        return {}
    number = min(document.sentences, MAX_SCORED)
    bar = st.progress(0.0, f"Computing how uncertain each of {number:,} sentences is …")
    place = st.empty()
    stop = ("unscored", document.key)
    place.button("Stop", key="queue.stop", on_click=set_view_option, args=stop)
    busy = ""
    try:
        with turn(lambda words: bar.progress(0.0, words)):
            if key not in known:  # somebody before in the line may have asked for the same
                doubts: dict[int, Doubt] = {}
                for start in range(0, number, CHUNK):
                    doubts |= _scored(document, start, min(CHUNK, number - start))
                    bar.progress(min(1.0, (start + CHUNK) / number))
                known[key] = doubts
    except BusyError as error:
        busy = str(error)
    bar.empty()
    place.empty()
    if busy:
        st.info(busy)
        st.button("Compute the order")  # and all of the page anew
    return known.get(key, {})


def _scored(document: DocumentSummary, start: int, number: int) -> dict[int, Doubt]:
    """By id; a sentence that the model cannot score is left out."""
    tagger = tagger_of(document)
    doubts = {}
    for item in store().items(document.name, start, number):
        with suppress(CrfvizError):
            doubts[item.id] = doubt(tagger.potentials(item.tokens))
    return doubts
