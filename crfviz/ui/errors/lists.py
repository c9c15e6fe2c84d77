"""Tables of an error analysis with CSV downloads, and lists of errors."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd
import streamlit as st

from crfviz.chain.questions.triage import KINDS, NEAR_TIE
from crfviz.corpus.table import Table, as_csv
from crfviz.ui.errors.error_navigation import opened_from, place_in
from crfviz.ui.errors.runs import Analysed
from crfviz.ui.session.bound_widgets import bound_filter, bound_flag, bound_select
from crfviz.ui.session.scenario_state import publish
from crfviz.ui.state.link_text import names_text
from crfviz.ui.widgets import download, guarded, narrowed
from crfviz.ui.words import plain
from crfviz.views.figures.charts import CELL, confusion_chart, tag_of_key
from crfviz.views.formatting import per_cent
from crfviz.views.frames.chains import plain_table
from crfviz.views.frames.errors import ABOUT, AROUND, IN_SIGHT, error_frame, formats

TALLEST = 360  # maximum height of a table, in pixels
WIDTHS = {AROUND: 360, "gold": 120, "predicted": 120}  # pixels, in lists of errors
MAX_ROWS = 100  # rows of a table with links, until the reader switches all rows on
LAZY_FROM = 1000  # rows; longer tables load while scrolling
Links = Mapping[str, Sequence[str | None]]  # by column name
ANY = "any"  # option of a filter: no restriction
NO_CELL = "Click a cell, or choose one here, to list its errors"
BY_KEYBOARD = "A plain table whose links Tab and Enter reach; the other table is a canvas."
ABOUT_KINDS = (
    "An error is a run of wrong words. *emission*: the emissions favour the wrong tags, the "
    "transitions favour gold · *transition*: the opposite · *both* · *near tie*: a gap below "
    f"{NEAR_TIE} nats · *constraint*: gold is forbidden. The smallest change: every score of that "
    "kind moved by so much makes gold win here, and less does not."
)


def show_table(
    name: str,
    table: Table,
    *,
    links: Links | None = None,
    title: str = "",
    view: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Draw a table with its title and a CSV download; link columns come first.

    Wide tables show only the columns in `IN_SIGHT`; the menu of the table has the others.

    Args:
        name: name of the table.
        table: the rows.
        links: URLs of the explorer for each row, by the title of their column.
        title: by default the title in `ABOUT`.
        view: further page options, which restore a list when the reader goes back.
    """
    title = title or ABOUT[name]
    openings = {
        column: opened_from(table, targets, view) for column, targets in (links or {}).items()
    }
    came = next((row for row in map(place_in, openings.values()) if row is not None), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(title)}**", width="content")
        if table:
            download(
                "CSV",
                lambda: as_csv(table),
                f"{name}.csv",
                "text/csv",
                key=f"errors.csv.{name}",
                type="tertiary",
            )
        as_lines = bool(table and links) and bound_flag(
            st.toggle, "by keyboard", f"plain_{name}", help=BY_KEYBOARD
        )
        every = not links or _all_of(name, len(table)) or (came or 0) >= MAX_ROWS
        shown = len(table) if every else MAX_ROWS
    if not table:
        st.caption("None.")
        return
    frame = error_frame(table[:shown])
    columns = narrowed(frame) | {
        column: st.column_config.NumberColumn(format=f"%{written[2:-1]}")  # "{:.2f}": "%.2f"
        for column, written in formats(frame).items()
    }
    if AROUND in frame:
        frame[AROUND] = [f"▸ {t}" if row == came else t for row, t in enumerate(frame[AROUND])]
        columns |= {title: st.column_config.Column(width=WIDTHS[title]) for title in WIDTHS}
    order = [title for title in IN_SIGHT.get(name, frame.columns) if title in frame]
    for place, (column, addresses) in enumerate(openings.items()):
        frame.insert(place, column, pd.Series(addresses[:shown], dtype=object))
        columns[column] = st.column_config.LinkColumn(display_text="open", width=70)
    if as_lines:
        written = formats(frame)
        st.html(plain_table(frame[[*openings, *order]], list(openings), written, came))
        return
    with st.container(key=f"list-{name}" if came is None else f"row-{name}-{came}"):
        st.dataframe(
            frame,
            hide_index=True,
            column_config=columns,
            column_order=[*openings, *order],
            height=min(TALLEST, 38 + 35 * len(frame)),
            lazy=True if len(frame) > LAZY_FROM else None,
        )


