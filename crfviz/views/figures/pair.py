"""The joint marginal of two words as a heatmap."""

from collections.abc import Sequence
from functools import partial
from itertools import product

import altair as alt
import pandas as pd
from torch import Tensor

from crfviz.views.theme import READABLE

LEAST = 0.005  # a change that two digits show
COLOURS = ["#f1f4f8", "#0072B2"]  # of 0 and 1
MOST_NUMBERED = 12  # columns in which every cell has its number
LABEL_PIXELS = 120  # of the name of a tag beside a heatmap
SHORTENED = (  # in Vega's language: long names often differ at their ends
    "length(datum.label) > 18 ? slice(datum.label, 0, 8) + '…' + slice(datum.label, -8) "
    ": datum.label"
)


def pair_frame(pairs: Tensor, tags: Sequence[str], trained: Tensor | None = None) -> pd.DataFrame:
    """The table behind the picture: one row per pair of tags, the most probable first.

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
    """A cell per pair of K tags, with its probability, out of the frame of `pair_frame`.

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
