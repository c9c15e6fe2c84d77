"""Offline HTML by Plotly, which is slow to load: the report of an error analysis.

Nothing in these pages loads or sends anything. Letters: `T` tokens, `K` tags.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from datetime import date

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.corpus.table import Table, TableRow
from crfviz.corpus.tables.findings import findings, instructive
from crfviz.corpus.tables.report import Record, Tables, as_text, notes
from crfviz.taggers.answers import Answers
from crfviz.taggers.tagger import Tagger
from crfviz.views.explanation import explain_error
from crfviz.views.figures.thumbnail import still
from crfviz.views.formatting import count
from crfviz.views.frames.errors import ABOUT, IN_SIGHT, error_frame, formats, per_cents
from crfviz.views.theme import DIFFERS, GREY, PALETTE

QUIET = {
    "showSendToCloud": False,
    "displaylogo": False,
    "displayModeBar": False,
}  # no link to a company
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)

MAX_ROWS = 300  # of a table
SECTIONS: Mapping[str, Sequence[str]] = {
    "Accuracy": ("tags", "confusion", "entity_schemes", "entity_kinds"),
    "Calibration": ("ece", "calibration", "coverage", "sets"),
    "Decoders": ("decoders", "oracle", "costs"),
    "Slices": ("slices",),
    "Causes": ("kinds", "tag_pairs", "weights", "transitions", "errors"),
    "Label errors": ("suspects", "entity_suspects"),
    "Compare models": ("models", "disagreements"),
}  # the tables in the order of the page's tabs
TERMS = {
    "Run of wrong words": "neighbouring words whose predicted tags differ from gold",
    "Step": "from the tag of a word to that of the next one; START and END are steps, too",
    "Gap": "score of the predicted path minus that of the gold tags on the run, in nats",
    "Nat": "unit of scores: one nat more makes a path e times (2.72 times) as probable",
    "p(gold), p(predicted)": "probability of the tags of a run, given the sentence",
    "95 %": "intervals: bootstrap over sentences for F1, Wilson's for all other shares",
}
DECIDED = {
    "emission": "The emissions favour the wrong tags, the transitions do not.",
    "transition": "The transitions favour the wrong tags, the emissions do not.",
    "both": "Emissions and transitions favour the wrong tags.",
    "near tie": "The two paths are nearly tied.",
    "constraint": "A rule of the model forbids the gold tags.",
}  # by kind of error, `crfviz.chain.questions.triage`
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #14243a; background: #fff; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: 0.85rem; overflow-wrap: normal; }
th, td { border-bottom: 1px solid #d5d9df; padding: 0.15rem 0.6rem; text-align: left; }
td { max-width: 28rem; overflow-wrap: break-word; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow: auto; max-height: 34rem; }
.scroll > svg, figure svg { max-width: 100%; height: auto; }
figure { margin: 1.5rem 0; break-inside: avoid; }
summary { cursor: pointer; margin: 0.6rem 0; }
summary h2 { display: inline; font-size: 1.3rem; }
dt { font-weight: 600; }
pre { white-space: pre-wrap; }
@media print { .scroll { max-height: none; overflow: visible; } }
"""


