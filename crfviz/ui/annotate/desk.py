"""The labelling desk: it shows one sentence, and stores each step before the next."""

import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from crfviz.annotations import labelling
from crfviz.annotations.curation import disputes, times_of
from crfviz.annotations.labelling import Desk, followed
from crfviz.annotations.records import Annotation, Curation, DocumentSummary
from crfviz.exceptions import (
    ConflictError,
    CrfvizError,
    LostStoreError,
    ShapeError,
    StoreError,
)
from crfviz.taggers.blank import BlankTagger
from crfviz.taggers.folder import version_of
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import is_bio
from crfviz.ui import cached
from crfviz.ui.annotate.documents import store, tagger_of
from crfviz.ui.annotate.events import row_of, seconds_of, whole
from crfviz.ui.annotate.learning import background_row
from crfviz.ui.annotate.names import (
    after_step,
    answer,
    everywhere_data,
    explain,
    forget,
    hints_of,
    marked_word,
    reasons,
)
from crfviz.ui.annotate.queue import (
    Queue,
    changed_since,
    settle_button,
    why_link,
)
from crfviz.ui.annotate.who import ask_name, stop_asking
from crfviz.ui.session import components
from crfviz.ui.session.bound_widgets import bound_flag
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.scenario_state import NO_LETTERS, publish, set_view_option, view_option
from crfviz.ui.session.session_store import errors_beside, last_error_beside, session_value
from crfviz.ui.shared_cache import shared_cache
from crfviz.ui.watching.meters import KEYS
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain
from crfviz.views.formatting import count
from crfviz.views.stage.labeller import MAX_WORDS, LastStep, Sheet, labeller_payload

KEY = "labeller"
BACK, ANEW, ALL = "desk.back", "desk.anew", "desk.all"  # widget keys
_log = logging.getLogger(__name__)


@st.fragment
@guarded("Labelling", again=True)
def show_desk(queue: Queue) -> None:
    """Draw the labeller with the next sentence of the queue, or a message that all are done."""
    # the fragment keeps its old arguments; another tab may have changed the document
    document = store().renewed(queue.document)
    queue = replace(queue, document=document)
    ask_name(document, queue.who)
    if queue.settles:
        done, total = len(queue.done), len(queue.ids)
        st.progress(done / total, f"{done:,} of {count(total, 'disagreement')} settled")
        what = f"All {count(total, 'disagreement')} of {plain(document.name)} are settled."
    else:
        what = _own_progress(document, queue.who)
        background_row(document)
    if queue.sure:
        _accept_all(queue)
    named = view_option("item")
    item = int(named) if named.isdecimal() and int(named) in queue.ids else queue.next(None)
    if item is None:
        st.success(what)
        _ways_on(queue)
        return
    desk = desk_of(queue, item)
    try:
        sheet = sheet_of(desk, queue)
    except StoreError:
        raise
    except CrfvizError as error:
        _pass_over(queue, desk, error)
    else:
        components.mount(
            KEY,
            labeller_payload(sheet),
            key=KEY,
            on_events=lambda: take_steps(queue, components.sent_events(KEY)),
        )
        if isinstance(desk.tagger, BlankTagger) and not is_bio(desk.tagger.tags):
            bound_flag(st.toggle, "Stay on a word after its tag", "stay")
        bound_flag(st.toggle, "Disable single-key shortcuts", NO_LETTERS)
    publish()


def _ways_on(queue: Queue) -> None:
    """Draw the buttons for the next actions when no sentence is left."""
    error = last_error_beside(BACK)
    with st.container(horizontal=True):
        settle_button(queue.document)
        if st.button("Export", type="primary"):
            set_view_option("part", "export", "label")
            st.rerun()  # rerun the page: the part is chosen outside this fragment
        if store().last_done(queue.document.name, queue.layer) is not None:
            st.button("Reopen the last sentence", on_click=_back, args=(queue,), key=BACK)
    if error:
        st.error(plain(error))


def _accept_all(queue: Queue) -> None:
    """Draw the button that accepts all sentences of a sure queue, and how many may be wrong."""
    calibration, done = queue.sure, queue.done
    left = [item for item in queue.ids if item not in done]
    if calibration is None or not left:
        return
    scored, error = len(queue.doubts), last_error_beside(ALL)
    wrong = min(len(left), math.floor((1 - calibration.level) * scored + 1e-9))
    label = f"Accept {count(len(left), 'sentence')}"
    st.button(label, on_click=_accept, args=(queue, left), key=ALL, type="primary")
    st.caption(
        f"Of all {scored:,} scored sentences, the sets of at most "
        f"{100 * (1 - calibration.level):.0f} % miss the right path on average. So expect at most "
        f"{wrong:,} of these to be wrong, if the sentences are like those of the calibration."
    )
    if error:
        st.error(plain(error))


def _accept(queue: Queue, items: Sequence[int]) -> None:
    """Accept the model's tags of sentences in which the annotator has set none."""
    with errors_beside(ALL):
        for item in items:
            desk = desk_of(queue, item)
            annotation = labelling.renewed(desk, annotation_of(desk))
            if not annotation.pins and annotation.state == "open":
                store().save(labelling.accept(annotation), desk.tagger.tags)


