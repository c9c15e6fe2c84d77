"""The order of labelling a document: file order, by a score, or only disputed sentences."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import streamlit as st

from crfviz.annotations.curation import Dispute, times_of
from crfviz.annotations.labelling import Desk
from crfviz.annotations.queue import ORDERS, Doubt, Order, doubt, in_order, reason
from crfviz.annotations.records import CURATED, Annotation, DocumentSummary
from crfviz.chain.questions.path_sets import Calibration
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import BlankTagger
from crfviz.text.sentences import words_at
from crfviz.text.tokenizer import sentence_of
from crfviz.ui import cached
from crfviz.ui.annotate.documents import item_ids, store, tagger_of
from crfviz.ui.session.bound_widgets import bound_select
from crfviz.ui.session.page_options import number_option
from crfviz.ui.session.scenario_state import scenario, set_view_option, view_option
from crfviz.ui.session.scheduling import BusyError, turn
from crfviz.ui.session.session_store import server_value
from crfviz.ui.state.link import encode, explorer_link
from crfviz.ui.state.scenario import DEFAULT_LEVEL, LEVEL
from crfviz.views.formatting import count

NAMES = {
    "file": "file order",
    "entropy": "most uncertain",
    "margin": "smallest margin",
    "corrections": "most corrections",
}
SURE = "sure"  # an order with only the sentences whose calibrated set has a single path
DISPUTED = "disputed"  # an order with only the sentences on which annotators disagree
AT_THE_DESK = {"part": "", "order": DISPUTED, "item": ""}  # page options that open disputed ones
TIE = 1e-9  # nats; paths that are closer to the border of a set are in it
MAX_SCORED = 1000  # sentences to order by uncertainty; more would take minutes
CHUNK = 32  # sentences between two updates of the progress bar


@dataclass(frozen=True)
class Queue:
    """The sentences of a document in the order in which one annotator labels them."""

    document: DocumentSummary
    who: str  # the annotator or curator
    ids: Sequence[int]
    doubts: Mapping[int, Doubt] = field(default_factory=dict)
    order: Order = "file"
    settles: bool = False  # whether a curator settles disputed sentences
    sure: Calibration | None = None  # whose sets have a single path for each of these sentences

    @property
    def layer(self) -> str:
        """The name under which annotations are stored: `CURATED`, or the annotator's."""
        return CURATED if self.settles else self.who

    @property
    def done(self) -> set[int]:
        """The ids of finished sentences."""
        if self.settles:
            return {
                item for item, settled in store().disputed(self.document.name).items() if settled
            }
        return store().done_ids(self.document.name, self.layer)

    def reason(self, item: int) -> str:
        """Return why a sentence has its place in the queue, for display."""
        if self.settles:
            return "annotators disagree"
        if self.sure:
            return f"its set at {100 * self.sure.level:.0f} % has a single path"
        return reason(self.doubts.get(item), self.order)

    def next(self, item: int | None) -> int | None:
        """Return the next unfinished sentence after `item`; skipped ones come last.

        After the end the search starts over. Returns None if all are finished.
        """
        done = self.done
        left = self.after(item, done | store().skipped(self.document.name, self.layer))
        return self.after(item, done) if left is None else left

    def after(self, item: int | None, done: set[int]) -> int | None:
        """Return the first sentence after `item` that is not in `done`, or None.

        After the end the search starts over.
        """
        at = self.ids.index(item) + 1 if item in self.ids else 0
        ahead = (i for i in (*self.ids[at:], *self.ids[:at]) if i not in done)
        return next(ahead, None)

    def beside(self, item: int, by: int) -> int:
        """Return the sentence `by` places after `item`, finished or not; it stops at the ends."""
        at = self.ids.index(item) + by
        return self.ids[min(max(at, 0), len(self.ids) - 1)]


