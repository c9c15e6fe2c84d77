"""The part Model: the document's own model, whether its labels are enough, and further training.

For a document with its own tags, a model is trained in the background and again after every ten
finished sentences. A network can be trained further on corrections.
"""

from contextlib import suppress
from functools import partial
from pathlib import PurePath

import streamlit as st

from crfviz.annotations.curation import learnable
from crfviz.annotations.records import DocumentSummary
from crfviz.annotations.teaching import propose, teach
from crfviz.annotations.teaching.gains import Taught, gains_table, got_worse
from crfviz.annotations.teaching.jobs import Job, Jobs
from crfviz.annotations.teaching.partly import begun
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.taggers.registry import list_taggers
from crfviz.taggers.tagger import CRF
from crfviz.taggers.user_models import free_name, safe_name
from crfviz.text.sentences import Sentence
from crfviz.ui import cached
from crfviz.ui.annotate.documents import (
    answered,
    choose_annotator,
    chosen_annotator,
    chosen_document,
    shown_name,
    store,
)
from crfviz.ui.annotate.enough import enough_row
from crfviz.ui.session.bound_widgets import bound_select
from crfviz.ui.session.page_options import choice_option
from crfviz.ui.session.permission import uploads_allowed, uploads_off
from crfviz.ui.session.scenario_state import change, scenario
from crfviz.ui.session.scheduling import visitor, waiting_for
from crfviz.ui.session.session_store import (
    errors_beside,
    last_error_beside,
    server_value,
    widget_value,
)
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain
from crfviz.views.formatting import count, listed

# widget keys: the boxes for the names of the new models
NAME, PROPOSER = "teach.name", "propose.name"
MAX_TAGS = 3  # maximum number of tags listed in a message
EVERY = 0.5  # seconds between two refreshes of a job's progress


def jobs() -> Jobs:
    """Return the training jobs of this server."""
    return server_value("jobs", Jobs)


def model_panel(document: DocumentSummary) -> None:
    """Draw the document's own model, whether the labels are enough, and further training."""
    own_model(document)
    enough_row(document, jobs(), watch_job)
    _further(document)


def _further(document: DocumentSummary) -> None:
    """Draw the options of further training, the running job, and the last result."""
    model, has_own = scenario().model, _may_propose(document, propose.last_proposer(document))
    st.markdown("**Teach a network**")
    if not uploads_allowed():
        st.info(uploads_off("models"))
    elif not teach.teachable(cached.tagger(model)):
        st.info(plain(f"{model} cannot be trained further here: {_way_on()}."))
    elif lacking := [tag for tag in document.tags or () if tag not in cached.tagger(model).tags]:
        st.info(
            plain(
                f"{model} lacks the tags {listed(lacking, MAX_TAGS)} of {shown_name(document)}. "
                f"Choose a model above that has them{', or train its own' * has_own}."
            )
        )
    else:
        _lesson(document, model)
    job = jobs().shown_to(visitor(), _about(document))
    if job and watch_job(job) and isinstance(job.status.result, Taught):
        _show(job.status.result)


def _way_on() -> str:
    """Return what to do where the chosen model is no network with a CRF."""
    ready = ((name, cached.known_tagger(name)) for name in cached.ready_models())
    networks = [name for name, tagger in ready if tagger and teach.teachable(tagger)]
    if networks:
        return f"choose a network with a CRF above, such as {networks[0]}"
    return "this server has no network with a CRF. `python -m crfviz train` makes one"


def _about(document: DocumentSummary) -> str:
    """Return the key of a result: it is shown only for its document, model and annotator."""
    return f"{document.key} {scenario().model} {chosen_annotator(document, 'teacher')}"