def _own_progress(document: DocumentSummary, who: str) -> str:
    """Draw an annotator's progress; return the message to show when all sentences are done."""
    progress = store().progress(document.name, who)
    spent = f" · {progress.seconds / progress.done:.1f} s a sentence" if progress.done else ""
    unfinished = f" · {progress.open} begun" if progress.open else ""
    label = f"{progress.done:,} of {progress.total:,} done{unfinished}{spent}"
    st.progress(progress.done / max(1, progress.total), label)
    return f"All sentences of {plain(document.name)} are done."


def _pass_over(queue: Queue, desk: Desk, error: CrfvizError) -> None:
    """Show why a sentence cannot be labelled now, and buttons for the next actions."""
    item, key = desk.item, f"{ANEW}.{desk.item.id}"
    refused = last_error_beside(key)
    st.error(plain(f"Sentence {item.position + 1:,}: {error}"))
    with st.container(horizontal=True):
        st.button("Try again", type="primary")
        st.button("Previous", on_click=_open, args=(queue.beside(item.id, -1),))
        st.button("Next", on_click=_open, args=(queue.beside(item.id, 1),))
        stored = store().annotation(item.id, desk.annotator)
        if stored is not None and len(item.tokens) <= MAX_WORDS:
            st.button("Discard and start over", on_click=_begin_anew, args=(desk, stored), key=key)
    if refused:
        st.error(plain(refused))


def _begin_anew(desk: Desk, stored: Annotation) -> None:
    """Replace an annotation that the model cannot continue with the model's proposal."""
    with errors_beside(f"{ANEW}.{desk.item.id}"):
        revision, seconds = stored.revision, stored.seconds
        anew = replace(labelling.begin(desk), revision=revision, seconds=seconds)
        store().save(replace(anew, created=stored.created), desk.tagger.tags)


def desk_of(queue: Queue, item: int, *, renew: bool = True) -> Desk:
    """Return the desk of a sentence; for a curator with the versions of all annotators.

    `renew` looks for newly stored names.
    """
    tagger = tagger_of(queue.document)
    desk = Desk(store().item(item), queue.layer, tagger, _version(tagger))
    if queue.settles:
        return replace(desk, curator=queue.who, versions=tuple(store().versions(item)))
    return replace(desk, hints=hints_of(queue, desk.item, renew=renew))


@shared_cache(cached.MAX_MODELS, lambda tagger: tagger)
def _version(tagger: Tagger) -> str:
    return "" if isinstance(tagger, BlankTagger) else version_of(tagger)


def sheet_of(desk: Desk, queue: Queue) -> Sheet:
    """Return what the labeller shows: the sentence, its annotation, and the last step's effect.

    Raises:
        ShapeError: the sentence is too long.
        CrfvizError: the tagger cannot continue the annotation of another model.
    """
    item, told = desk.item, session_value("last step", LastStep)
    here = told if (told.item, told.by) == (item.id, desk.annotator) else LastStep()
    if len(item.tokens) > MAX_WORDS:
        raise ShapeError(
            f"expected at most {MAX_WORDS:,} words in a sentence to label, got "
            f"{len(item.tokens):,}; split the sentence in your file and upload it again"
        )
    annotation = annotation_of(desk)
    try:
        annotation = labelling.renewed(desk, annotation)
        proposal = desk.propose(annotation.offsets, annotation.pins)
    except CrfvizError as error:
        raise CrfvizError(
            f"{desk.tagger.name} cannot continue what was set in this sentence with "
            f"{annotation.model} ({error}). Choose {annotation.model} above."
        ) from error
    return Sheet(
        desk,
        annotation,
        proposal,
        here,
        reason=changed_since(desk, annotation) or queue.reason(item.id),
        letters=not flag_option(NO_LETTERS),
        stays=flag_option("stay"),
        ack=components.last_event(KEY),
        settings=queue.document.settings,
        why=[why_link(desk, annotation, each) for each in disputes(desk.versions)],
        everywhere=everywhere_data(queue, item.id),
        reasons=reasons(),
    )


def annotation_of(desk: Desk) -> Annotation:
    """Return the stored annotation of a desk, or the first one; a stale answer is open again."""
    stored = store().annotation(desk.item.id, desk.annotator)
    if stored is not None:
        stale = stored.curation and stored.curation.versions != times_of(desk.versions)
        return replace(stored, state="open") if stale else stored
    try:
        return labelling.begin(desk)
    except CrfvizError as error:
        raise CrfvizError(f"Choose another model above for this sentence: {error}") from error


