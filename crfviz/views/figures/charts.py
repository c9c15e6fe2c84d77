"""Charts by Altair: an error analysis, each with its table beside it, and joint marginals."""

from collections.abc import Sequence
from functools import partial
from itertools import product

import altair as alt
import pandas as pd
from torch import Tensor

from crfviz.corpus.table import TableRow
from crfviz.views.frames.errors import per_cents
from crfviz.views.theme import DIFFERS, INK, OF_TEXT, PALETTE, POSITIVE, READABLE

LEAST = 0.005  # a change that two digits show
COLOURS = ["#f1f4f8", "#0072B2"]  # of 0 and 1
MOST_NUMBERED = 12  # columns in which every cell has its number
LABEL_PIXELS = 120  # of the name of a tag beside a heatmap
SHORTENED = (  # in Vega's language: long names often differ at their ends
    "length(datum.label) > 18 ? slice(datum.label, 0, 8) + '…' + slice(datum.label, -8) "
    ": datum.label"
)


def pair_frame(pairs: Tensor, tags: Sequence[str], trained: Tensor | None = None) -> pd.DataFrame:
    """Return the table of the heatmap: one row per pair of tags, the most probable first.

    Args:
        pairs: (K, K) joint probabilities, earlier word first.
        tags: K tag names.
        trained: (K, K) the same before the edits, where there are some.

    Returns:
        Columns first, second, probability; with `trained` also trained and change, which is "▲",
        "▼" or empty where two digits show none.
    """
    names = pd.DataFrame(product(tags, tags), columns=["first", "second"])
    frame = names.assign(probability=pairs.flatten().tolist())
    if trained is not None:
        frame["trained"] = trained.flatten().tolist()
        moved = frame["probability"] - frame["trained"]
        frame["change"] = ["▲" if by >= LEAST else "▼" if by <= -LEAST else "" for by in moved]
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def pair_heatmap(frame: pd.DataFrame, tags: Sequence[str], least: float = 0.0005) -> alt.LayerChart:
    """Return a heatmap of the frame of `pair_frame`: a cell per pair of tags.

    Tags with no pair of at least the `least` probability are left out; among many columns a 0.00
    is not written. An empty frame gives an empty chart.
    """
    heavy = frame[frame["probability"] >= least]
    rows = [tag for tag in tags if tag in set(heavy["first"])]
    columns = [tag for tag in tags if tag in set(heavy["second"])]
    shown = frame[frame["first"].isin(rows) & frame["second"].isin(columns)]
    ghosts = "change" in shown
    names = partial(alt.Axis, labelLimit=LABEL_PIXELS, labelExpr=SHORTENED)
    before = [alt.Tooltip("trained:Q", format=".6f")] if ghosts else []
    base = alt.Chart(shown).encode(
        x=alt.X(
            "second:N",
            scale=alt.Scale(domain=columns),
            title="later word",
            axis=names(orient="top", labelAngle=0),
        ),
        y=alt.Y(
            "first:N",
            scale=alt.Scale(domain=rows),
            title="earlier word",
            axis=names(),
        ),
        tooltip=["first:N", "second:N", alt.Tooltip("probability:Q", format=".6f"), *before],
    )
    cells = base.mark_rect().encode(
        color=alt.Color("probability:Q", scale=alt.Scale(domain=[0, 1], range=COLOURS), legend=None)
    )
    dark, some = alt.datum.probability > 0.45, alt.datum.probability >= LEAST
    ink = alt.condition(dark, alt.value("white"), alt.value("#14243a"))
    text = alt.Text("probability:Q", format=".2f")
    told = base if len(columns) <= MOST_NUMBERED else base.transform_filter(some)
    numbers = told.mark_text(fontSize=14).encode(text=text, color=ink)
    layers = cells + numbers
    if ghosts:
        marks = base.mark_text(fontSize=10, align="left", xOffset=18)
        layers += marks.encode(text="change:N", color=ink)
    chart: alt.LayerChart = layers.properties(height=alt.Step(28), config=READABLE)
    return chart


Layered = alt.LayerChart | alt.FacetChart
CELL = "cell"  # the name of the selection in the confusion matrix
# Opacity of the least and of the most: the page behind makes them light or dark, as its text is.
CELLS = 0.15, 0.5
_ROOM = 110  # pixels for the names of the tags, which the page takes from the cells
_SIDE = 24  # pixels of a cell


def confusion_chart(table: Sequence[TableRow], tags: Sequence[str]) -> Layered:
    """Return wrong words by gold tag (rows) and predicted tag (columns); a click selects.

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
    """Return the share of right words of every decoder with 95 % intervals."""
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
            alt.Tooltip("share:Q", title="token accuracy, %", format=".2f"),
            alt.Tooltip("low:Q", title="from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
        ],
    )
    scale = alt.Scale(zero=False, nice=True)
    spread = base.mark_rule(strokeWidth=2, color=PALETTE[0]).encode(
        x=alt.X("low:Q", title="token accuracy, %, with 95 % intervals", scale=scale), x2="high:Q"
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
    """Return the share right by mean probability of each bin; the line marks equality."""
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
    """Return the share right among the surest words, by how many are kept."""
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
