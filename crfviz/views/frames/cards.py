"""Model cards and measured figures as text and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from crfviz.corpus.tables.decoders import DECODERS, TITLES
from crfviz.corpus.tables.report import Record

MEASURES = {
    "token_accuracy": "words right",
    "sentence_accuracy": "sentences right",
    "entity_f1": "entity F1",
}  # key in a record, and what people read

_COMMENT = re.compile(r"<!--.*?-->", flags=re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def card_body(card: str) -> str:
    """A card to show below its name: without the title, and without comments for programs."""
    text = _COMMENT.sub("", card).strip()
    return re.sub(r"\A# [^\n]*\n*", "", text).strip()


def card_summary(card: str) -> str:
    r"""The first sentence of a card; empty where it begins with no text.

    >>> card_summary("# upos-en\n\nTags words. Trained on EWT.")
    'Tags words.'
    """
    written = card.partition("<!--")[0]  # what follows, a program wrote
    paragraph = " ".join(card_body(written).partition("\n\n")[0].split())
    if paragraph[:1] in ("#", "|", "-", "*", "<"):
        return ""
    return _SENTENCE_END.split(paragraph)[0]


def evaluation_frame(evaluations: Mapping[str, Mapping[str, Record]]) -> pd.DataFrame:
    """One row for each model, file and decoder.

    Args:
        evaluations: records (`crfviz.corpus.tables.report`) by model and label of the file.

    Returns:
        Columns model, file, sentences, tokens, decoder; for every measure of `MEASURES` its value
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
    columns = ["model", "file", "sentences", "tokens", "decoder", *bounds, "invalid_bio", "ece"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype(dict.fromkeys([*bounds, "invalid_bio", "ece"], float))


def evaluation_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame for people: measures in per cent, columns without a single number left out."""
    table = frame[["model", "file", "decoder"]].copy()
    for measure, title in MEASURES.items():
        table[f"{title}, %"] = 100 * frame[measure]
    table["break BIO"] = frame["invalid_bio"].astype("Int64")
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
        "invalid_bio": scores["invalid_bio"],
        "ece": record["ece"],
    }
    for measure in MEASURES:
        low, high = scores[f"{measure}_interval"] or (None, None)
        row |= {measure: scores[measure], f"{measure}_low": low, f"{measure}_high": high}
    return row
