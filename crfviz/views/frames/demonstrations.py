"""Tables and charts of two demonstrations: all paths of a sentence, and log space."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from crfviz.chain.demonstrations.log_space import LogSumExp, PaddedBatch, Underflow
from crfviz.chain.demonstrations.naive import FIRST, MAX_PATHS, Enumeration, written_count
from crfviz.chain.potentials import Potentials
from crfviz.views.formatting import added, columns, count, rounding, score
from crfviz.views.theme import INK, OF_TEXT, READABLE

HEIGHT = 300  # pixels
SMALLEST = math.log(2.0**-149)  # of a float32, nats
LIMITS = {"float32": "88.7 and below −103.97", "float64": "709.8 and below −745.13"}
_PADDING_STYLE = "background-color: rgba(127, 127, 127, 0.25); font-style: italic"


def refusal(potentials: Potentials, words: int) -> str:
    """Explain why only the first words are enumerated, with the number of paths."""
    K, T = potentials.num_tags, potentials.num_tokens
    if words == 0:
        return f"{K} tags are too many: even one word has more than {MAX_PATHS:,} paths."
    return (
        f"All {T} words would have {K}^{T} = {written_count(potentials)} paths, more than the "
        f"{MAX_PATHS:,} that are enumerated here. The first {words} of them fit."
    )


def path_frame(enumeration: Enumeration, tags: Sequence[str]) -> pd.DataFrame:
    """Return the first and the last paths of the sorted list."""
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
    """Return the running sum of exp(score), best path first, as a share of Z.

    It ends after the first `most` paths, if `most` is given.
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
    """Return a dashed line across a chart at one value, with its name."""
    base = alt.Chart(pd.DataFrame({field: [value], "name": [name]})).encode(y=f"{field}:Q")
    text = base.mark_text(align="left", dx=4, dy=-8, color=OF_TEXT, fontSize=14)
    line = base.mark_rule(strokeDash=[6, 4], color=INK)
    return line, text.encode(x=alt.value(0), text="name:N")


def sum_note(enumeration: Enumeration) -> str:
    """Compare the sum over all paths with the recursion, in words."""
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
    """Describe how much of the sorted list is shown."""
    left = enumeration.num_paths - len(enumeration.listed.ranks)
    if left == 0:
        return f"All {enumeration.num_paths:,} paths, best first."
    last = len(enumeration.listed.ranks) - FIRST
    return f"The first {FIRST} and the last {last} of the list; {left:,} between them."


def seconds(value: float) -> str:
    """Format a duration for display."""
    if value >= 1:
        return f"{value:.1f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def term_frame(summed: LogSumExp, tags: Sequence[str]) -> pd.DataFrame:
    """Return the K terms of one sum, largest first, with and without the maximum taken out."""
    order = np.argsort(-summed.inputs, kind="stable")
    maximum = summed.maximum if summed.maximum > -math.inf else 0.0
    return pd.DataFrame(
        {
            "from j": [tags[j] for j in order],
            "score a": summed.inputs[order],
            "a − max": summed.inputs[order] - maximum,
            "exp(a − max)": summed.rest[order],
            "exp(a), float32": summed.direct["float32"].exponentials[order].astype(float),
            "exp(a), float64": summed.direct["float64"].exponentials[order],
        }
    )


def sum_line(summed: LogSumExp) -> str:
    """Return the log-sum-exp as one line of arithmetic."""
    if summed.maximum == -math.inf:
        return "Every score is −∞: nothing arrives here, and the log of the sum is −∞."
    largest = score(summed.maximum, 4)
    return (
        f"max {largest} + log(Σ exp(a − max)) = {largest} + log {summed.total:.6f} = {largest} + "
        f"{math.log(summed.total):.6f} = {score(summed.result, 6)}"
    )


def alpha_line(message: float, emission: float, cell: tuple[int, str]) -> str:
    """Return a sentence that explains a sum in both conventions for α, at a word and a tag."""
    position, tag = cell
    return (
        f"This sum is the message passed on to {tag} at word {position}. With the emission there, "
        f"α({position}, {tag}) = {score(message, 4)} {added(emission, 4)} = "
        f"{score(message + emission, 4)}."
    )


def direct_line(summed: LogSumExp, precision: str) -> str:
    """Return the sum without the maximum taken out, in one precision."""
    direct = summed.direct[precision]
    if summed.maximum == -math.inf:
        return f"{precision}: log 0 = −∞ with and without the trick."
    if direct.overflowed:
        happened = f"{direct.overflowed} of the terms overflow to ∞, and the log is ∞"
    elif direct.total == 0:
        happened = "every term becomes 0, and the log is −∞"
    else:
        error = abs(direct.result - summed.result)
        lost = f"{direct.lost} of the terms become 0; " if direct.lost else "nothing is lost; "
        off = f"off by {rounding(error)}" if error else "exactly the same"
        happened = f"{lost}log = {score(direct.result, 6)}, {off}"
    return (
        f"{precision} without the trick (exp leaves its range above {LIMITS[precision]}): "
        f"{happened}. With the trick: {score(summed.shifted[precision], 6)}."
    )


