"""The desk: one sentence in front of the annotator. Every step is stored before the next."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

import streamlit as st

from crfviz.annotations import labelling
from crfviz.annotations.labelling import LONGEST_PAUSE, Desk
from crfviz.annotations.propagation import Proposal, followed
from crfviz.annotations.records import Annotation
from crfviz.annotations.store.store import DocumentSummary
from crfviz.exceptions import ConflictError, CrfvizError, StoreError
from crfviz.taggers.folder import version_of
from crfviz.text.sentences import Offsets, words_at
from crfviz.ui import cached
from crfviz.ui.annotate.queue import Queue
from crfviz.ui.annotate.store import store
from crfviz.ui.session.bound import bound_flag
from crfviz.ui.session.current import flag_option, publish, scenario, set_view_option, view_option
from crfviz.ui.session.kept import fresh_events, last_event, of_session
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain, quote
from crfviz.views.numbers import count
from crfviz.views.stage.component import mount
from crfviz.views.stage.labeller import Sheet, labeller_payload

KEY = "labeller"
_log = logging.getLogger(__name__)


class KeptDesk(Desk):
    """A desk whose model is asked once: a step and its picture need the same answers."""

    def propose(self, offsets: Offsets, pins: Mapping[int, str]) -> Proposal:
        """What is kept for these words and tags, else the model's answer."""
        words = words_at(self.item.text, offsets)
        return cached.proposal(self.tagger.name, words, tuple(sorted(pins.items())))


@dataclass
class Told:
    """What the last step did, until the next one."""

    item: int = 0
    changed: Mapping[int, str] = field(default_factory=dict)  # position to the tag before
    note: str = ""
    problem: str = ""
    accepted: list[tuple[int, str]] = field(default_factory=list)  # in this session and by whom


@st.fragment
@guarded("Labelling", again=True)
def show_desk(document: DocumentSummary, queue: Queue, who: str) -> None:
    """Draw the next sentence, or that all are done.

    Args:
        document: that is being labelled.
        queue: its sentences.
        who: name of the annotator.
    """
    progress = store().progress(document.name, who)
    spent = f" · {progress.seconds / progress.done:.1f} s a sentence" if progress.done else ""
    unfinished = f" · {progress.open} begun" if progress.open else ""
    label = f"{progress.done:,} of {progress.total:,} done{unfinished}{spent}"
    st.progress(progress.done / max(1, progress.total), label)
    item = _current(document, queue, who)
    if item is None:
        told = of_session("told", Told)
        st.success(f"All {count(progress.total, 'sentence')} of {plain(document.name)} are done.")
        with st.container(horizontal=True):
            if st.button("Export", type="primary"):
                set_view_option("part", "export", "label")
                st.rerun()  # of the page: the part is chosen outside of this fragment
            if _last_accepted(told, queue, who) is not None:
                st.button("Back to the last one", on_click=_back_to_last, args=(queue, who))
        return
    desk = _desk(item, who)
    sheet = _sheet(desk, queue)
    mount(
        KEY,
        labeller_payload(sheet),
        key=KEY,
        on_events=lambda events: _handle(document, queue, who, events),
    )
    if desk.item.gold is not None:
        bound_flag(st.toggle, "Show the tags of the file where they differ", "gold")
    publish()


def _current(document: DocumentSummary, queue: Queue, who: str) -> int | None:
    """The sentence that the address names, else the next one to do."""
    named = view_option("item")
    if named.isdecimal() and int(named) in queue.ids:
        return int(named)
    return queue.after(None, store().done_ids(document.name, who))


def _desk(item: int, who: str) -> Desk:
    model = scenario().model
    return KeptDesk(store().item(item), who, cached.tagger(model), _version(model))


@st.cache_resource(show_spinner=False)
def _version(model: str) -> str:
    return version_of(cached.tagger(model))


def _sheet(desk: Desk, queue: Queue) -> Sheet:
    item, told = desk.item, of_session("told", Told)
    annotation = _annotation(desk)
    here = told.item == item.id
    problem = told.problem if here else ""
    try:
        proposal = labelling.proposal(desk, annotation)
    except CrfvizError as error:
        raise StoreError(
            f"{desk.tagger.name} cannot continue what was set in this sentence with "
            f"{annotation.model} ({error}). Choose {annotation.model} on the left."
        ) from error
    return Sheet(
        text=item.text,
        annotation=annotation,
        proposal=proposal,
        tags=desk.tagger.tags,
        reason=queue.reason(item.id),
        place=f"Sentence {item.position + 1:,}",
        changed=told.changed if here else {},
        note=told.note if here else "",
        probabilistic=desk.tagger.probabilistic,
        gold=item.gold if flag_option("gold") and annotation.offsets == item.offsets else None,
        problem=problem,
        ack=last_event(KEY),
    )


