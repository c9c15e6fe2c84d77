"""Offline HTML by Plotly, which is slow to load: the report of an error analysis.

Nothing in these pages loads or sends anything. Letters: `T` tokens, `K` tags.
"""

import html
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio

from crfviz.corpus.table import TableRow
from crfviz.corpus.tables.report import Record, Tables, as_text, notes
from crfviz.views.frames.errors import ABOUT, error_frame, formats, per_cents
from crfviz.views.theme import DIFFERS, GREY, PALETTE

QUIET = {
    "showSendToCloud": False,
    "displaylogo": False,
    "displayModeBar": False,
}  # no button leads to a company
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)

MAX_ROWS = 300  # of a table
SECTIONS: Mapping[str, Sequence[str]] = {
    "Accuracy": ("tags", "confusion", "entity_schemes", "entity_kinds"),
    "Calibration": ("ece", "calibration", "coverage"),
    "Decoders": ("decoders", "oracle"),
    "Slices": ("slices",),
    "Causes": ("kinds", "tag_pairs", "weights", "transitions", "errors"),
    "Label errors": ("suspects", "entity_suspects"),
    "Compare models": ("models", "disagreements"),
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


def figure_html(figure: go.Figure, *, name: str, library: bool) -> str:
    """Return a figure as part of a page.

    Args:
        figure: to be drawn.
        name: of its own in the page; Plotly would draw one by lot, and no page be like another.
        library: whether Plotly's code of 4.8 MB goes in with it; once a page.
    """
    text: str = pio.to_html(
        figure, config=QUIET, include_plotlyjs=library, full_html=False, div_id=f"figure-{name}"
    )
    return text


def page_html(title: str, body: str, style: str = "") -> str:
    """Return a page whose content policy allows no request.

    Args:
        title: plain text.
        body: HTML.
        style: CSS.
    """
    head = (
        "<meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(title)}</title><style>{style}</style>"
    )
    return f"<!DOCTYPE html>\n<html lang='en'><head>{head}</head><body>\n{body}\n</body></html>\n"


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
    frame = error_frame(table[:MAX_ROWS])
    written = formats(frame)
    lines = ["<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in frame.columns) + "</tr>"]
    for _, row in frame.iterrows():
        cells = [_cell(row[column], written.get(column)) for column in frame.columns]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    cut = f"<p>The first {MAX_ROWS} of {len(table):,} rows.</p>" if len(table) > MAX_ROWS else ""
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
    figure.update_layout(xaxis_title="token accuracy, %, with 95 % intervals", height=340)
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