def underflow_chart(underflow: Underflow) -> alt.LayerChart | alt.FacetChart:
    """Return Σ α word by word in log space, and as float32 products while they last."""
    with np.errstate(divide="ignore"):
        logs = np.log(underflow.products.astype(float))
    words = np.arange(1, len(logs) + 1)
    names = {"log space": underflow.log_sums, "float32 products": logs}
    data = pd.concat(
        [
            pd.DataFrame({"word": words, "log": np.where(np.isfinite(v), v, np.nan), "way": name})
            for name, v in names.items()
        ]
    ).dropna()
    scale = alt.Scale(domain=list(names))
    base = alt.Chart(data).encode(
        x=alt.X("word:Q", title="word", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False)),
        y=alt.Y("log:Q", title="log Σ α of the scaled weights, nats"),
        color=alt.Color("way:N", title=None, scale=scale, legend=alt.Legend(orient="top")),
        tooltip=["word:Q", alt.Tooltip("log:Q", format=".3f"), "way:N"],
    )
    lines = base.mark_line(strokeWidth=2)
    points = base.mark_point(filled=True, size=45).encode(
        shape=alt.Shape("way:N", title=None, scale=scale, legend=alt.Legend(orient="top"))
    )
    level = named_level("log", SMALLEST, "smallest float32")
    return alt.layer(lines, points, *level).properties(height=HEIGHT, config=READABLE)


def underflow_frame(underflow: Underflow, words: Sequence[str]) -> pd.DataFrame:
    """Return the numbers of the chart, a row per word."""
    return pd.DataFrame(
        {
            "word": columns(words),
            "log Σ α": underflow.log_sums,
            "Σ α, float32": underflow.products.astype(float),
            "cells lost": underflow.lost,
        }
    )


def underflow_note(underflow: Underflow, tags: int) -> str:
    """Return the word at which the products underflow."""
    lost = np.flatnonzero(underflow.lost)
    dead = np.flatnonzero(underflow.products == 0)
    if not len(lost):
        return "No product has become 0 yet: repeat the sentence to see it happen."
    first = f"The first cell is lost at word {lost[0] + 1}."
    if not len(dead) or not np.isfinite(underflow.log_sums[dead[0]]):
        return f"{first} Repeat the sentence to see all of them go."
    return (
        f"{first} From word {dead[0] + 1} on all {tags} products are 0, and nothing can be "
        "computed from them; the logarithms go on."
    )


def batch_frame(
    batch: PaddedBatch, sentences: Sequence[Sequence[str]], tag: int, tags: Sequence[str]
) -> Styler:
    """Return words, mask and α of one tag, three rows for each of B sentences.

    Padding is in italics on grey.
    """
    rows, styles, names = [], [], []
    masks = batch.mask.tolist()
    for b, words in enumerate(sentences):
        mask = masks[b]
        alphas = batch.log_alpha[b, :, tag].tolist()
        rows.append([words[t] if inside else "–" for t, inside in enumerate(mask)])
        rows.append(["1" if inside else "0" for inside in mask])
        rows.append(
            [
                score(a, 3) if inside else f"= {score(a, 3)}"
                for a, inside in zip(alphas, mask, strict=True)
            ]
        )
        styles += [["" if inside else _PADDING_STYLE for inside in mask]] * 3
        names += [
            f"{b + 1}: {count(batch.lengths[b], 'word')}",
            f"{b + 1}: mask",
            f"{b + 1}: α({tags[tag]})",
        ]
    columns = [str(t + 1) for t in range(len(masks[0]))]
    frame = pd.DataFrame(rows, index=names, columns=columns)
    marks = pd.DataFrame(styles, index=names, columns=columns)
    return frame.style.apply(lambda _: marks, axis=None)


def batch_note(batch: PaddedBatch) -> str:
    """Say whether the batch gives the same results as each sentence alone."""
    B, T, K = batch.emissions.shape
    padding = B * T - sum(batch.lengths)
    return (
        f"A batch of {B} × {T} × {K} numbers, {padding} of {B * T} columns are padding. Batch "
        f"against each sentence alone, every α and log Z: largest difference "
        f"{rounding(batch.largest_difference)}."
    )


def log_z_frame(batch: PaddedBatch) -> pd.DataFrame:
    """Return log Z of each sentence, from the batch and alone."""
    return pd.DataFrame(
        {
            "sentence": range(1, len(batch.lengths) + 1),
            "length": batch.lengths,
            "log Z, batch": batch.log_partitions.tolist(),
            "log Z, alone": batch.alone.tolist(),
        }
    )
