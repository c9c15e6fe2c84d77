"""All paths of a short sentence: the sorted list, the running sum, and two counts."""

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd

from crfviz.chain.demonstrations.naive import FIRST, MAX_PATHS, Enumeration, written_count
from crfviz.chain.potentials import Potentials
from crfviz.views.numbers import rounding, score
from crfviz.views.theme import INK, OF_TEXT, READABLE

HEIGHT = 300  # pixels


def refusal(potentials: Potentials, words: int) -> str:
    """Why only the first words are enumerated, with the number it would be."""
    K, T = potentials.num_tags, potentials.num_tokens
    if words == 0:
        return f"{K} tags are too many: even one word has more than {MAX_PATHS:,} paths."
    return (
        f"All {T} words would have {K}^{T} = {written_count(potentials)} paths, more than the "
        f"{MAX_PATHS:,} that are enumerated here. The first {words} of them fit."
    )


def path_frame(enumeration: Enumeration, tags: Sequence[str]) -> pd.DataFrame:
    """The first and the last paths of the sorted list."""
    listed = enumeration.listed
    return pd.DataFrame(
        {
            "rank": listed.ranks,
            "score": listed.scores,
            "p": listed.shares,
            "running sum / Z": listed.running,
            "path": [" ".join(tags[k] for k in path) for path in listed.tags.tolist()],
        }
    )


def running_chart(
    enumeration: Enumeration, most: int | None = None
) -> alt.LayerChart | alt.FacetChart:
    """The running sum of exp(score), best path first, as a share of the Z of the recursion.

    It ends after the `most` first paths, where that is given.
    """
    scale = 0.0
    if enumeration.log_partition > -math.inf:
        scale = math.exp(enumeration.log_sum - enumeration.log_partition)
    data = pd.DataFrame(
        {"paths": enumeration.curve.ranks, "share": enumeration.curve.running * scale}
    )
    if most is not None:
        data = data[data["paths"] <= most]
    x = alt.X("paths:Q", title="paths, best first", scale=alt.Scale(type="log"))
    y = alt.Y("share:Q", title="running sum / Z", scale=alt.Scale(domain=[0, 1.05]))
    tooltip = [alt.Tooltip("paths:Q", format=","), alt.Tooltip("share:Q", format=".6f")]
    line = alt.Chart(data).mark_line(point=True, strokeWidth=2).encode(x=x, y=y, tooltip=tooltip)
    level = named_level("share", 1.0, "Z of the recursion")
    return alt.layer(line, *level).properties(height=HEIGHT, config=READABLE)


def named_level(field: str, value: float, name: str) -> tuple[alt.Chart, alt.Chart]:
    """A dashed line across a chart at one value of its vertical axis, and its name."""
    base = alt.Chart(pd.DataFrame({field: [value], "name": [name]})).encode(y=f"{field}:Q")
    text = base.mark_text(align="left", dx=4, dy=-8, color=OF_TEXT, fontSize=14)
    line = base.mark_rule(strokeDash=[6, 4], color=INK)
    return line, text.encode(x=alt.value(0), text="name:N")


def sum_note(enumeration: Enumeration) -> str:
    """How the sum over all paths compares with the recursion, in words."""
    if enumeration.log_sum == -math.inf:
        return f"All {enumeration.num_paths:,} paths are forbidden: Z is 0 both ways."
    enough = int(enumeration.curve.ranks[int((enumeration.curve.running < 0.99).sum())])
    blocked = f" Forbidden: {enumeration.forbidden:,}." if enumeration.forbidden else ""
    return (
        f"Summed one by one: log Z = {score(enumeration.log_sum, 9)}; by the recursion: "
        f"{score(enumeration.log_partition, 9)}. Largest deviation, of log Z and of all marginals: "
        f"{rounding(enumeration.largest_deviation)}. "
        f"{_enough(enough)} for 99 % of Z.{blocked}"
    )


def _enough(number: int) -> str:
    return "The best path suffices" if number == 1 else f"The {number:,} best paths suffice"


def listing_note(enumeration: Enumeration) -> str:
    """What of the sorted list is written out."""
    left = enumeration.num_paths - len(enumeration.listed.ranks)
    if left == 0:
        return f"All {enumeration.num_paths:,} paths, best first."
    last = len(enumeration.listed.ranks) - FIRST
    return f"The first {FIRST} and the last {last} of the list; {left:,} between them."


def seconds(value: float) -> str:
    """A time for people."""
    if value >= 1:
        return f"{value:.1f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"