def _lesson(document: DocumentSummary, model: str) -> None:
    error = last_error_beside(NAME)
    methods, people, name = st.columns(3)
    bound_select("Method", "method", teach.WHAT, teach.WHOLE_TAGGER, at=methods)
    who = choose_annotator(document, "Train on the sentences of", "teacher", at=people)
    name.text_input("Name of the new model", placeholder=f"{model}-taught", key=NAME)
    done = teach.finished(answered(store().annotations(document.name, who, "done")))
    begun = len(_sentences(document)) - len(done)
    more = f" and {begun:,} begun, by their set and sure tags" if begun else ""
    held_out = len(teach.hold_out(done, teach.Lesson.held_out, teach.Lesson.seed)[0])
    tested = (
        f"{held_out:,} held out to see whether others gain, too"
        if held_out
        else "too few to hold some out and see whether others gain, too"
    )
    st.caption(f"{count(len(done), 'finished sentence')}{more}; {tested}. A new model is written.")
    tags = {tag for sentence in done for tag in sentence.tags or ()}
    if len(tags) == 1:
        st.warning(
            f"All words of these sentences have the tag {plain(*tags)}: a model that learns from "
            "them gives it to more words."
        )
    busy = any(job.visitor == visitor() and not job.status.over for job in jobs().all)
    st.button("Teach", type="primary", disabled=busy or not done, on_click=_start)
    if error:
        st.error(plain(error))


def _sentences(document: DocumentSummary) -> list[Sentence]:
    """Return the finished sentences, and the begun ones with the tags that are set or certain."""
    tagger = cached.tagger(scenario().model)
    pairs = store().annotations(document.name, chosen_annotator(document, "teacher"))
    chosen = learnable(pairs, "agreed")
    return [*teach.finished(chosen), *begun(chosen, tagger.tags, tagger)]


def _start() -> None:
    """Start training with the current choices, which may be newer than the clicked button."""
    method = choice_option("method", teach.WHAT, teach.WHOLE_TAGGER)
    name = widget_value(NAME).strip()
    with errors_beside(NAME):
        if document := chosen_document(store().documents()):
            lesson, about = teach.Lesson(scenario().model, method, name), _about(document)
            sentences = _sentences(document)
            teach.start_teaching(jobs(), lesson, sentences, visitor=visitor(), about=about)


def watch_job(job: Job) -> bool:
    """Draw the progress or the error of a job; return whether it succeeded.

    When the job ends, the page is redrawn, because there may be a new model.
    """
    status = job.status
    if not status.over:
        job_bar(job)
    elif status.state != "done":
        (st.error if status.state == "failed" else st.info)(plain(status.message))
    return status.state == "done"


@st.fragment(run_every=EVERY)
@guarded("The progress of learning")
def job_bar(job: Job) -> None:
    """Draw the progress of a job and its Cancel button."""
    status = job.status
    if status.over:
        st.rerun()
    ahead = jobs().ahead(job)
    said = f"{waiting_for(ahead)} …" if ahead else status.message
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(status.progress, f"{plain(job.title)}: {plain(said)}")
        st.button("Cancel", on_click=job.cancel, key=f"teach.cancel.{job.subject}")


def _show(taught: Taught) -> None:
    told = (
        f"{plain(taught.name)} was trained on {count(taught.num_sentences, 'sentence')} in "
        f"{taught.seconds:.0f} s ({teach.WHAT[taught.method]})."
    )
    if worse := got_worse(taught):
        st.warning(f"{told} **It is worse than {plain(taught.model)}**: {worse}.")
    else:
        st.success(told)
    st.markdown(gains_table(taught.gains))
    if scenario().model != taught.name and taught.name in cached.models():
        st.button(
            f"Use {plain(taught.name)} from now on", on_click=partial(change, model=taught.name)
        )


