"""The measured figures of the models: as tables, and as a chart for each model and file."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from crfviz.corpus.tables.accuracy import DECODERS, TITLES
from crfviz.corpus.tables.report import Record
from crfviz.text.schemes import BIO
from crfviz.views.theme import OF_TEXT, READABLE

MEASURES = {
    "token_accuracy": "token accuracy",
    "sentence_accuracy": "sentence accuracy",
    "entity_f1": "entity F1",
}  # key in a record, and what people read
# From the documentation of the ingredient parser: its own data and code.
PUBLISHED = {
    ("greedy", "greedy"): {"token accuracy, %": 97.57, "sentence accuracy, %": 93.18, "times": 1.0},
    ("viterbi", "viterbi"): {
        "token accuracy, %": 97.67,
        "sentence accuracy, %": 94.08,
        "times": 12.0,
    },
}
PUBLISHED_DATA = "ingredient parser, published"
DIGITS = {
    "token accuracy, %": 2,
    "sentence accuracy, %": 2,
    "size, MB": 2,
    "training, s": 0,
    "times": 1,
    "decoding, µs a word": 1,
}  # to write
HEIGHT = 210  # pixels, of one chart with its axis


def evaluation_frame(evaluations: Mapping[str, Mapping[str, Record]]) -> pd.DataFrame:
    """Return one row for each model, file and decoder.

    Args:
        evaluations: records (`crfviz.corpus.tables.report`) by model and label of the file.

    Returns:
        Columns model, file, sentences, tokens, decoder, scheme of the tags (BIO where they are of
        none); for every measure of `MEASURES` its value
        and the bounds `<measure>_low` and `<measure>_high` of its 95 % interval, all in [0, 1] and
        NaN where there is none; invalid_bio, a count or NaN; ece in [0, 1].
    """
    rows = [
        _row(model, label, record, decoder)
        for model, records in evaluations.items()
        for label, record in records.items()
        for decoder in DECODERS
    ]
    bounds = [f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")]
    first = ["model", "file", "sentences", "tokens", "decoder", "scheme"]
    frame = pd.DataFrame(rows, columns=[*first, *bounds, "invalid_bio", "ece"])
    return frame.astype(dict.fromkeys([*bounds, "invalid_bio", "ece"], float))


def evaluation_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame for display: per cent, without columns that have no number."""
    table = frame[["model", "file", "decoder"]].copy()
    for measure, title in MEASURES.items():
        table[f"{title}, %"] = 100 * frame[measure]
    schemes = frame["scheme"][frame["invalid_bio"].notna()].unique()
    table[f"break {' or '.join(schemes)}"] = frame["invalid_bio"].astype("Int64")
    table["ECE, %"] = 100 * frame["ece"]
    return table.dropna(axis="columns", how="all")


def _row(model: str, label: str, record: Record, decoder: str) -> dict[str, object]:
    scores = record[decoder]
    row: dict[str, object] = {
        "model": model,
        "file": label,
        "sentences": record["sentences"],
        "tokens": record["tokens"],
        "decoder": TITLES[decoder],
        "scheme": record.get("tag_scheme") or BIO,
        "invalid_bio": scores["invalid_bio"],
        "ece": record["ece"],
    }
    for measure in MEASURES:
        low, high = scores[f"{measure}_interval"] or (None, None)
        row |= {measure: scores[measure], f"{measure}_low": low, f"{measure}_high": high}
    return row


def comparison_frame(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row for each way to train and decode, then the published ones.

    Args:
        report: the JSON of `models/upos-en-perceptron/comparison.json`.

    Returns:
        Columns for display; NaN without a published number. `times` is the training time relative
        to greedy training on the same data.

    Raises:
        KeyError, TypeError: the report is invalid.
    """
    rows = report["rows"]
    base = next(row["training_s"] for row in rows if row["trained"] == "greedy")
    ours = [
        {
            "data": f"{report['data']} test",
            "trained": row["trained"],
            "decoded": row["decoded"],
            "token accuracy, %": 100 * row["tokens"],
            "sentence accuracy, %": 100 * row["sentences"],
            "size, MB": row["size_mb"],
            "training, s": row["training_s"],
            "times": row["training_s"] / base,
            "decoding, µs a word": row["decoding_us"],
        }
        for row in rows
    ]
    published = [
        {"data": PUBLISHED_DATA, "trained": trained, "decoded": decoded, **figures}
        for (trained, decoded), figures in PUBLISHED.items()
    ]
    return pd.DataFrame([*ours, *published])


def decoder_charts(frame: pd.DataFrame, measure: str) -> dict[str, alt.LayerChart]:
    """Return a chart per model and file: every decoder's share with its 95 % interval.

    The charts are as wide as their container and have the same axis, so that models can be
    compared. Rows of `evaluation_frame` without the measure, a
    key of `MEASURES`, are left out.

    Returns:
        The charts by model and file, in the order of the frame; none without measurements.
    """
    shown = frame.dropna(subset=[measure])
    data = pd.DataFrame(
        {
            "panel": shown["model"] + " · " + shown["file"],
            "decoder": shown["decoder"],
            "share": 100 * shown[measure],
            "low": 100 * shown[f"{measure}_low"],
            "high": 100 * shown[f"{measure}_high"],
        }
    )
    ends = (data["low"].min(), data["high"].max())
    panels = data.groupby("panel", sort=False)
    return {str(name): _decoder_chart(rows, MEASURES[measure], ends) for name, rows in panels}


def _decoder_chart(data: pd.DataFrame, measure: str, ends: tuple[float, float]) -> alt.LayerChart:
    title = f"{measure}, %"
    decoders = alt.Y(
        "decoder:N",
        title=None,
        axis=alt.Axis(labelLimit=200, labelOverlap=False),
        scale=alt.Scale(domain=list(TITLES.values())),
    )
    colours = alt.Color("decoder:N", legend=None, scale=alt.Scale(domain=list(TITLES.values())))
    base = alt.Chart(data).encode(
        y=decoders,
        tooltip=[
            alt.Tooltip("panel:N", title="model and file"),
            alt.Tooltip("decoder:N"),
            alt.Tooltip("share:Q", title=title, format=".2f"),
            alt.Tooltip("low:Q", title="from", format=".2f"),
            alt.Tooltip("high:Q", title="to", format=".2f"),
        ],
    )
    axis = alt.Axis(tickCount=5)
    scale = alt.Scale(domain=ends, zero=False, nice=True)
    spread = alt.X("low:Q", title=title, axis=axis, scale=scale)
    interval = base.mark_rule(strokeWidth=2).encode(x=spread, x2="high:Q", color=colours)
    value = base.mark_point(filled=True, size=70, opacity=1).encode(x="share:Q", color=colours)
    number = base.mark_text(dy=-9, fontSize=14, color=OF_TEXT).encode(
        x="share:Q", text=alt.Text("share:Q", format=".1f")
    )
    chart = alt.LayerChart(layer=[interval, value, number])
    return chart.properties(height=HEIGHT, config=READABLE)
