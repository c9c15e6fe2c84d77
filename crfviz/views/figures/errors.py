"""Figures of an error analysis for the page, by Altair; each has its table beside it."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from crfviz.corpus.table import TableRow
from crfviz.views.figures.pair import LABEL_PIXELS, SHORTENED
from crfviz.views.frames.errors import per_cents
from crfviz.views.theme import DIFFERS, INK, OF_TEXT, PALETTE, POSITIVE, READABLE

Layered = alt.LayerChart | alt.FacetChart

CELL = "cell"  # the name of the selection in the confusion matrix
# Opacity of the least and of the most: the page behind makes them light or dark, as its text is.
CELLS = 0.15, 0.5
_ROOM = 110  # pixels for the names of the tags, which the page takes from the cells
_SIDE = 24  # pixels of a cell


def confusion_chart(table: Sequence[TableRow], tags: Sequence[str]) -> Layered:
    """Wrong words by gold tag (rows) and predicted tag (columns); a click selects a cell.

    Args:
        table: "confusion" of `crfviz.corpus.tables.report.tables_of`; right words are left out.
        tags: all tags, in order.
    """
    wrong = [row for row in table if row["gold"] != row["predicted"]]
    used = {str(row[side]) for row in wrong for side in ("gold", "predicted")}
    order = [tag for tag in tags if tag in used]
    cell = alt.selection_point(name=CELL, fields=["gold", "predicted"], empty=False)
    scale = alt.Scale(domain=order, paddingInner=0.06)
    axis = alt.Axis(labelLimit=LABEL_PIXELS, labelOverlap=False, labelExpr=SHORTENED)
    base = alt.Chart(pd.DataFrame(wrong, columns=["gold", "predicted", "words"])).encode(
        x=alt.X("predicted:N", scale=scale, axis=axis, title="predicted"),
        y=alt.Y("gold:N", scale=scale, axis=axis, title="gold"),
        tooltip=["gold:N", "predicted:N", "words:Q"],
    )
    rects = base.mark_rect(color=POSITIVE).encode(
        fillOpacity=alt.FillOpacity("words:Q", scale=alt.Scale(range=list(CELLS)), legend=None),
    )
    numbers = base.mark_text(fontSize=14, color=OF_TEXT).encode(text="words:Q")
    # A clear cell on top takes the click: the number below it would swallow it.
    clicks = base.mark_rect(cursor="pointer", fillOpacity=0, color=DIFFERS, strokeWidth=2.5)
    clicks = clicks.encode(strokeOpacity=alt.condition(cell, alt.value(1), alt.value(0)))
    clicks = clicks.encode(stroke=alt.value(DIFFERS)).add_params(cell)
    side = max(4, len(order)) * _SIDE
    cells = alt.layer(rects, numbers, clicks)
    chart: Layered = cells.properties(width=side + _ROOM, height=side + _ROOM, config=READABLE)
    return chart


def decoders_chart(table: Sequence[TableRow]) -> Layered:
    """Words right by every decoder with 95 % intervals."""
    order = [str(row["decoder"]) for row in table]
    data = pd.DataFrame(
        {
            "decoder": order,
            "share": per_cents(table, "words_right"),
            "low": per_cents(table, "words_right_low"),
            "high": per_cents(table, "words_right_high"),
        }
    )
    base = alt.Chart(data).encode(
        y=alt.Y(
            "decoder:N",
            title=None,
            axis=alt.Axis(labelLimit=200),
            scale=alt.Scale(domain=order),
        ),
        tooltip=[
            "decoder:N",
            alt.Tooltip("share:Q", title="words right, %", format=".2f"),
            alt.Tooltip("low:Q", title="from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
        ],
    )
    scale = alt.Scale(zero=False, nice=True)
    spread = base.mark_rule(strokeWidth=2, color=PALETTE[0]).encode(
        x=alt.X("low:Q", title="words right, %, with 95 % intervals", scale=scale), x2="high:Q"
    )
    value = base.mark_point(filled=True, size=70, opacity=1, color=PALETTE[0]).encode(x="share:Q")
    number = base.mark_text(dy=-9, fontSize=14, color=OF_TEXT).encode(
        x="share:Q", text=alt.Text("share:Q", format=".2f")
    )
    chart: Layered = alt.layer(spread, value, number).properties(
        width=420, height=240, config=READABLE
    )
    return chart


def calibration_chart(table: Sequence[TableRow]) -> Layered:
    """Share right by mean probability of each bin; the line is where both are equal."""
    data = pd.DataFrame(
        {
            "of": [str(row["of"]) for row in table],
            "confidence": per_cents(table, "confidence"),
            "right": per_cents(table, "right"),
            "count": [row["count"] for row in table],
        }
    )
    ends = alt.Scale(domain=[0, 100])
    line = (
        alt.Chart(pd.DataFrame({"confidence": [0, 100], "right": [0, 100]}))
        .mark_line(strokeDash=[4, 4], color=INK)
        .encode(x=alt.X("confidence:Q"), y=alt.Y("right:Q"))
    )
    points = (
        alt.Chart(data)
        .mark_line(point=alt.OverlayMarkDef(size=50))
        .encode(
            x=alt.X("confidence:Q", title="mean probability, %", scale=ends),
            y=alt.Y("right:Q", title="right, %", scale=ends),
            color=alt.Color("of:N", title=None, legend=alt.Legend(orient="top")),
            shape=alt.Shape("of:N", title=None),
            tooltip=["of:N", "confidence:Q", "right:Q", "count:Q"],
        )
    )
    chart: Layered = alt.layer(line, points).properties(width=300, height=240, config=READABLE)
    return chart


def coverage_chart(table: Sequence[TableRow]) -> alt.Chart:
    """Share right among the surest words, by how many are kept."""
    data = pd.DataFrame(
        {
            "coverage": per_cents(table, "coverage"),
            "right": per_cents(table, "words_right"),
        }
    )
    chart: alt.Chart = (
        alt.Chart(data)
        .mark_line(point=True, color=PALETTE[0])
        .encode(
            x=alt.X("coverage:Q", title="surest words kept, %"),
            y=alt.Y("right:Q", title="right, %", scale=alt.Scale(zero=False)),
            tooltip=["coverage:Q", alt.Tooltip("right:Q", format=".2f")],
        )
        .properties(width=300, height=240, config=READABLE)
    )
    return chart