def figure_html(figure: go.Figure, *, name: str, library: bool) -> str:
    """Return a figure as part of a page.

    Args:
        figure: the figure.
        name: a unique id in the page; Plotly's default is random, so pages would differ.
        library: whether to include Plotly's code of 4.8 MB; once a page.
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


def html_report(
    record: Record, tables: Tables, *, tagger: Tagger | None = None, made: date | None = None
) -> str:
    """Return the HTML report; `crfviz.corpus.tables.report` makes record and tables.

    Five sentences come first, then the most instructive errors, then all tables, folded.

    Args:
        record: the record of the evaluation.
        tables: its tables.
        tagger: draws the listed errors; without it, or with a file of predictions, they are text.
        made: the day of the evaluation.
    """
    title = f"Model errors: {record['model']} on {record['file']}"
    size = f"{count(record['sentences'], 'sentence')}, {count(record['tokens'], 'word')}"
    facts = [f"Model: {record['model']}", f"File: {record['file']}, {size}"]
    if made:
        facts.append(f"Date: {made.isoformat()}")
    if record.get("against"):
        facts.append(f"Compared with: {record['against']} (second)")
    parts = [f"<h1>{html.escape(title)}</h1>", f"<p>{html.escape(' · '.join(facts))}</p>"]
    parts.append(_list("ol", [*findings(record, tables)]))
    parts += [f"<p>{html.escape(note)}</p>" for note in notes(record)]
    parts += _instructive(instructive(tables["errors"]), tables["errors"], tagger)
    parts.append(_folded("All decoders", f"<pre>{html.escape(as_text(record))}</pre>"))
    library = True  # included once, with the first figure
    for section, names in SECTIONS.items():
        present = [name for name in names if name in tables]
        drawn = []
        for name in present:
            drawn.append(f"<h3>{html.escape(ABOUT[name])}</h3>")
            if name in FIGURES:
                figure = figure_html(FIGURES[name](tables[name]), name=name, library=library)
                drawn.append(f"<div class='scroll'>{figure}</div>")
                library = False
            drawn.append(_table(tables[name], IN_SIGHT.get(name)))
        if drawn:
            parts.append(_folded(section, "\n".join(drawn)))
    terms = "".join(
        f"<dt>{html.escape(term)}</dt><dd>{html.escape(text)}</dd>" for term, text in TERMS.items()
    )
    return page_html(title, "\n".join([*parts, f"<h2>Terms</h2><dl>{terms}</dl>"]), STYLE)


def _list(kind: str, texts: Sequence[str]) -> str:
    return f"<{kind}>{''.join(f'<li>{html.escape(text)}</li>' for text in texts)}</{kind}>"


def _folded(title: str, body: str) -> str:
    return f"<details><summary><h2>{html.escape(title)}</h2></summary>{body}</details>"


def _instructive(rows: Table, errors: Table, tagger: Tagger | None) -> list[str]:
    """Return a heading and a figure for each of the listed errors."""
    if not rows:
        return []
    parts = [f"<h2>{count(len(rows), 'instructive error')}</h2>"]
    for row in rows:
        place = f"Sentence {row['sentence']}, word {row['position']}"
        caption = f"{place}: {row['around']}: gold {row['gold']}, predicted {row['predicted']}."
        drawn = None if tagger is None else _drawn(row, errors, tagger)
        if drawn is not None:
            caption = f"{caption} {DECIDED[str(row['kind'])]} {drawn[1]}"
        picture = "" if drawn is None else drawn[0]
        parts.append(f"<figure>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>")
    return parts


def _drawn(row: TableRow, errors: Table, tagger: Tagger) -> tuple[str, str] | None:
    """Return the picture of an error's sentence, and a sentence on its first word.

    The words are those of the row's text. Where the tagger gives these other tags than the table,
    for example because a word has a blank, there is no picture.
    """
    if isinstance(tagger, Answers):
        return None
    words = str(row["text"]).split(" ")
    analysis: Analysis = analyse(tagger.potentials(words))
    if analysis.viterbi is None:
        return None
    gold = list(analysis.viterbi.path)
    for other in errors:
        if other["sentence"] == row["sentence"]:
            first = int(other["position"] or 0) - 1
            right, wrong = (str(other[side]).split(" ") for side in ("gold", "predicted"))
            run = slice(first, first + len(wrong))
            if [analysis.tags[tag] for tag in gold[run]] != wrong or not {*right} <= {*tagger.tags}:
                return None
            gold[run] = [analysis.tags.index(tag) for tag in right]
    at = int(row["position"] or 1) - 1
    return still(analysis, gold=gold), explain_error(analysis, gold, at)


def _table(table: Sequence[TableRow], in_sight: Sequence[str] | None) -> str:
    if not table:
        return "<p>None.</p>"
    frame = error_frame(table[:MAX_ROWS])
    frame = frame[[title for title in in_sight or frame.columns if title in frame]]
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
}  # charts above a table, by its name
