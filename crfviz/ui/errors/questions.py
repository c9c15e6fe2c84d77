"""The questions of the page Model errors, each with its figures and tables.

Only the panel that is open is drawn, in a fragment: a click in it leaves the rest of the page as it
is.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from crfviz.corpus.counts.run_counts import dimensions_of
from crfviz.corpus.run.results import RULE
from crfviz.corpus.table import as_csv
from crfviz.corpus.tables.errors import conll, slice_table
from crfviz.corpus.tables.report import rule_note
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.ui.errors.lists import ANY, is_it_the_gold, show_table, why, wrong_words
from crfviz.ui.errors.looking import Record
from crfviz.ui.errors.runs import Analysed
from crfviz.ui.errors.two_models import two_models
from crfviz.ui.panels.rules import rule_box
from crfviz.ui.session.bound import bound_buttons, bound_tabs
from crfviz.ui.session.current import publish
from crfviz.ui.widgets import download, guarded
from crfviz.ui.words import plain
from crfviz.views.figures.charts import calibration_chart, coverage_chart, decoders_chart
from crfviz.views.formatting import per_cent


def how_wrong(analysis: Analysed) -> None:
    """Scores of every tag, and the confusion matrix with the errors of a cell."""
    tables = analysis.tables
    left, right = st.columns([1, 1.25])
    with left:
        show_table("tags", tables["tags"])
        if "entity_kinds" in tables:
            show_table("entity_kinds", tables["entity_kinds"])
    with right:
        wrong_words(analysis)
    if "entity_schemes" in tables:
        show_table("entity_schemes", tables["entity_schemes"])
    with st.expander("Matrix as a table"):
        show_table("confusion", tables["confusion"])


def how_sure(analysis: Analysed) -> None:
    """Whether probabilities can be trusted."""
    tables = analysis.tables
    first, second = st.columns(2)
    with first:
        _chart(analysis, "calibration", calibration_chart)
        show_table("ece", tables["ece"])
        show_table("calibration", tables["calibration"])
    with second:
        _chart(analysis, "coverage", coverage_chart)
        show_table("coverage", tables["coverage"])


def what_it_buys(analysis: Analysed) -> None:
    """Every decoder on the same sentences, and what a rule does to them."""
    rule_box(analysis.results.tagger.tags)
    if RULE in analysis.record:
        _rule_effect(analysis.record)
    show_table("decoders", analysis.tables["decoders"])
    left, right = st.columns(2)
    with left:
        _chart(analysis, "decoders", decoders_chart)
        st.caption(
            "Search error: the path scores less than the best. Independent and greedy decoding use "
            "the scores as trained, the others add the model's rules. p: McNemar's exact test "
            "against Viterbi."
        )
    with right:
        show_table("oracle", analysis.tables["oracle"])


def _rule_effect(record: Record) -> None:
    rule, viterbi = record[RULE], record["viterbi"]
    shares = {"Token accuracy": "token_accuracy", "Sentence accuracy": "sentence_accuracy"}
    if viterbi["entity_f1"] is not None:
        shares["Entity F1"] = "entity_f1"
    columns = st.columns(len(shares) + 2)
    for column, (label, name) in zip(columns, shares.items(), strict=False):
        gain = 100 * (rule[name] - viterbi[name])
        column.metric(label, per_cent(rule[name]), f"{gain:+.2f} points" if gain else None)
    for column, name in zip(columns[-2:], ("repaired", "spoilt"), strict=True):
        column.metric(f"Sentences {name}", f"{rule[name]:,}")
    st.caption(plain(rule_note(record)))


def where(analysis: Analysed) -> None:
    """Parts of the corpus, one dimension or two crossed."""
    names = {name: name for name in dimensions_of(analysis.results)}
    with st.container(horizontal=True):
        first = bound_buttons("Slices by", "part", {ANY: "all at once", **names}, ANY)
        second = bound_buttons("crossed with", "cross", {ANY: "nothing", **names}, ANY)
    dimensions = [name for name in dict.fromkeys([first, second]) if name != ANY]
    table = slice_table(analysis.results, dimensions) if dimensions else analysis.tables["slices"]
    title = f"Slices by {' and '.join(dimensions)}, largest gain first" if dimensions else ""
    show_table("slices", table, title=title)
    st.caption("Repair wins: how much token accuracy would rise without these errors.")
    if analysis.results.seen is None:
        st.caption(
            f"Slices by words seen in training: not available, for the folder of this model has no "
            f"`{LEXICON_FILE}`. `python -m crfviz lexicon` writes one from the training files."
        )


TABS = {  # by their names in links
    "How wrong": "Accuracy",
    "How sure": "Calibration",
    "What the CRF buys": "Decoders",
    "Where": "Slices",
    "Why": "Causes",
    "Is it the gold?": "Label errors",
    "Two models": "Compare models",
}
PANELS: Mapping[str, Callable[[Analysed], None]] = {
    "How wrong": how_wrong,
    "How sure": how_sure,
    "What the CRF buys": what_it_buys,
    "Where": where,
    "Why": why,
    "Is it the gold?": is_it_the_gold,
    "Two models": two_models,
}


@st.fragment
@guarded("This part")
def questions(analysis: Analysed) -> None:
    """A button for each question, and the panel of the one that is open."""
    tab = bound_tabs("View", "tab", TABS, next(iter(TABS)))
    publish()  # the frame around the page, which does this otherwise, is not drawn again
    # A place for each: what stood there goes at once, not when the panel of this run is done.
    places = {name: st.container() if name == tab else st.empty() for name in PANELS}
    with places[tab]:
        PANELS[tab](analysis)


def downloads(analysis: Analysed) -> None:
    """The whole analysis to take away; files are built when they are asked for."""

    def report() -> str:
        from crfviz.views.figures.offline import html_report  # Plotly is slow to load

        return html_report(analysis.record, analysis.tables)

    log, suspects = analysis.results.log, analysis.tables["suspects"]
    with st.container(horizontal=True):
        download("Report (HTML)", report, "model-errors.html", "text/html")
        download("Errors (CoNLL)", lambda: conll(log.first, log.sentences), "errors.conll")
        download("Fix list (CSV)", lambda: as_csv(suspects), "fix-list.csv", "text/csv")


def _chart(analysis: Analysed, table: str, make: Callable[..., Any]) -> None:
    """A figure of a table, its specification worked out once for a run."""
    spec = analysis.once(table, lambda: make(analysis.tables[table]).to_dict())
    st.vega_lite_chart(spec=spec, width="content", alt=f"{table}; the table beside it has it all")
