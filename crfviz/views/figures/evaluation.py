"""Measured figures as a picture: how far apart the decoders are, and how sure that is."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crfviz.corpus.tables.decoders import TITLES
from crfviz.views.frames.cards import MEASURES
from crfviz.views.theme import INK

PANEL_WIDTH = 380  # pixels
ROW_HEIGHT = 30  # of one decoder


def decoder_chart(frame: pd.DataFrame, measure: str) -> alt.FacetChart:
    """One panel for each model and file: every decoder's share with its 95 % interval.

    The panels have scales of their own: compare decoders within a panel; models differ in task.

    Args:
        frame: as `crfviz.views.frames.cards.evaluation_frame` gives it; may be empty.
        measure: a key of `MEASURES`; rows without it are left out.

    Returns:
        A chart, empty where nothing was measured.
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
    title = f"{MEASURES[measure]}, %"
    decoders = alt.Y(
        "decoder:N",
        title=None,
        axis=alt.Axis(labelLimit=200),
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
    spread = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=False, nice=True))
    interval = base.mark_rule(strokeWidth=2).encode(x=spread, x2="high:Q", color=colours)
    value = base.mark_point(filled=True, size=70, opacity=1).encode(x="share:Q", color=colours)
    number = base.mark_text(dy=-9, fontSize=12, color=INK).encode(
        x="share:Q", text=alt.Text("share:Q", format=".1f")
    )
    panels = list(dict.fromkeys(data["panel"]))
    header = alt.Header(title=None, labelFontSize=13, labelAnchor="start")
    chart: alt.FacetChart = (
        alt.layer(interval, value, number)
        .properties(width=PANEL_WIDTH, height=ROW_HEIGHT * len(TITLES))
        .facet(facet=alt.Facet("panel:N", sort=panels, header=header), columns=2)
        .resolve_scale(x="independent")
    )
    return chart
