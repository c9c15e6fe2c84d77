"""An error analysis as charts, each with its table beside it, and as one HTML report."""

import html
from collections.abc import Callable, Mapping, Sequence

import altair as alt
import pandas as pd
import plotly.graph_objects as go

from crfviz.corpus.table import TableRow
from crfviz.corpus.tables.report import Record, Tables, as_text, notes
from crfviz.views.figures.lattice import LABEL_PIXELS, SHORTENED
from crfviz.views.figures.offline import figure_html, page_html
from crfviz.views.frames.errors import ABOUT, error_frame, formats, per_cents
from crfviz.views.theme import DIFFERS, GREY, INK, OF_TEXT, PALETTE, POSITIVE, READABLE

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


MOST_ROWS = 300  # of a table
SECTIONS: Mapping[str, Sequence[str]] = {
    "How wrong": ("tags", "confusion", "entity_schemes", "entity_kinds"),
    "How sure": ("ece", "calibration", "coverage"),
    "What the CRF buys": ("decoders", "oracle"),
    "Where": ("slices",),
    "Why": ("kinds", "tag_pairs", "weights", "transitions", "errors"),
    "Is it the gold?": ("suspects", "entity_suspects"),
    "Against another model": ("models", "disagreements"),
}  # the tables in the order of the page's tabs
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #14243a; background: #fff; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { border-bottom: 1px solid #d5d9df; padding: 0.15rem 0.6rem; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; max-height: 34rem; overflow-y: auto; }
pre { overflow-x: auto; }
"""


def html_report(record: Record, tables: Tables) -> str:
    """Return the HTML report; `crfviz.corpus.tables.report` makes record and tables."""
    title = f"Model errors: {record['model']} on {record['file']}"
    parts = [f"<h1>{html.escape(title)}</h1>", f"<pre>{html.escape(as_text(record))}</pre>"]
    if record.get("against"):
        both = f"First: {record['model']}; second: {record['against']}."
        parts.append(f"<p>{html.escape(both)}</p>")
    parts += [f"<p>{html.escape(note)}</p>" for note in notes(record)]
    library = True  # it goes in once, with the first figure
    for section, names in SECTIONS.items():
        present = [name for name in names if name in tables]
        if not present:
            continue
        parts.append(f"<h2>{html.escape(section)}</h2>")
        for name in present:
            parts.append(f"<h3>{html.escape(ABOUT[name])}</h3>")
            if name in FIGURES:
                parts.append(figure_html(FIGURES[name](tables[name]), name=name, library=library))
                library = False
            parts.append(_table(tables[name]))
    return page_html(title, "\n".join(parts), STYLE)


def _table(table: Sequence[TableRow]) -> str:
    if not table:
        return "<p>None.</p>"
    frame = error_frame(table[:MOST_ROWS])
    written = formats(frame)
    lines = ["<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in frame.columns) + "</tr>"]
    for _, row in frame.iterrows():
        cells = [_cell(row[column], written.get(column)) for column in frame.columns]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    cut = f"<p>The first {MOST_ROWS} of {len(table):,} rows.</p>" if len(table) > MOST_ROWS else ""
    return f"{cut}<div class='scroll' tabindex='0'><table>{''.join(lines)}</table></div>"


def _cell(value: object, written: str | None) -> str:
    if isinstance(value, str):
        return f"<td>{html.escape(value)}</td>"
    if pd.isna(value):  # type: ignore[call-overload]  # a number or None
        return "<td class='number'>–</td>"
    return f"<td class='number'>{html.escape((written or '{:,}').format(value))}</td>"


def _confusion(table: Sequence[TableRow]) -> go.Figure:
    wrong = [row for row in table if row["gold"] != row["predicted"]]
    figure = go.Figure(
        go.Heatmap(
            x=[html.escape(str(row["predicted"])) for row in wrong],
            y=[html.escape(str(row["gold"])) for row in wrong],
            z=[row["words"] for row in wrong],
            text=[row["words"] for row in wrong],
            texttemplate="%{text}",
            colorscale=[[0, "#f2f4f7"], [1, PALETTE[0]]],
            showscale=False,
        )
    )
    figure.update_layout(xaxis_title="predicted", yaxis_title="gold", height=560)
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(type="category")
    return _plain(figure)


def _calibration(table: Sequence[TableRow]) -> go.Figure:
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 100], y=[0, 100], mode="lines", name="as sure as right", line={"color": GREY}
    )
    for number, kind in enumerate(dict.fromkeys(str(row["of"]) for row in table)):
        rows = [row for row in table if row["of"] == kind]
        figure.add_scatter(
            x=per_cents(rows, "confidence"),
            y=per_cents(rows, "right"),
            mode="lines+markers",
            name=kind,
            marker={"symbol": number, "size": 9},
            line={"color": PALETTE[number]},
        )
    figure.update_layout(xaxis_title="mean probability, %", yaxis_title="right, %", height=420)
    return _plain(figure)


def _coverage(table: Sequence[TableRow]) -> go.Figure:
    shares = per_cents(table, "coverage"), per_cents(table, "words_right")
    figure = go.Figure(go.Scatter(x=shares[0], y=shares[1], mode="lines+markers"))
    figure.update_traces(line={"color": PALETTE[0]})
    figure.update_layout(xaxis_title="surest words kept, %", yaxis_title="right, %", height=360)
    return _plain(figure)


def _decoders(table: Sequence[TableRow]) -> go.Figure:
    value, low, high = (per_cents(table, f"words_right{end}") for end in ("", "_low", "_high"))
    figure = go.Figure(
        go.Scatter(
            x=value,
            y=[str(row["decoder"]) for row in table],
            mode="markers",
            marker={"color": DIFFERS, "size": 10},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [b - a for a, b in zip(value, high, strict=True)],
                "arrayminus": [a - b for a, b in zip(value, low, strict=True)],
            },
        )
    )
    figure.update_layout(xaxis_title="words right, %, with 95 % intervals", height=340)
    figure.update_yaxes(autorange="reversed")
    return _plain(figure)


def _plain(figure: go.Figure) -> go.Figure:
    figure.update_layout(
        template="plotly_white", margin={"l": 120, "r": 20, "t": 20, "b": 60}, width=860
    )
    return figure


FIGURES: Mapping[str, Callable[[Sequence[TableRow]], go.Figure]] = {
    "confusion": _confusion,
    "calibration": _calibration,
    "coverage": _coverage,
    "decoders": _decoders,
}  # those that stand above a table, by its name
