"""EM as pictures: the curve of the log-likelihood, the days behind a count, and tables."""

from collections.abc import Sequence
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd

from crfviz.chain.baum_welch import Iteration, Parameters
from crfviz.chain.potentials import Array
from crfviz.chain.questions.em import END, START, TRANSITION, Number, numbers_of
from crfviz.views.formatting import score, signed
from crfviz.views.stage.walks import Phase, Walk
from crfviz.views.theme import INK, OF_TEXT, PALETTE, READABLE, tag_colours

HEIGHT, DAYS_HEIGHT = 160, 160  # pixels, of the curve and of the chart of days
SEEN = "slice(datum.label, indexof(datum.label, ' ') + 1)"  # Vega expression: the word of a day
MOVED = 0.0005  # smallest change that three digits show
MIN_SPAN = 0.5  # minimum range of the curve's axis, nats


def name_of(number: Number, states: Sequence[str], symbols: Sequence[str]) -> str:
    """Return a parameter in usual notation, such as p(H | C), or p(word H | C) for a word H."""
    kind, of, to = number
    if kind == START:
        return f"p({states[to]})"
    word = "" if kind in (END, TRANSITION) else symbols[to]
    if word in (*states, "END"):  # names have no blanks, so this is another one
        word = f"word {word}"
    after = word or ("END" if kind == END else states[to])
    return f"p({after} | {states[of]})"


def use_of(number: Number, states: Sequence[str], symbols: Sequence[str]) -> str:
    """Return the event that a parameter counts, such as “C then H”."""
    kind, of, to = number
    if kind == START:
        return f"{states[to]} on the first day"
    if kind == END:
        return f"{states[of]} on the last day"
    return (
        f"{states[of]} then {states[to]}"
        if kind == TRANSITION
        else f"{states[of]} with {symbols[to]}"
    )


def moved(now: float, before: float | None) -> str:
    """Format a parameter, with an arrow if it changed."""
    change = 0.0 if before is None else now - before
    return f"{now:.3f}" + (" ▲" if change >= MOVED else " ▼" if change <= -MOVED else "")


def em_walk(steps: Sequence[Iteration]) -> Walk:
    """Return a walk with a step per iteration; the last of `steps` only measures the result."""
    curve = [step.log_likelihood for step in steps]
    return Walk(
        [
            Phase(
                f"Iteration {n}: log-likelihood {score(after, 4)} nats "
                f"({signed(after - before, 4)}).",
                (),
            )
            for n, (before, after) in enumerate(pairwise(curve), start=1)
        ],
        start=f"The start: log-likelihood {score(curve[0], 4)} nats. Press → for an iteration.",
        opens_done=False,
    )


def curve_chart(steps: Sequence[Iteration], done: int) -> alt.LayerChart | alt.FacetChart:
    """Return the log-likelihood after each iteration so far; the axes cover all iterations."""
    curve = [step.log_likelihood for step in steps]
    low, high = min(curve), max(curve)
    margin = max(0.05 * (high - low), (MIN_SPAN - (high - low)) / 2)
    data = pd.DataFrame({"iteration": range(done + 1), "log-likelihood": curve[: done + 1]})
    base = alt.Chart(data).encode(
        x=alt.X(
            "iteration:Q",
            scale=alt.Scale(domain=[0, len(steps) - 1]),
            axis=alt.Axis(
                tickMinStep=1, format="d", labelPadding=5, titlePadding=0, labelFlush=True
            ),
        ),
        y=alt.Y(
            "log-likelihood:Q",
            title="log-likelihood",
            scale=alt.Scale(domain=[low - margin, high + margin]),
        ),
        tooltip=["iteration:Q", alt.Tooltip("log-likelihood:Q", format=".6f")],
    )
    line = base.mark_line(point=True, strokeWidth=2, color=PALETTE[0])
    here = base.transform_filter(f"datum.iteration == {done}")
    point = here.mark_point(filled=True, size=140, opacity=1, color=PALETTE[0], stroke=INK)
    return alt.layer(line, point).properties(height=HEIGHT, config=READABLE)


def days_chart(table: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """Return the posterior of each day as bars, and its share of the count as points.

    The table has a row per day, named by its index. The first column is the count, the others are
    the states.
    """
    count, *states = table.columns
    days = list(table.index)
    whole = table.rename_axis("day").reset_index()
    x = alt.X(
        "day:N", sort=days, title=None, axis=alt.Axis(labelAngle=0, labelExpr=SEEN, labelPadding=5)
    )
    colour = alt.Color(
        "state:N",
        sort=states,
        scale=alt.Scale(domain=states, range=tag_colours(states)),
        legend=alt.Legend(orient="top", title="posterior:", titleOrient="left", offset=5),
    )
    bars = (
        alt.Chart(whole.melt("day", states, "state", "probability"))
        .mark_bar(opacity=0.6)
        .encode(
            x=x,
            y=alt.Y("probability:Q", title=None, axis=alt.Axis(values=[0, 0.5, 1])),
            color=colour,
            tooltip=["day:N", "state:N", alt.Tooltip("probability:Q", format=".6f")],
        )
    )
    points = (
        alt.Chart(whole[["day", count]].set_axis(["day", "count"], axis=1))
        .mark_line(
            point=alt.OverlayMarkDef(size=60, color=OF_TEXT, opacity=1),
            color=OF_TEXT,
            strokeDash=[4, 4],
        )
        .encode(x=x, y="count:Q", tooltip=["day:N", alt.Tooltip("count:Q", format=".6f")])
    )
    return alt.layer(bars, points).properties(height=DAYS_HEIGHT, config=READABLE)


def days_note(what: str, number: str, days: Array) -> str:
    """Return the sum of the points of `days_chart` in words."""
    return (
        f"Points: what each day adds to the expected count of “{what}”, {days.sum():.3f} in all. "
        f"The M step divides it by the count of its row to get {number}."
    )


def history_frame(
    starts: Sequence[Parameters],
    steps: Sequence[Iteration],
    names: tuple[Sequence[str], Sequence[str]],
) -> pd.DataFrame:
    """Return a row for each iteration: its log-likelihood and every parameter."""
    every = [number for row in numbers_of(starts[0]) for number in row]
    columns = [name_of(number, *names) for number in every]
    values = np.array([[number.value(start) for number in every] for start in starts])
    frame = pd.DataFrame(values, columns=columns)
    frame.insert(0, "log-likelihood", [step.log_likelihood for step in steps])
    frame.index.name = "iteration"
    return frame


def count_frame(
    step: Iteration, before: Parameters, names: tuple[Sequence[str], Sequence[str]]
) -> pd.DataFrame:
    """Return each parameter, its expected count, and its value after the M step."""
    every = [number for row in numbers_of(before) for number in row]
    return pd.DataFrame(
        {
            "now": [number.value(before) for number in every],
            "expected count": [number.value(step.counts) for number in every],
            "after the M step": [number.value(step.parameters) for number in every],
        },
        index=[name_of(number, *names) for number in every],
    )