def _all_of(name: str, rows: int) -> bool:
    """Return whether to show all rows; with more than `MAX_ROWS`, draw a toggle that decides."""
    if rows <= MAX_ROWS:
        return True
    every_row = bound_flag(st.toggle, f"all {rows:,} rows", f"all_{name}")
    if not every_row:
        st.caption(f"Only these {MAX_ROWS} are sorted; the CSV has all.")
    return every_row


@st.fragment
@guarded("The confusion matrix")
def wrong_words(analysis: Analysed) -> None:
    """Draw the confusion matrix, and the errors of the selected cells."""
    wrong = [row for row in analysis.tables["confusion"] if row["gold"] != row["predicted"]]
    st.markdown("**Wrong words by gold and predicted tag**")
    if not wrong:
        st.success("No word is wrong.")
        return
    tags = analysis.results.tagger.tags
    spec = analysis.once("confusion", lambda: confusion_chart(wrong, tags).to_dict())
    event = st.vega_lite_chart(
        spec=spec,
        on_select="rerun",
        key="errors.confusion",
        width="content",
        alt="Confusion matrix; the expander below has its table",
    )
    pairs: Sequence[Mapping[str, str]] = event["selection"].get(CELL, [])
    chosen = {
        (tag_of_key(pair["gold"]), tag_of_key(pair["predicted"])) for pair in pairs
    } or _cell_by_keyboard(wrong)
    if chosen:
        names = ", ".join(f"{gold} as {predicted}" for gold, predicted in sorted(chosen))
        view = {"cell": names_text(*next(iter(chosen)))} if len(chosen) == 1 else {}
        title = f"Errors: {names}"
        _errors(analysis, lambda pairs: bool(chosen & set(pairs)), title=title, view=view)


def _cell_by_keyboard(wrong: Table) -> set[tuple[str, str]]:
    """Draw a select box of cells for the keyboard; return the chosen cell as a set."""
    cells = {
        names_text(str(row["gold"]), str(row["predicted"])): (
            str(row["gold"]),
            str(row["predicted"]),
        )
        for row in wrong
    }
    names = {name: plain(f"{gold} as {tag}") for name, (gold, tag) in cells.items()}
    chosen = bound_select(
        "Errors of a cell", "cell", {"": NO_CELL, **names}, "", label_visibility="collapsed"
    )
    publish()
    return {cells[chosen]} if chosen else set()


def why(analysis: Analysed) -> None:
    """Draw tables of errors by cause, and the list of errors."""
    st.caption(ABOUT_KINDS)
    names = ("kinds", "weights", "tag_pairs")
    for name, column in zip(names, st.columns([1, 1.2, 1.2]), strict=True):
        with column:
            show_table(name, analysis.tables[name])
    _five(analysis.tables["weights"])
    _filtered(analysis)
    show_table("transitions", analysis.tables["transitions"])


@st.fragment
@guarded("The list of errors")
def _filtered(analysis: Analysed) -> None:
    """Draw filters by kind, gold tag and predicted tag, and the list of matching errors."""
    errors = analysis.results.log.first
    known = {tag for error in errors for tag in (*error.gold, *error.predicted)}
    used = [tag for tag in analysis.results.tagger.tags if tag in known]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = bound_select("Kind", "kind", [ANY, *KINDS], ANY)
        gold = bound_filter("Gold", "gold", used)
        predicted = bound_filter("Predicted", "predicted", used)
    publish()

    def wanted(pairs: Sequence[tuple[str, str]]) -> bool:
        return any(gold in (None, a) and predicted in (None, b) for a, b in pairs)

    _errors(analysis, wanted, kind=kind)


def _errors(
    analysis: Analysed,
    wanted: Callable[[Sequence[tuple[str, str]]], bool],
    *,
    kind: str = ANY,
    title: str = "",
    view: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Draw the errors of a kind whose gold and predicted tags are `wanted`, each with a link."""
    kept = [
        index
        for index, error in enumerate(analysis.results.log.first)
        if kind in (ANY, error.triage.kind)
        and wanted(list(zip(error.gold, error.predicted, strict=True)))
    ]
    table: Table = [analysis.tables["errors"][index] for index in kept]
    title = f"{title or 'Errors'} ({len(kept):,} of {len(analysis.results.log.first):,})"
    links = [analysis.links["errors"][index] for index in kept]
    show_table("errors", table, links={"explore": links}, title=title, view=view)


def _five(weights: Table) -> None:
    if weights:
        top = weights[:5]
        share = per_cent(float(top[-1]["share_so_far"] or 0), 0)
        names = ", ".join(f"{row['from']} → {row['to']}" for row in top)
        st.caption(plain(f"{len(top)} transition weights are behind {share} of the runs: {names}."))
