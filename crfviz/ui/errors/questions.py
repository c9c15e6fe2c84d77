"""The views of the page Model errors, each with its charts and tables.

Only the open view is drawn. It is a fragment, so a click in it does not redraw the whole page.
"""

from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any, Literal

import streamlit as st

from crfviz.corpus.counts.run_counts import dimensions_of
from crfviz.corpus.run.results import RULE
from crfviz.corpus.table import Table, as_csv
from crfviz.corpus.tables.errors import conll, slice_table
from crfviz.corpus.tables.evaluation import KINDS, comparison_tables
from crfviz.corpus.tables.report import rule_note
from crfviz.taggers.answers import Answers
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.ui import cached
from crfviz.ui.errors.added_layer import added_layer
from crfviz.ui.errors.error_analysis import ExplorerLinks, Record
from crfviz.ui.errors.label_check import is_it_the_gold
from crfviz.ui.errors.lists import ANY, show_table, why, wrong_words
from crfviz.ui.errors.risk import what_it_costs
from crfviz.ui.errors.runs import Analysed, analysed
from crfviz.ui.errors.source import mapped_sentences
from crfviz.ui.panels.rules import rule_box
from crfviz.ui.session.bound_widgets import bound_buttons, bound_select, bound_tabs
from crfviz.ui.session.scenario_state import publish, scenario
from crfviz.ui.widgets import download, guarded
from crfviz.ui.words import plain
from crfviz.views.figures.charts import calibration_chart, coverage_chart, decoders_chart
from crfviz.views.formatting import per_cent

TABS = {  # titles of the views, by their names in links
    "How wrong": "Accuracy",
    "How sure": "Calibration",
    "What the CRF buys": "Decoders",
    "What it costs": "Risk",
    "Where": "Slices",
    "Why": "Causes",
    "Is it the gold?": "Label errors",
    "Two models": "Compare models",
}
NEED_SCORES = ("How sure", "What the CRF buys", "What it costs", "Why", "Is it the gold?")


def how_wrong(analysis: Analysed) -> None:
    """Draw precision, recall and F1 by tag, and the confusion matrix."""
    tables = analysis.tables
    left, right = st.columns([1, 1.25])
    with left:
        of_file = isinstance(analysis.results.tagger, Answers)
        show_table("tags", tables["tags"], title="Each tag, with 95 % intervals" if of_file else "")
        if "entity_kinds" in tables:
            show_table("entity_kinds", tables["entity_kinds"])
    with right:
        wrong_words(analysis)
    if "entity_schemes" in tables:
        show_table("entity_schemes", tables["entity_schemes"])
    with st.expander("Matrix as a table"):
        show_table("confusion", tables["confusion"])


def how_sure(analysis: Analysed) -> None:
    """Draw the calibration of the model's probabilities, and accuracy by coverage."""
    tables = analysis.tables
    first, second = st.columns(2)
    with first:
        _chart(analysis, "calibration", calibration_chart, width="stretch")
        st.caption("The numbers above the picture: words in each bin.")
        show_table("ece", tables["ece"])
        show_table("calibration", tables["calibration"])
    with second:
        _chart(analysis, "coverage", coverage_chart, width="stretch")
        show_table("coverage", tables["coverage"])


def what_it_buys(analysis: Analysed) -> None:
    """Draw a comparison of all decoders, the effect of a rule, and the gain of a CRF layer."""
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
    added_layer(analysis)


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
    """Draw slices of the corpus by one or two dimensions."""
    names = {name: name for name in dimensions_of(analysis.results)}
    with st.container(horizontal=True):
        first = bound_buttons("Slices by", "part", {ANY: "all at once", **names}, ANY)
        second = bound_buttons("crossed with", "cross", {ANY: "nothing", **names}, ANY)
    dimensions = [name for name in dict.fromkeys([first, second]) if name != ANY]
    table = slice_table(analysis.results, dimensions) if dimensions else analysis.tables["slices"]
    title = f"Slices by {' and '.join(dimensions)}, largest gain first" if dimensions else ""
    show_table("slices", table, title=title)
    st.caption("Repair wins: how much token accuracy would rise without these errors.")
    if analysis.results.seen is None and not isinstance(analysis.results.tagger, Answers):
        st.caption(
            f"Slices by words seen in training: not available, for the folder of this model has no "
            f"`{LEXICON_FILE}`. `python -m crfviz lexicon` writes one from the training files."
        )


