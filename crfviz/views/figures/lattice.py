"""The lattice as a Plotly figure and an offline HTML file; joint marginals as a heatmap.

Letters: `T` tokens, `K` tags. On the page the live stage draws the lattice; this is for slides and
handouts.
"""

import html
from collections.abc import Sequence
from functools import partial
from itertools import product

import altair as alt
import pandas as pd
import plotly.graph_objects as go
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.views.figures.offline import figure_html, page_html
from crfviz.views.formatting import format_probability
from crfviz.views.strips.pictures import tags_with_mass
from crfviz.views.theme import DIFFERS, READABLE, tag_colours

LARGEST_NODE = 34  # pixels across, for a marginal of 1


def lattice_figure(analysis: Analysis) -> go.Figure:
    """Return the lattice with nodes sized by marginal, backpointers, and the paths.

    Hovering a node tells its numbers. Columns are placed by position, for words may repeat.
    """
    words, shown = analysis.words, tags_with_mass(analysis)
    height_of = {k: len(shown) - 1 - row for row, k in enumerate(shown)}
    figure = go.Figure()
    figure.add_trace(_line(*_backpointers(analysis, height_of), "backpointers", "#b9c2cc", 1))
    across = list(range(len(words)))
    detour = [height_of[k] for k in analysis.left_to_right]
    figure.add_trace(_line(across, detour, "left to right", DIFFERS, 2, "dash"))
    if analysis.viterbi is not None:
        name = f"Viterbi, p = {format_probability(analysis.viterbi.probability, 3)}"
        best = [height_of[k] for k in analysis.viterbi.path]
        figure.add_trace(_line(across, best, name, "#14243a", 5))
    figure.add_trace(_nodes(analysis, height_of))
    figure.update_layout(
        template="plotly_white",
        width=max(600, 110 * len(words)),
        height=80 + 38 * len(shown),
        margin={"l": 70, "r": 20, "t": 50, "b": 20},
        legend={"orientation": "h", "y": -0.02},
    )
    figure.update_xaxes(
        tickvals=across,
        ticktext=[html.escape(word) for word in words],
        side="top",
        showgrid=False,
        zeroline=False,
        tickfont={"size": 16},
    )
    figure.update_yaxes(
        tickvals=list(height_of.values()),
        ticktext=[html.escape(analysis.tags[k]) for k in shown],
        zeroline=False,
    )
    return figure


def lattice_html(analysis: Analysis) -> str:
    """Return the figure as one standalone HTML page of about 5 MB with Plotly's code."""
    figure = figure_html(lattice_figure(analysis), name="lattice", library=True, toolbar=True)
    return page_html(" ".join(analysis.words), figure)


Places = list[int | None]  # None ends a line


def _backpointers(analysis: Analysis, height_of: dict[int, int]) -> tuple[Places, Places]:
    xs: Places = []
    ys: Places = []
    for t, column in enumerate(analysis.reached_backpointers.tolist()):
        for k, before in enumerate(column):
            if k in height_of and before in height_of:
                xs += [t - 1, t, None]
                ys += [height_of[before], height_of[k], None]
    return xs, ys


def _line(
    xs: Sequence[int | None],
    ys: Sequence[int | None],
    name: str,
    colour: str,
    width: int,
    dash: str = "solid",
) -> go.Scatter:
    line = {"color": colour, "width": width, "dash": dash}
    return go.Scatter(x=xs, y=ys, mode="lines", line=line, name=name, hoverinfo="skip")


def _nodes(analysis: Analysis, height_of: dict[int, int]) -> go.Scatter:
    words, tags = analysis.words, analysis.tags
    marginals = analysis.forward_backward.marginals.tolist()
    cells = [(t, k) for t in range(len(words)) for k in height_of]
    colours = tag_colours(tags)
    return go.Scatter(
        x=[t for t, _ in cells],
        y=[height_of[k] for _, k in cells],
        mode="markers",
        marker={
            "size": [4 + (LARGEST_NODE - 4) * marginals[t][k] ** 0.5 for t, k in cells],
            "color": [colours[k] for _, k in cells],
            "line": {"color": "#14243a", "width": 1},
            "opacity": 1,
        },
        text=[
            f"{html.escape(words[t])}: {html.escape(tags[k])}, marginal {marginals[t][k]:.6f}"
            for t, k in cells
        ],
        hoverinfo="text",
        name="circle: marginal",
    )


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
