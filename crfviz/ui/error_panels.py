"""The five questions of the page Model errors, each with its figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from crfviz.chain.triage import KINDS, NEAR_TIE
from crfviz.corpus.error_totals import conll
from crfviz.corpus.slices import dimensions_of, slice_table
from crfviz.corpus.tables import Table, as_csv
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.ui.error_runs import Analysed
from crfviz.ui.error_tables import show_table
from crfviz.ui.scenario import bound_view
from crfviz.views.error_figures import (
    CELL,
    calibration_chart,
    confusion_chart,
    coverage_chart,
    decoders_chart,
)

ANY = "any"
ABOUT_KINDS = (
    "An error is a run of wrong words. *emission*: the words speak for the wrong tags, the steps "
    "for gold · *transition*: the other way round · *both* · *near tie*: a gap below "
    f"{NEAR_TIE} nats · *constraint*: gold is forbidden. The smallest change: every score of that "
    "kind moved by so much makes gold win here, and less does not."
)


def how_wrong(found: Analysed) -> None:
    """Scores of every tag, confusion with the errors of a cell, and calibration."""
    tables = found.tables
    left, right = st.columns([1, 1.25])
    with left:
        show_table("tags", tables["tags"])
        for name in ("entity_kinds", "entity_schemes"):
            if name in tables:
                show_table(name, tables[name])
    wrong = [row for row in tables["confusion"] if row["gold"] != row["predicted"]]
    pairs: list[Mapping[str, str]] = []
    with right:
        st.markdown("**Wrong words by gold and predicted tag**")
        if wrong:
            event = st.altair_chart(
                confusion_chart(wrong, found.results.tagger.tags),
                on_select="rerun",
                key="errors.confusion",
                width="content",
                alt="Confusion matrix; the expander below has its table",
            )
            pairs = event["selection"].get(CELL, [])
            st.caption("Click a cell to list its errors below; the tab Why filters by keyboard.")
        else:
            st.success("No word is wrong.")
    chosen = {(pair["gold"], pair["predicted"]) for pair in pairs}
    if chosen:
        names = ", ".join(f"{gold} as {predicted}" for gold, predicted in sorted(chosen))
        _errors(found, lambda pairs: bool(chosen & set(pairs)), title=f"Errors: {names}")
    with st.expander("The matrix as a table"):
        show_table("confusion", tables["confusion"])
    first, second = st.columns(2)
    with first:
        st.altair_chart(
            calibration_chart(tables["calibration"]), width="content", alt="calibration"
        )
        show_table("ece", tables["ece"])
        show_table("calibration", tables["calibration"])
    with second:
        st.altair_chart(coverage_chart(tables["coverage"]), width="content", alt="coverage")
        show_table("coverage", tables["coverage"])


def what_it_buys(found: Analysed) -> None:
    """Every decoder on the same sentences."""
    show_table("decoders", found.tables["decoders"])
    left, right = st.columns(2)
    with left:
        st.altair_chart(decoders_chart(found.tables["decoders"]), width="content", alt="decoders")
        st.caption(
            "Search error: the path scores less than the best. The greedy ones work on scores as "
            "trained, the others with the model's rules. p: McNemar's exact test against Viterbi."
        )
    with right:
        show_table("oracle", found.tables["oracle"])


def where(found: Analysed) -> None:
    """Parts of the corpus, one dimension or two crossed."""
    names = [ANY, *dimensions_of(found.results)]
    with st.container(horizontal=True):
        first = bound_view(st.segmented_control, "Parts by", "part", names, ANY, format_func=_any)
        second = bound_view(
            st.segmented_control, "crossed with", "cross", names, ANY, format_func=_no
        )
    dimensions = [name for name in dict.fromkeys([first, second]) if name != ANY]
    table = slice_table(found.results, dimensions) if dimensions else found.tables["slices"]
    show_table("slices", table)
    st.caption("Repair wins: by how much the share of right words would rise without these errors.")
    if found.results.seen is None:
        st.caption(
            f"Slices by words seen in training: not available, for the folder of this model has no "
            f"`{LEXICON_FILE}`. `python -m crfviz lexicon` writes one from the training files."
        )


def why(found: Analysed) -> None:
    """Errors by what is to blame, and the list of them."""
    st.caption(ABOUT_KINDS)
    left, middle, right = st.columns([1, 1.2, 1.2])
    with left:
        show_table("kinds", found.tables["kinds"])
    with middle:
        show_table("weights", found.tables["weights"])
    with right:
        show_table("tag_pairs", found.tables["tag_pairs"])
    _five(found.tables["weights"])
    used = [tag for tag in found.results.tagger.tags if tag in _tags(found)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = bound_view(st.selectbox, "Kind", "kind", [ANY, *KINDS], ANY)
        gold = bound_view(st.selectbox, "Gold", "gold", [ANY, *used], ANY)
        predicted = bound_view(st.selectbox, "Predicted", "predicted", [ANY, *used], ANY)

    def wanted(pairs: Sequence[tuple[str, str]]) -> bool:
        return any(gold in (ANY, a) and predicted in (ANY, b) for a, b in pairs)

    _errors(found, wanted, kind=kind)
    show_table("transitions", found.tables["transitions"])


def is_it_the_gold(found: Analysed) -> None:
    """Errors in the order in which gold should be looked at."""
    st.caption(
        "Where the model is sure of something else, either it or the annotator is wrong: the least "
        "probable gold comes first. The list is where to look, not what to change."
    )
    for name in ("entity_suspects", "suspects"):
        if name in found.tables:
            show_table(name, found.tables[name], links=found.links[name])


PANELS: Mapping[str, Callable[[Analysed], None]] = {
    "How wrong": how_wrong,
    "What the CRF buys": what_it_buys,
    "Where": where,
    "Why": why,
    "Is it the gold?": is_it_the_gold,
}


def downloads(found: Analysed) -> None:
    """The whole analysis to take away; files are built when they are asked for."""

    def report() -> str:
        from crfviz.views.error_report import html_report  # Plotly is slow to load

        return html_report(found.record, found.tables)

    def columns() -> str:
        return conll(found.results.log.first, found.results.log.sentences)

    with st.container(horizontal=True):
        for label, data, name, mime in (
            ("Report (HTML)", report, "model-errors.html", "text/html"),
            ("Errors (CoNLL)", columns, "errors.conll", "text/plain"),
            (
                "Fix list (CSV)",
                lambda: as_csv(found.tables["suspects"]),
                "fix-list.csv",
                "text/csv",
            ),
        ):
            st.download_button(label, data, file_name=name, mime=mime, on_click="ignore")


def _errors(
    found: Analysed,
    wanted: Callable[[Sequence[tuple[str, str]]], bool],
    *,
    kind: str = ANY,
    title: str = "",
) -> None:
    """The errors with a wanted pair of tags, each with its link."""
    kept = [
        index
        for index, error in enumerate(found.results.log.first)
        if kind in (ANY, error.triage.kind)
        and wanted(list(zip(error.gold, error.predicted, strict=True)))
    ]
    table: Table = [found.tables["errors"][index] for index in kept]
    title = f"{title or 'Errors'} ({len(kept):,} of {len(found.results.log.first):,})"
    show_table("errors", table, links=[found.links["errors"][index] for index in kept], title=title)


def _five(weights: Table) -> None:
    if weights:
        top = weights[:5]
        share = 100 * float(top[-1]["share_so_far"] or 0)
        names = ", ".join(f"{row['from']} → {row['to']}" for row in top)
        st.caption(
            f"{len(top)} transition weights are behind {share:.0f} % of the errors: {names}."
        )


def _tags(found: Analysed) -> set[str]:
    return {tag for error in found.results.log.first for tag in (*error.gold, *error.predicted)}


def _any(name: str) -> str:
    return "all at once" if name == ANY else name


def _no(name: str) -> str:
    return "nothing" if name == ANY else name
