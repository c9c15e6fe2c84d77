"""Error analyses, kept for all sessions by the content of the file, its mapping and the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from crfviz.corpus.counts.tally import counted
from crfviz.corpus.run.results import Results
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.analysis import Tables, full_record, tables_of
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence
from crfviz.text.tokenizer import sentence_of
from crfviz.ui.errors.source import Newest, Source
from crfviz.ui.session.current import set_view_option, view_option
from crfviz.ui.session.kept import of_server
from crfviz.ui.session.turns import BusyError, pause, turn
from crfviz.ui.state.link import explorer_link
from crfviz.ui.state.scenario import MAX_WORDS
from crfviz.views.numbers import count


@dataclass(frozen=True, eq=False)
class Analysed:
    """One run with all its tables."""

    key: str  # of the tagger and the sentences in its tags
    results: Results
    record: Mapping[str, Any]
    tables: Tables
    links: Mapping[str, Sequence[str | None]]  # to the explorer, of the rows of some tables
    source: Source  # of the sentences, as they were before their tags were mapped
    sentences: Sequence[Sentence]  # all of them, in the tagger's tags
    made: dict[str, Any] = field(default_factory=dict)  # what was asked for once

    def once(self, name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `make` makes
        """What `make` makes, made once; nobody may change it."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]


def analysed(tagger: Tagger, source: Source, sentences: Sequence[Sentence]) -> Analysed | None:
    """The analysis, from memory or run now with a bar and a way to stop; None where it was stopped.

    Raises:
        CrfvizError: the sentences are of no use for the tagger; says why.
    """
    key = _digest(tagger, sentences)
    runs = of_server("runs", Newest[Analysed])
    if kept := runs.get(key):
        return kept
    if view_option("stopped") == key:
        st.info("The run was stopped, and nothing of it is kept.")
        st.button("Run", on_click=set_view_option, args=("stopped", ""), type="primary")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, f"0 of {len(sentences):,} sentences")
        place = st.empty()
    unseen = st.empty()
    _fetch_ahead(unseen, key)
    place.button("Stop", on_click=set_view_option, args=("stopped", key), key=f"errors.stop.{key}")

    def report(done: int, total: int) -> None:  # a click on Stop ends the run in here
        bar.progress(done / total, f"{done:,} of {total:,} sentences")

    analysis, busy = None, ""
    try:
        with turn(lambda words: bar.progress(0.0, words)):
            analysis = runs.get(key)  # somebody before in the line may have asked for the same
            if analysis is None:
                results = run(tagger, sentences, report, pause=pause, ahead=True)
                found = counted(results)
                tables = tables_of(found)
                record = full_record(found, source.name, tables)
                links = links_of(results)
                analysis = Analysed(key, results, record, tables, links, source, sentences)
                runs.add(key, analysis)
    except BusyError as error:
        busy = str(error)
    for element in (bar, place, unseen):
        element.empty()
    if busy:
        st.info(busy)
        st.button("Run", type="primary")  # and all of the page anew
    return analysis


def _fetch_ahead(place: DeltaGenerator, key: str) -> None:
    """Have the browser fetch, while the run goes on, what it will draw the results with."""
    with place.container(key=f"errors-unseen-{key}"):  # by the style sheet of the frame
        st.dataframe({"": [0]}, width=1, height=1)
        st.vega_lite_chart(spec={"mark": "point", "data": {"values": []}, "width": 1, "height": 1})


def _digest(tagger: Tagger, sentences: Sequence[Sentence]) -> str:
    content = sha256(str(tagger.folder).encode())
    for sentence in sentences:
        content.update(repr((sentence.tokens, sentence.tags)).encode())
    return content.hexdigest()[:16]


def links_of(results: Results) -> dict[str, list[str | None]]:
    """The explorer on the sentence of each row of the tables of errors and suspects."""
    log = results.log
    links = ExplorerLinks(results.tagger, log.sentences)
    wanted: dict[str, list[tuple[int, int, str]]] = {
        name: [(error.sentence, error.first, error.gold[0]) for error in errors]
        for name, errors in (("errors", log.first), ("suspects", log.suspects))
    }
    wanted["entity_suspects"] = [
        (suspect.sentence, suspect.wrong, "") for suspect in log.entity_suspects
    ]
    by_table: dict[str, list[str | None]] = {name: [] for name in wanted}
    made: dict[tuple[int, int, str], str | None] = {}  # a suspect is an error, too
    for name, rows in wanted.items():
        for row in rows:
            if row not in made:
                made[row] = links.to(*row)
            by_table[name].append(made[row])
            pause()
    return by_table


def link_notes(analysis: Analysed) -> list[str]:
    """What the reader has to know about the links to the explorer."""
    long = int((analysis.results.lengths > MAX_WORDS).sum())
    without = sum(link is None for link in analysis.links["errors"])
    said = []
    if long:
        said.append(
            f"{count(long, 'sentence')} of more than {MAX_WORDS} words: the explorer draws the "
            f"first {MAX_WORDS}."
        )
    if without:
        said.append(
            f"{count(without, 'error')} without a link: beyond these words, or in a sentence that "
            "has a word with a blank in it."
        )
    return said


class ExplorerLinks:
    """Links to the explorer.

    None where a tokenizer cannot be kept from splitting the words in other places, and beyond the
    words that are drawn.
    """

    def __init__(self, tagger: Tagger, sentences: Mapping[int, Sentence]) -> None:
        self._tagger = tagger
        self._sentences = sentences
        self._texts: dict[int, str | None] = {}

    def to(self, number: int, position: int, tag: str = "") -> str | None:
        """A sentence by its number, asked about a tag at a position, at first the gold one."""
        sentence = self._sentences[number]
        if number not in self._texts:
            self._texts[number] = sentence_of(sentence.tokens, self._tagger.split)
        gold = sentence.tags or ()
        at = (position, tag or gold[position])
        return explorer_link(self._tagger.name, self._texts[number], gold, at)
