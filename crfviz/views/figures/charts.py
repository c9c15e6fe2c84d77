"""Altair charts of errors, calibration, costs and learning curves."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from crfviz.corpus.table import TableRow
from crfviz.corpus.tables.learning_curve import LearningCurve
from crfviz.views.frames.chains import LABEL_PIXELS, SHORTENED
from crfviz.views.frames.errors import per_cents
from crfviz.views.theme import DIFFERS, INK, OF_TEXT, PALETTE, POSITIVE, READABLE

Layered = alt.LayerChart | alt.FacetChart
SIDES = ("gold", "predicted")
CELL = "cell"  # the name of the selection in the confusion matrix
CHOSEN = "chosen"  # the name of the selection in the curve of a cost
# Opacity of the smallest and the largest value, over the background of the page.
CELLS = 0.15, 0.5
_UNSEEN = "\u200b"  # a character without width
_ROOM = 110  # pixels for the names of the tags
_SIDE = 24  # pixels of a cell


def vega_key(tag: str) -> str:
    """Return the name of a tag in charts: Vega keeps values as keys, and `__proto__` is none."""
    return f"{_UNSEEN}{tag}" if tag == "__proto__" else tag


def tag_of_key(key: str) -> str:
    return key.removeprefix(_UNSEEN) if key == vega_key("__proto__") else key


def confusion_chart(table: Sequence[TableRow], tags: Sequence[str]) -> Layered:
    """Return wrong words by gold tag (rows) and predicted tag (columns); a click selects.

    Args:
        table: "confusion" of `crfviz.corpus.tables.report.tables_of`; right words are left out.
        tags: all tags, in order.
    """
    wrong = [
        {"words": row["words"]} | {side: vega_key(str(row[side])) for side in SIDES}
        for row in table
        if row["gold"] != row["predicted"]
    ]
    used = {row[side] for row in wrong for side in SIDES}
    order = [key for key in map(vega_key, tags) if key in used]
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
    # A transparent cell on top receives the clicks; otherwise the number would.
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
    """Return the share right by mean probability of each bin, and how many words each has.

    The line marks equality. The chart is as wide as its container.
    """
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
    base = alt.Chart(data).encode(
        x=alt.X("confidence:Q", title="mean probability, %", scale=ends),
        y=alt.Y("right:Q", title="right, %", scale=ends),
        color=alt.Color("of:N", title=None, legend=alt.Legend(orient="top")),
        tooltip=["of:N", "confidence:Q", "right:Q", "count:Q"],
    )
    points = base.mark_line(point=alt.OverlayMarkDef(size=50)).encode(
        shape=alt.Shape("of:N", title=None)
    )
    counts = (
        alt.Chart(data[data["of"] == "words"])
        .mark_text(fontSize=13, color=OF_TEXT)
        .encode(x="confidence:Q", y=alt.value(-10), text=alt.Text("count:Q", format=","))
    )  # in a row above the chart, where no line crosses them
    chart: Layered = alt.layer(line, points, counts).properties(
        width="container", height=320, config=READABLE
    )
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
        .properties(width="container", height=320, config=READABLE)
    )
    return chart


def cost_curve_chart(table: Sequence[TableRow], now: float, name: str) -> Layered:
    """Return precision by recall along the values of a cost, with the value now and the best F1."""
    table = [row for row in table if row["precision"] is not None]
    best = max((float(row["f1"] or 0), row["value"]) for row in table)[1] if table else None
    data = pd.DataFrame(
        {
            "value": [row["value"] for row in table],
            **{each: per_cents(table, each) for each in ("recall", "precision", "f1")},
            "is": ["now" if row["value"] == now else "best F1" if row["value"] == best else ""
                   for row in table],
        }
    )  # fmt: skip
    base = alt.Chart(data).encode(
        x=alt.X("recall:Q", title="recall, %", scale=alt.Scale(zero=False)),
        y=alt.Y("precision:Q", title="precision, %", scale=alt.Scale(zero=False)),
        order="value:Q",
        tooltip=[
            alt.Tooltip("value:Q", title=f"cost of a {name}"),
            *(alt.Tooltip(f"{each}:Q", format=".2f") for each in ("precision", "recall", "f1")),
        ],
    )
    clicked = alt.selection_point(name=CHOSEN, fields=["value"], on="click")
    marks = {"now": ("circle", 260, DIFFERS), "best F1": ("triangle-up", 200, PALETTE[2])}
    shown = [
        base.transform_filter(alt.datum["is"] == what).mark_point(
            shape=shape, size=size, color=colour, strokeWidth=3
        )
        for what, (shape, size, colour) in marks.items()
    ]
    points = base.mark_point(filled=True, size=70, color=PALETTE[0]).add_params(clicked)
    chart: Layered = alt.layer(base.mark_line(color=PALETTE[0]), *shown, points).properties(
        width="container", height=320, config=READABLE
    )
    return chart


def curve_chart(curve: LearningCurve, earlier: Sequence[tuple[int, float]]) -> Layered:
    """Return a learning curve with its intervals, the expected gain, and earlier models."""
    low, high = curve.next.interval
    last, after = curve.points[-1], curve.sentences + curve.next.sentences
    rows: list[tuple[object, ...]] = [
        (p.sentences, p.score, *p.interval, "cross-validated") for p in curve.points
    ]
    rows.append((after, last.score + curve.next.gain, last.score + low, last.score + high, "next"))
    rows += [(number, value, None, None, "models so far") for number, value in earlier]
    columns = ["sentences", curve.metric, "from", "to", "what"]
    base = alt.Chart(pd.DataFrame(rows, columns=columns)).encode(
        x=alt.X("sentences:Q", title="sentences learnt from"),
        color=alt.Color("what:N", title=None, scale=alt.Scale(range=list(PALETTE[:3]))),
        shape=alt.Shape("what:N", title=None),
        tooltip=["what:N", "sentences:Q", alt.Tooltip(f"{curve.metric}:Q", format=".3f")],
    )
    y = alt.Y(f"{curve.metric}:Q", title=curve.metric, scale=alt.Scale(zero=False))
    bars = base.mark_rule().encode(y=alt.Y("from:Q", title=curve.metric), y2="to:Q")
    chart: alt.LayerChart = bars + base.mark_point(filled=True, size=70).encode(y=y)
    return chart.properties(width="container", height=240, config=READABLE)
