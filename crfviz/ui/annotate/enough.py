"""Is it enough: the learning curve of a document's finished sentences, in a job."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from crfviz.annotations.curation import learnable
from crfviz.annotations.records import DocumentSummary
from crfviz.annotations.teaching import propose
from crfviz.annotations.teaching.jobs import Job, Jobs
from crfviz.annotations.teaching.teach import finished
from crfviz.corpus.tables.learning_curve import MIN_SENTENCES, LearningCurve, learning_curve
from crfviz.text.sentences import Sentence
from crfviz.ui.annotate.documents import store
from crfviz.ui.session.permission import uploads_allowed
from crfviz.ui.session.scheduling import visitor
from crfviz.ui.session.session_store import errors_beside, last_error_beside
from crfviz.ui.words import plain
from crfviz.views.figures.charts import curve_chart
from crfviz.views.formatting import score

BUTTON = "annotate.enough"  # widget key


def enough_row(document: DocumentSummary, jobs: Jobs, watch_job: Callable[[Job], bool]) -> None:
    """Draw the button that computes the learning curve, its progress, or the curve."""
    if not uploads_allowed():
        return
    st.markdown("**Is it enough?**")
    error, job = last_error_beside(BUTTON), jobs.about(_about(document))
    if job is not None and watch_job(job) and isinstance(job.status.result, LearningCurve):
        _show(document, job.status.result)
    done = store().count(document.name, state="done", sentences=True)
    if done < MIN_SENTENCES:
        st.caption(f"From {MIN_SENTENCES} finished sentences on; {done} are done.")
    elif job is None or job.status.over:
        label = "Compute the curve" if job is None else "Compute it again"
        st.button(label, on_click=_start, args=(document, jobs), key=BUTTON)
    if error:
        st.error(plain(error))


def _about(document: DocumentSummary) -> str:
    return f"enough {document.key}"


def _start(document: DocumentSummary, jobs: Jobs) -> None:
    with errors_beside(BUTTON):
        pairs = learnable(store().annotations(document.name, state="done"), "agreed")
        work = partial(curve_in_worker, finished(pairs))
        jobs.start("Is it enough?", work, visitor=visitor(), about=_about(document))


def curve_in_worker(
    sentences: list[Sentence], report: Callable[[float, str], object]
) -> LearningCurve:
    """Run `learning_curve` in a worker process."""
    return learning_curve(sentences, report=lambda share: report(share, "cross-validation"))


def _show(document: DocumentSummary, curve: LearningCurve) -> None:
    (st.success if curve.go_on is False else st.info)(plain(curve.verdict))
    made = propose.last_proposer(document)
    earlier = [*made.earlier, (made.num_sentences, made.reached)] if made else []
    st.altair_chart(curve_chart(curve, earlier), width="stretch")
    points = [
        {"sentences": point.sentences, curve.metric: score(point.score, 3)}
        | {"95 %": f"{score(point.interval[0], 3)} to {score(point.interval[1], 3)}"}
        for point in curve.points
    ]
    with st.expander("The numbers"):
        st.dataframe(pd.DataFrame(points), hide_index=True, width="content")
    if worst := curve.weakest:
        st.caption(
            plain(
                f"Weakest: {worst.tag}, F1 {score(worst.score, 3)}, {worst.gold:,} in the labels."
            )
        )