def choose_queue(document: DocumentSummary, who: str) -> Queue:
    """Draw the choice of an order, and return the queue; score the sentences if necessary."""
    order: Order = "file"
    disputed = store().disputed(document.name)
    names = dict(NAMES)
    if isinstance(tagger_of(document), BlankTagger):
        names = {order: names[order]}
    calibration = sure_calibration(document)
    if calibration is not None:
        names[SURE] = "sure enough"
    if disputed:
        names[DISPUTED] = "disagreements"
    if len(names) > 1:
        chosen = bound_select("Order", "order", names, order)
        if chosen == DISPUTED:
            return Queue(document, who, [*disputed], settles=True)
        if chosen == SURE:
            doubts = _doubts(document)
            return Queue(document, who, sure_ids(doubts, calibration), doubts, sure=calibration)
        order = next(name for name in ORDERS if name == chosen)
    ids = item_ids(document.name, document.key)
    doubts = {} if order == "file" else _doubts(document)
    return Queue(document, who, in_order(ids, doubts, order), doubts, order)


def sure_calibration(document: DocumentSummary) -> Calibration | None:
    """Return the calibration of the document's model at the level of the link, if it has any."""
    tagger = tagger_of(document)
    known = None if isinstance(tagger, BlankTagger) else cached.calibration(tagger.name)
    if known is None or tagger is not cached.tagger(tagger.name):
        return None  # another tag set than that of the calibration
    level = number_option(LEVEL, DEFAULT_LEVEL, *known.levels("sentences"))
    return known.at("sentences", level)


def sure_ids(doubts: Mapping[int, Doubt], calibration: Calibration | None) -> list[int]:
    """Return the sentences whose second best path is outside their set, in file order."""
    threshold = math.inf if calibration is None else calibration.threshold
    return [item for item, each in sorted(doubts.items()) if each.margin > threshold + TIE]


def _doubts(document: DocumentSummary) -> Mapping[int, Doubt]:
    """Return the uncertainty of a document's first sentences, by id.

    The scores are cached. They are computed with a progress bar and a Stop button; empty if the
    reader stopped or the server is busy.
    """
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
            if key not in known:  # an earlier session in the queue may have computed it
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
        st.button("Compute the order")  # rerun the whole page
    return known.get(key, {})


def _scored(document: DocumentSummary, start: int, number: int) -> dict[int, Doubt]:
    """Return the uncertainty of `number` sentences by id, without those that cannot be scored."""
    tagger = tagger_of(document)
    doubts = {}
    for item in store().items(document.name, start, number):
        with suppress(CrfvizError):
            doubts[item.id] = doubt(tagger.potentials(item.tokens))
    return doubts


def settle_button(document: DocumentSummary) -> None:
    """Draw the button that opens the disputed sentences, if any are not settled."""
    left = [*store().disputed(document.name).values()].count(False)
    if left and st.button(f"Settle {count(left, 'disagreement')}", type="primary"):
        for name, value in AT_THE_DESK.items():
            set_view_option(name, value)
        st.rerun()


def settling_link(item: int) -> str:
    """Return the URL of a disputed sentence at the desk."""
    return desk_link(item, DISPUTED)


def desk_link(item: int, order: str = "") -> str:
    """Return the URL of a sentence at the desk; an empty order is that of the file."""
    view = {**scenario().view, **AT_THE_DESK, "order": order, "item": str(item)}
    link = encode(replace(scenario(), view={name: value for name, value in view.items() if value}))
    return f"?{urlencode(link.params)}"


def changed_since(desk: Desk, annotation: Annotation) -> str:
    """Describe whose versions changed after the sentence was settled; empty if none did."""
    if annotation.curation is None:
        return ""
    before, now = annotation.curation.versions, times_of(desk.versions)
    names = sorted(who for who in {*before, *now} if before.get(who) != now.get(who))
    return f"settled before a change by {', '.join(names)}" if names else ""


def why_link(desk: Desk, annotation: Annotation, dispute: Dispute) -> str | None:
    """Return a link to the explorer that asks why the model rejects a tag of some version.

    None if the model rejects none of them, or gives no probabilities.
    """
    said = {((start, end), tag) for reading in dispute.readings for start, end, tag in reading}
    words = words_at(desk.item.text, annotation.offsets)
    for t, place in enumerate(annotation.offsets):
        for tag in desk.tagger.tags:
            if (place, tag) in said and tag != annotation.final[t] and desk.tagger.probabilistic:
                text = sentence_of(words, desk.tagger.split)
                return explorer_link(desk.tagger.name, text, (), (t, tag))
    return None