def background_row(document: DocumentSummary) -> None:
    """Train the model of a document again when ten more sentences are finished; draw its progress.

    Draws nothing if the document uses the tags of another model, or if uploads are off.
    """
    made = propose.last_proposer(document)
    if not _may_propose(document, made):
        return
    job = jobs().about(f"propose {document.key}")
    if job is None or job.status.over:
        new, unsettled = _news(document, made)
        tried = server_value("trained at", dict[str, int])
        at = new + (made.num_sentences if made else 0)
        if new - unsettled >= propose.MIN_DONE and at >= tried.get(document.key, 0):
            tried[document.key] = at + propose.MIN_DONE  # also if this try fails
            with suppress(CrfvizError):
                job = _start_proposing(document, *_usual(made, document), f"desk {document.key}")
    if job is not None and not watch_job(job) and not job.status.over:
        return
    if made is not None:
        st.caption(plain(f"{made.name}: {propose.score_in_words(made.score)}."))
    else:
        st.caption(
            f"From {propose.MIN_DONE} finished sentences on, a model learns them by itself and "
            f"proposes.{_unsettled(document)}"
        )


def _may_propose(document: DocumentSummary, made: propose.Proposer | None) -> bool:
    own = not document.model or made is not None
    return document.tags is not None and own and uploads_allowed()


def _news(document: DocumentSummary, made: propose.Proposer | None) -> tuple[int, int]:
    """Return the finished sentences that the model has not learnt, and the unsettled ones."""
    new = store().count(document.name, state="done", sentences=True)
    new -= made.num_sentences if made else 0
    enough = new >= propose.MIN_DONE
    return new, [*store().disputed(document.name).values()].count(False) if enough else 0


def _unsettled(document: DocumentSummary) -> str:
    left = [*store().disputed(document.name).values()].count(False)
    return f" {count(left, 'disagreement')} to settle first." * bool(left)


def own_model(document: DocumentSummary) -> None:
    """Draw the model that is trained on a document: what it reaches, and a button to train now."""
    made, error = propose.last_proposer(document), last_error_beside(PROPOSER)
    if not _may_propose(document, made):
        return
    if made is None:
        st.markdown("**No model of its own yet.**")
    else:
        st.markdown(f"**{plain(made.name)}**: {plain(propose.score_in_words(made.score))}.")
        st.caption(f"It is trained again after every {propose.MIN_DONE} finished sentences.")
    job = jobs().about(f"propose {document.key}")
    if job is not None and not watch_job(job) and not job.status.over:
        return
    done = store().count(document.name, state="done", sentences=True)
    if done < propose.MIN_DONE:
        st.caption(f"It needs {propose.MIN_DONE} finished sentences; {done} are done.")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="propose"):
        st.button("Train now", type="primary", on_click=_train_now, args=(document, made))
        with st.popover("Options", icon=":material/tune:"):
            bound_select("Model", "family", propose.FAMILIES, made.family if made else CRF)
            st.text_input("Name of the model", _usual(made, document)[0], key=PROPOSER)
            st.caption(
                "Sentences about which annotators disagree are left out until they are settled."
            )
    if error:
        st.error(plain(error))


def _usual(made: propose.Proposer | None, document: DocumentSummary) -> tuple[str, str]:
    """Return name and family of the next model: those of the last, or such as `towns-crf`."""
    if made is not None:
        return made.name, made.family
    try:
        name = safe_name(PurePath(shown_name(document)).stem).lower()
    except ModelError:  # the name has no Latin letter
        name = "own-tags"
    return free_name(f"{name}-{CRF}", list_taggers()), CRF


def _train_now(document: DocumentSummary, made: propose.Proposer | None) -> None:
    with errors_beside(PROPOSER):
        name, usual = _usual(made, document)
        family = choice_option("family", propose.FAMILIES, usual)
        name = widget_value(PROPOSER).strip() or name
        _start_proposing(document, name, family, visitor())


def _start_proposing(document: DocumentSummary, name: str, family: str, who: str) -> Job:
    work = partial(propose.propose_in_store, document, name, family)
    return jobs().start(f"Train {name}", work, visitor=who, about=f"propose {document.key}")
