"""The view What it costs: precision and recall along the dial of a cost, and measured sets."""

from collections.abc import Sequence

import streamlit as st

from crfviz.chain.questions.costs import KINDS
from crfviz.corpus.run.sets import Judged, count_sets
from crfviz.corpus.table import Table
from crfviz.corpus.tables.cost_curve import VALUES, cost_curve
from crfviz.corpus.tables.coverage import ALL, coverage_rows, judge
from crfviz.corpus.tables.layer_gain import sample_of
from crfviz.taggers.answers import Answers
from crfviz.text.schemes import entity_scheme
from crfviz.ui import cached
from crfviz.ui.errors.lists import show_table
from crfviz.ui.errors.runs import Analysed
from crfviz.ui.panels.risk import (
    NO_CALIBRATION,
    UNITS,
    by_corpus,
    chosen_level,
    cost_box,
    costs_in_link,
    fail_notes,
    set_cost,
)
from crfviz.ui.session.bound_widgets import bound_buttons
from crfviz.ui.session.scheduling import BusyError, turn
from crfviz.ui.session.session_store import get_value, set_value, widget_value
from crfviz.ui.state.scenario import DIAL, OF
from crfviz.ui.words import plain
from crfviz.views.figures.charts import CHOSEN, cost_curve_chart
from crfviz.views.formatting import count
from crfviz.views.strips.risk import NAMES

MAX_WORDS_JUDGED = 50_000  # a few seconds; larger files are sampled
MAX_WORDS_AT_ONCE = 5_000  # larger files wait for a click
REQUESTED = "risk.requested"  # session key: key of the analysis to measure
RESULT = "judged"  # name of the sentences in `Analysed.made`
CHART = "risk.curve"  # key of the chart
ABOUT = (
    "Each point decodes all sentences for the least expected cost. The ring is the point now, the "
    "triangle has the best F1. Click a point, or type a cost, to choose it."
)


def what_it_costs(analysis: Analysed) -> None:
    """Draw the curve along the dial, and what calibrated sets hold, by length and by corpus."""
    judged = _judged(analysis)
    if judged is None:
        return
    if len(judged) < len(analysis.sentences):
        st.caption(f"A random {count(len(judged), 'sentence')} of {len(analysis.sentences):,}.")
    left, right = st.columns(2)
    with left:
        _curve(analysis, judged)
    with right:
        _sets(analysis, judged)


def _judged(analysis: Analysed) -> Sequence[Judged] | None:
    """Return the sentences with their chains; of a large file once the reader asks for them."""
    tagger = analysis.results.tagger
    small = len(analysis.results.gold) <= MAX_WORDS_AT_ONCE
    if not (small or RESULT in analysis.made or get_value(REQUESTED) == analysis.key):
        st.caption("Scores the sentences again, to decode them at fifteen values of a cost.")
        st.button("Measure", on_click=set_value, args=(REQUESTED, analysis.key), type="primary")
        return None
    numbers = sample_of(analysis.sentences, MAX_WORDS_JUDGED)
    place = st.empty()
    try:
        with turn(place.caption), st.spinner("Scoring the sentences"):
            chosen = [analysis.sentences[number] for number in numbers]
            judged: list[Judged] = analysis.once(RESULT, lambda: list(judge(tagger, chosen)))
    except BusyError as error:
        st.info(str(error))
        return None
    place.empty()
    return judged


def _curve(analysis: Analysed, judged: Sequence[Judged]) -> None:
    tags = analysis.results.tagger.tags
    if entity_scheme(tags) is None:
        st.info("The curve needs tags of entities; the page Risk has a dial for other tags.")
        return
    costs = costs_in_link(tags)
    kind = bound_buttons("Vary", DIAL, NAMES, KINDS[0])
    cost_box(kind, costs, tags)
    now = costs.get(kind, 1.0)
    values = sorted({*VALUES, now})
    others = {name: cost for name, cost in costs.items() if name != kind}
    name = f"curve {kind} {now} {sorted(others.items())}"
    table: Table = analysis.once(name, lambda: cost_curve(judged, tags, others, kind, values))
    st.vega_lite_chart(
        spec=cost_curve_chart(table, now, NAMES[kind]).to_dict(),
        key=CHART,
        on_select=lambda: _choose(kind, table, tags),
        width="stretch",
        alt="Precision by recall along the cost; the table below has the numbers",
    )
    st.caption(ABOUT)
    show_table("cost_curve", table)


def _choose(kind: str, table: Table, tags: tuple[str, ...]) -> None:
    """Set the cost of the clicked point."""
    points = widget_value(CHART)["selection"].get(CHOSEN, [])
    known = {row["value"] for row in table}
    if points and points[0].get("value") in known:
        set_cost(kind, float(points[0]["value"]), tags)


def _sets(analysis: Analysed, judged: Sequence[Judged]) -> None:
    model = analysis.results.tagger.name
    known = None if isinstance(analysis.results.tagger, Answers) else cached.calibration(model)
    if known is None:
        st.info(NO_CALIBRATION.format(model=plain(model)))
        return
    of = bound_buttons("Promise for", OF, UNITS, "sentences")
    level = chosen_level(known, of)
    calibration = known.at(of, level)
    name = f"sets {of} {level}"
    counts = analysis.once(name, lambda: count_sets(judged, calibration))
    rows = coverage_rows(calibration, counts)
    by_length = [{key: row[key] for key in list(row)[3:]} for row in rows]
    show_table("sets", by_length)
    here = {analysis.source.name: next(row for row in rows if row["length"] == ALL)}
    corpora = {**known.rows(of, level), **here}
    show_table("sets_by_corpus", by_corpus(corpora))
    st.caption(plain(f"Calibrated on {known.file}: {calibration.sentences:,} sentences."))
    for text in fail_notes(corpora, level):
        st.caption(text)