def two_models(analysis: Analysed) -> None:
    """Draw a comparison with another model on the same sentences."""
    name = analysis.results.tagger.name
    others = [other for other in cached.models() if other != name and "/" not in other]
    if not others:
        st.info("There is no other model to compare with.")
        return
    tags = set(analysis.results.tagger.tags)
    ready = [other for other in others if other in cached.ready_models()]
    known = [(other, cached.known_tagger(other)) for other in ready]
    of_file = isinstance(analysis.results.tagger, Answers)
    alike = [other for other, tagger in known if tagger and set(tagger.tags) == tags]
    likely = [scenario().model, *alike, *others] if of_file else [*alike, *others]
    first = next(other for other in likely if other in others)
    label = f"{plain(name)} against"
    second = bound_select(label, "against", others, first, width=360)
    publish()
    tagger = cached.tagger(second)
    if set(tagger.tags) != tags and not (of_file and tags <= set(tagger.tags)):
        st.caption(
            plain(
                f"{second} has other tags than {name}: each is judged by the file in its own tags."
            )
        )
    sentences = mapped_sentences(tagger, analysis.source)
    other = analysed(tagger, analysis.source, sentences) if sentences else None
    if other is None:
        return
    tables = analysis.once(
        f"against {other.key}",
        lambda: comparison_tables(analysis.results, other.results, analysis.source.sentences),
    )
    show_table("models", tables["models"], title=f"First {name}, second {second}")
    st.caption(
        "Win: the first is right and the second wrong; loss: the other way round. p: McNemar's "
        "exact test. Gold entities count as right where type and both ends are found."
    )
    _sentences(analysis, other, tables["disagreements"])


@st.fragment
@guarded("The sentences of two models")
def _sentences(analysis: Analysed, other: Analysed, table: Table) -> None:
    """Draw the sentences on which the models differ, with explorer links for both models."""
    kind = bound_buttons("Sentences", "kind_of", [ANY, *KINDS], ANY)
    publish()
    kept = [index for index, row in enumerate(table) if kind in (ANY, row["kind"])]
    title = f"Sentences: {kind} ({len(kept):,} of {len(table):,})"
    names = [side.results.tagger.name for side in (analysis, other)]
    links: dict[str, list[str | None]] = {}
    for name, side in zip(names, (analysis, other), strict=True):
        every = side.once(f"links {analysis.key} {other.key}", partial(_links, side, table))
        links[name] = [every[index] for index in kept]
    show_table("disagreements", [table[index] for index in kept], links=links, title=title)


def _links(side: Analysed, table: Table) -> list[str | None]:
    """Return explorer links to the first wrong word of each sentence."""
    links = side.opener or ExplorerLinks(side.results.tagger, dict(enumerate(side.sentences)))
    places = ((int(row["sentence"] or 0), int(row["position"] or 0)) for row in table)
    return [links.to(number - 1, position - 1) for number, position in places]


PANELS: Mapping[str, Callable[[Analysed], None]] = {
    "How wrong": how_wrong,
    "How sure": how_sure,
    "What the CRF buys": what_it_buys,
    "What it costs": what_it_costs,
    "Where": where,
    "Why": why,
    "Is it the gold?": is_it_the_gold,
    "Two models": two_models,
}


@st.fragment
@guarded("This part")
def questions(analysis: Analysed) -> None:
    """Draw the tabs of the views, and the open view."""
    tab = bound_tabs("View", "tab", TABS, next(iter(TABS)))
    publish()  # a fragment run does not reach app.py, which usually publishes the URL
    # One container per view, so that the old view disappears before the new one is drawn.
    places = {name: st.container() if name == tab else st.empty() for name in PANELS}
    with places[tab]:
        if tab in NEED_SCORES and isinstance(analysis.results.tagger, Answers):
            st.info(
                f"{TABS[tab]} needs scores, and a file of predictions has tags alone. "
                "Choose the model instead of the predictions above."
            )
        else:
            PANELS[tab](analysis)


def downloads(analysis: Analysed) -> None:
    """Draw the download buttons; each file is built on request."""

    def report() -> str:
        from crfviz.views.figures.offline import html_report  # Plotly is slow to load

        tagger = analysis.results.tagger
        return html_report(analysis.record, analysis.tables, tagger=tagger, made=date.today())

    log, suspects = analysis.results.log, analysis.tables.get("suspects")
    with st.container(horizontal=True):
        download("Report (HTML)", report, "model-errors.html", "text/html")
        download("Errors (CoNLL)", lambda: conll(log.first, log.sentences), "errors.conll")
        if suspects is not None:
            download("Fix list (CSV)", lambda: as_csv(suspects), "fix-list.csv", "text/csv")


def _chart(
    analysis: Analysed,
    table: str,
    make: Callable[..., Any],
    width: Literal["content", "stretch"] = "content",
) -> None:
    """Draw the chart of a table; its specification is computed once per run."""
    spec = analysis.once(table, lambda: make(analysis.tables[table]).to_dict())
    st.vega_lite_chart(spec=spec, width=width, alt=f"{table}; the table beside it has the numbers")
