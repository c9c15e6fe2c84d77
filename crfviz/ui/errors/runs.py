"""Runs of the error analysis, cached for all sessions by sentences, tag mapping and model.

A large run would hold the GIL for seconds or minutes, so a worker process does it. Small files are
analysed here, because starting the worker would take longer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from crfviz.corpus.run.results import Results
from crfviz.corpus.run.tagging import Progress
from crfviz.corpus.shards.model_reference import model_reference
from crfviz.corpus.tables.report import Tables
from crfviz.taggers.answers import Answers
from crfviz.taggers.plugins import plugin_version
from crfviz.taggers.registry import model_path
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence
from crfviz.ui.errors.error_analysis import (
    ErrorAnalysis,
    ExplorerLinks,
    Links,
    Record,
    analyse_in_worker,
    analyse_sentences,
    load,
)
from crfviz.ui.errors.files import Source
from crfviz.ui.session.background import BACKGROUND, LostError
from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.session.scheduling import BusyError, pause, turn
from crfviz.ui.session.session_store import LRUCache, server_value
from crfviz.ui.state.scenario import MAX_WORDS
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.views.formatting import count

MAX_WORDS_HERE = 50_000  # about six seconds of work, which starting the worker may take, too


@dataclass(frozen=True, eq=False)
class Analysed:
    """The result of one run, with its tables."""

    key: str  # digest of the tagger and the sentences in its tags
    results: Results
    record: Record
    tables: Tables
    links: Links
    source: Source  # the sentences before their tags were mapped
    sentences: Sequence[Sentence]  # all of them, in the tagger's tags
    opener: ExplorerLinks | None = None  # creates the links; None for the tagger's own
    made: dict[str, Any] = field(default_factory=dict)  # results that `once` caches, by name

    def once(self, name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `make` makes
        """Return the result of `make`, cached under a name; callers must not change it."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]


def analysed(
    tagger: Tagger,
    source: Source,
    sentences: Sequence[Sentence],
    rule: str | None = None,
    opener: ExplorerLinks | None = None,
) -> Analysed | None:
    """Return the analysis from the cache, or run it with a progress bar.

    A `rule` over the tags adds a decoder. `opener` creates links to another model than the tagger.

    Returns:
        The analysis; None, with a message, if the reader stopped the run or the queue is full.

    Raises:
        CrfvizError: the sentences do not suit the tagger; the message says why.
    """
    key = _digest(tagger, sentences, rule, opener)
    runs = server_value("runs", LRUCache[Analysed])
    if kept := runs.get(key):
        return kept
    if view_option("stopped") == key:
        st.info("The run was stopped; its results were discarded.")
        st.button("Run", on_click=set_view_option, args=("stopped", ""), type="primary")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, f"0 of {len(sentences):,} sentences")
        place = st.empty()
    unseen = st.empty()
    _fetch_ahead(unseen, key)
    place.button("Stop", on_click=set_view_option, args=("stopped", key), key=f"errors.stop.{key}")

    def report(done: int, total: int) -> None:  # raises after a click on Stop
        bar.progress(done / total, f"{done:,} of {total:,} sentences")

    analysis, busy = None, ""
    try:
        with turn(lambda words: bar.progress(0.0, words)):
            analysis = runs.get(key)  # an earlier session in the queue may have run it
            if analysis is None:
                result = _found(tagger, sentences, source.name, report, rule, opener)
                analysis = Analysed(key, *result, source, sentences, opener)
                runs.add(key, analysis)
    except (BusyError, LostError) as error:
        busy = str(error)
    finally:  # also below the message of an error: a bar would promise more
        for element in (bar, place, unseen):
            element.empty()
    if busy:
        st.info(busy)
        st.button("Run", type="primary")  # reruns the whole page
    return analysis


def get_ready(tagger: Tagger) -> None:
    """Load the model in the worker process in advance, before a file is uploaded."""
    if model_path(tagger.name) is not None:
        BACKGROUND.prepare(partial(load, model_reference(tagger.name)))


def _found(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    file: str,
    report: Progress,
    rule: str | None,
    opener: ExplorerLinks | None,
) -> ErrorAnalysis:
    """Run in the worker process; here if the file is small or only this process has the model."""
    words = sum(len(sentence.tokens) for sentence in sentences)
    if words <= MAX_WORDS_HERE or model_path(tagger.name) is None:
        return analyse_sentences(tagger, sentences, file, report, pause, rule, opener)
    work = partial(analyse_in_worker, model_reference(tagger.name), sentences, file, rule=rule)
    results, record, tables, links = BACKGROUND.run(work, report, pause=pause)
    return Results(tagger=tagger, **results), record, tables, links


def _fetch_ahead(place: DeltaGenerator, key: str) -> None:
    """Make the browser load its code for tables and charts during the run."""
    with place.container(key=f"errors-unseen-{key}"):  # hidden by the style sheet of the frame
        st.dataframe({"": [0]}, width=1, height=1)
        st.vega_lite_chart(spec={"mark": "point", "data": {"values": []}, "width": 1, "height": 1})


def _digest(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    rule: str | None,
    opener: ExplorerLinks | None = None,
) -> str:
    version, shown = plugin_version(tagger.name), opener.model if opener else ""
    content = sha256(repr((tagger.name, str(tagger.folder), version, rule, shown)).encode())
    answers = tagger.answers if isinstance(tagger, Answers) else ()
    for sentence in (*sentences, *answers):
        content.update(repr((sentence.tokens, sentence.tags)).encode())
        pause()
    return content.hexdigest()[:16]


def link_notes(analysis: Analysed) -> list[str]:
    """Return notes on sentences and errors that the explorer links cannot show."""
    long = int((analysis.results.lengths > MAX_WORDS).sum())
    without = sum(link is None for link in analysis.links["errors"])
    notes = []
    if long:
        notes.append(
            f"{count(long, 'sentence')} of more than {MAX_WORDS} words: the explorer draws the "
            f"first {MAX_WORDS}."
        )
    if without:
        notes.append(
            f"{count(without, 'error')} without a link: beyond these words, or in a sentence that "
            "has a word with a blank in it."
        )
    return notes