def _annotation(desk: Desk) -> Annotation:
    stored = store().annotation(desk.item.id, desk.annotator)
    if stored is not None:
        return stored
    try:
        return labelling.begin(desk)
    except CrfvizError as error:
        raise CrfvizError(f"Choose another model on the left for this sentence: {error}") from error


def _handle(document: DocumentSummary, queue: Queue, who: str, events: object) -> None:
    """Take the steps that the labeller asks for, each stored before the next."""
    for event in fresh_events(KEY, events):
        try:
            _step(document, queue, who, event)
        except ConflictError as error:
            _refuse(event, f"{error} You see the stored version: your last key did nothing.")
        except CrfvizError as error:
            _log.warning("a step of labelling was not taken: %s", error)
            _refuse(event, str(error))
        except (KeyError, TypeError, ValueError):
            _log.warning("refused the event %r", event)
            _refuse(event, "That was not understood, and changed nothing.")


def _step(
    document: DocumentSummary, queue: Queue, who: str, event: Mapping[object, object]
) -> None:
    told, kind, item = of_session("told", Told), event["kind"], _whole(event, "item")
    if kind == "go":
        _open(queue.beside(item, _whole(event, "by")))
        return
    desk = _desk(item, who)
    before = _annotation(desk)
    if before.revision != _whole(event, "revision"):
        raise ConflictError("This sentence was changed meanwhile in another tab or program.")
    if kind == "undo" and before == labelling.undo(desk, before):
        _undo_accept(told, queue, who, item)
        return
    after = labelling.worked(_changed(desk, before, event), _seconds(event))
    store().save(after)
    if kind == "accept":
        told.accepted = [*(done for done in told.accepted if done != (item, who)), (item, who)]
        following = queue.after(item, store().done_ids(document.name, who))
        _open(following)
        return
    _tell(told, before, after, str(kind))


def _changed(desk: Desk, before: Annotation, event: Mapping[object, object]) -> Annotation:
    kind = event["kind"]
    if kind == "accept":
        return labelling.accept(before)
    if kind == "undo":
        return labelling.undo(desk, before)
    if kind == "cut":
        return labelling.cut(desk, before, _whole(event, "word"), _whole(event, "at"))
    if kind == "join":
        return labelling.join(desk, before, _whole(event, "word"))
    if kind == "correct":
        first, last, what = _whole(event, "first"), _whole(event, "last"), event["what"]
        if not 0 <= first <= last < len(before.offsets) or not isinstance(what, str):
            raise ValueError
        return labelling.correct(desk, before, first, last, what)
    raise ValueError


def _tell(told: Told, before: Annotation, after: Annotation, kind: str) -> None:
    """Say what a step did, and remember which tags followed."""
    told.item, told.problem, told.changed = after.item, "", {}
    if before.offsets != after.offsets:
        told.note = f"{len(after.offsets)} words now; all others keep their tags."
        return
    if kind == "undo":
        told.note = "Undone."
        return
    moved = followed(before.final, after.final, after.pins)
    told.changed = {t: before.final[t] for t in moved}
    tags = count(len(moved), "tag")
    told.note = (
        f"1 correction, {tags} changed with it." if moved else "1 correction, no other tag changed."
    )


def _refuse(event: Mapping[object, object], why: str) -> None:
    """Say beside the sentence why a step was not taken."""
    told, item = of_session("told", Told), event.get("item")
    told.item = item if isinstance(item, int) else told.item
    told.problem, told.changed = why, {}


def _undo_accept(told: Told, queue: Queue, who: str, item: int) -> None:
    """Nothing to undo here: back to the sentence that was accepted last."""
    last = _last_accepted(told, queue, who)
    if last is not None:
        _back_to_last(queue, who)
        told.item = last
        told.note = "Back at the sentence accepted last; undo again to reopen it."
    else:
        told.item, told.problem, told.note = item, "", "There is nothing to undo."


def _back_to_last(queue: Queue, who: str) -> None:
    told = of_session("told", Told)
    last = _last_accepted(told, queue, who)
    if last is not None:  # a second click may be quicker than the answer to the first
        told.accepted.remove((last, who))
        _open(last)


def _last_accepted(told: Told, queue: Queue, who: str) -> int | None:
    """The sentence of this document that the annotator accepted last in this session."""
    mine = (item for item, by in reversed(told.accepted) if by == who and item in queue.ids)
    return next(mine, None)


def _open(item: int | None) -> None:
    """Show another sentence; the address names it, so that who comes back finds it."""
    told = of_session("told", Told)
    told.note, told.problem, told.changed = "", "", {}
    set_view_option("item", "" if item is None else str(item))


def _whole(event: Mapping[object, object], name: str) -> int:
    value = event[name]
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{quote(name)} is no whole number")
    return value


def _seconds(event: Mapping[object, object]) -> float:
    value = event.get("seconds")  # whole ones come as int
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        return 0.0
    return float(min(value, LONGEST_PAUSE))