def take_steps(queue: Queue, events: object) -> None:
    """Apply the events of the labeller, and store each one before the next.

    If the connection to the store is lost, the events stay unacknowledged, and the browser sends
    them again.
    """
    told = session_value("last step", LastStep)
    told.by = queue.layer
    for event in components.fresh_events(KEY, events):
        told.held = False
        try:
            _step(queue, event)
            KEYS.labels("stored").inc()
        except LostStoreError as error:
            _log.warning("a step of labelling waits: %s", error)
            _refuse(event, str(error))
            KEYS.labels("waits").inc()
            told.held = True
            components.wait_for_again(KEY, whole(event, "seq"))
            return
        except ConflictError as error:
            KEYS.labels("conflict").inc()
            _refuse(event, f"{error} You see the stored version: your last key did nothing.")
        except CrfvizError as error:
            KEYS.labels("refused").inc()
            _log.warning("a step of labelling was not taken: %s", error)
            _refuse(event, str(error))
        except (KeyError, TypeError, ValueError):
            _log.warning("refused an event of labelling")
            _refuse(event, "Unrecognised input; nothing was changed.")


def _step(queue: Queue, event: Mapping[object, object]) -> None:
    told, kind, item = session_value("last step", LastStep), event["kind"], whole(event, "item")
    if kind == "go":
        by = whole(event, "by")
        if by > 0:
            with suppress(StoreError):  # without the store, visitors can still browse sentences
                store().skip(item, queue.layer)
        _open(queue.beside(item, by))
        return
    if kind == "everywhere":
        answer(queue, partial(desk_of, queue, renew=False), str(event["answer"]), row_of(event))
        told.problem, told.note, told.changed = "", "", {}
        return
    desk = desk_of(queue, item)
    before = labelling.renewed(desk, annotation_of(desk))
    if kind == "why":
        word = whole(event, "word")
        if not 0 <= word < len(before.offsets):
            raise ValueError
        explain(desk, before, word)
        return
    if before.revision != whole(event, "revision"):
        raise ConflictError("This sentence was changed meanwhile in another tab or program.")
    if kind == "undo" and before == labelling.undo(desk, before):
        last = back_to_last(queue)
        if last is None:  # nothing to undo, and no previous sentence
            told.item, told.problem, told.note = item, "", "There is nothing to undo."
            return
        told.item, told.note = last, "Back at the sentence accepted last; undo again to reopen it."
        return
    after = labelling.worked(_changed(desk, before, event), seconds_of(event))
    if desk.curator:
        after = replace(after, curation=Curation(desk.curator, times_of(desk.versions)))
    store().save(after, desk.tagger.tags)
    stop_asking(queue.document.key)
    if kind == "accept":
        _open(queue.next(item))
        return
    _tell(told, before, after, str(kind))
    after_step(queue, desk, after, marked_word(event))


def _changed(desk: Desk, before: Annotation, event: Mapping[object, object]) -> Annotation:
    match event["kind"]:
        case "accept":
            return labelling.accept(before, desk.versions)
        case "undo":
            return labelling.undo(desk, before)
        case "cut":
            return labelling.cut(desk, before, whole(event, "word"), whole(event, "at"))
        case "join":
            return labelling.join(desk, before, whole(event, "word"))
        case "take":
            word = whole(event, "word")  # -1 is the whole sentence
            return labelling.take(desk, before, whole(event, "version"), max(word, -1))
        case "resize":
            word, start, end = (whole(event, name) for name in ("word", "start", "end"))
            return labelling.resize(desk, before, word, start, end)
        case "correct":
            first, last, what = whole(event, "first"), whole(event, "last"), event["what"]
            if 0 <= first <= last < len(before.offsets) and isinstance(what, str):
                return labelling.correct(desk, before, first, last, what)
    raise ValueError


def _tell(told: LastStep, before: Annotation, after: Annotation, kind: str) -> None:
    """Record the effect of a step in `told`, and which other tags changed."""
    told.item, told.problem, told.changed, told.note = after.item, "", {}, ""
    if before.offsets != after.offsets:
        told.note = f"{len(after.offsets)} words now; all others keep their tags."
    elif kind == "undo":
        told.note = "Undone."
    elif after.model:  # without a model the labeller shows what is left to do
        moved = followed(before.final, after.final, after.pins)
        told.changed = {t: before.final[t] for t in moved}
        what = f"{count(len(moved), 'tag')} changed with it" if moved else "no other tag changed"
        told.note = f"1 correction, {what}."


def _refuse(event: Mapping[object, object], why: str) -> None:
    """Record why a step was refused, for the labeller to show."""
    told, item = session_value("last step", LastStep), event.get("item")
    told.item = item if isinstance(item, int) else told.item
    told.problem, told.changed = why, {}


def _back(queue: Queue) -> None:
    with errors_beside(BACK):
        back_to_last(queue)


def back_to_last(queue: Queue) -> int | None:
    """Open the sentence that was accepted last, and return its id; None without one."""
    last = store().last_done(queue.document.name, queue.layer)
    if last is not None:
        _open(last)
    return last


def _open(item: int | None) -> None:
    """Show another sentence, whose id goes into the URL, so that a reload shows it again."""
    told = session_value("last step", LastStep)
    told.note, told.problem, told.changed = "", "", {}
    forget()
    set_view_option("item", "" if item is None else str(item))
