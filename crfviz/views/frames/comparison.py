"""Perceptrons trained and decoded greedily and by Viterbi, beside published figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

# From the documentation of the ingredient parser: its own data and code.
PUBLISHED = {
    ("greedy", "greedy"): {"words right, %": 97.57, "sentences right, %": 93.18, "times": 1.0},
    ("viterbi", "viterbi"): {"words right, %": 97.67, "sentences right, %": 94.08, "times": 12.0},
}
PUBLISHED_DATA = "ingredient parser, published"


def comparison_frame(report: Mapping[str, Any]) -> pd.DataFrame:
    """One row for each way to train and decode, then the published ones.

    Args:
        report: what `benchmarks/perceptron.py` wrote.

    Returns:
        Columns for people; NaN where nobody published a number. `times` is the training time over
        that of greedy training on the same data.

    Raises:
        KeyError, TypeError: the report is none.
    """
    rows = report["rows"]
    base = next(row["training_s"] for row in rows if row["trained"] == "greedy")
    ours = [
        {
            "data": f"{report['data']} test",
            "trained": row["trained"],
            "decoded": row["decoded"],
            "words right, %": 100 * row["tokens"],
            "sentences right, %": 100 * row["sentences"],
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


DIGITS = {
    "words right, %": 2,
    "sentences right, %": 2,
    "size, MB": 2,
    "training, s": 0,
    "times": 1,
    "decoding, µs a word": 1,
}  # to write
