"""Log-sum-exp of one cell, products that underflow, and a padded batch, as tables and words."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from crfviz.chain.demonstrations.forward_variants import PaddedBatch
from crfviz.chain.demonstrations.log_space import LogSumExp, Underflow
from crfviz.views.frames.naive import named_level
from crfviz.views.numbers import added, count, rounding, score
from crfviz.views.phrases import columns
from crfviz.views.theme import READABLE

SMALLEST = math.log(2.0**-149)  # of a float32, nats
LIMITS = {"float32": "88.7 and below −103.97", "float64": "709.8 and below −745.13"}
HEIGHT = 300  # pixels
_PADDING_STYLE = "background-color: rgba(127, 127, 127, 0.25); font-style: italic"


def term_frame(summed: LogSumExp, tags: Sequence[str]) -> pd.DataFrame:
    """The K terms of one sum, the largest first: with the maximum taken out, and without."""
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
    """The sum in one line."""
    if summed.maximum == -math.inf:
        return "Every score is −∞: nothing arrives here, and the log of the sum is −∞."
    largest = score(summed.maximum, 4)
    return (
        f"max {largest} + log(Σ exp(a − max)) = {largest} + log {summed.total:.6f} = {largest} + "
        f"{math.log(summed.total):.6f} = {score(summed.result, 6)}"
    )


def alpha_line(message: float, emission: float, cell: tuple[int, str]) -> str:
    """What the sum is in either convention for α, at a word by its number and a tag."""
    position, tag = cell
    return (
        f"This sum is the message passed on to {tag} at word {position}. With the emission there, "
        f"α({position}, {tag}) = {score(message, 4)} {added(emission, 4)} = "
        f"{score(message + emission, 4)}."
    )


def direct_line(summed: LogSumExp, precision: str) -> str:
    """What would have become of the sum without the maximum taken out, in one precision."""
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
    """Σ α word by word, in log space, and as float32 products for as long as they last."""
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
    """The same word by word, in T rows."""
    return pd.DataFrame(
        {
            "word": columns(words),
            "log Σ α": underflow.log_sums,
            "Σ α, float32": underflow.products.astype(float),
            "cells lost": underflow.lost,
        }
    )


def underflow_note(underflow: Underflow, tags: int) -> str:
    """Where the products die out."""
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
    """Words, mask and α of the tag with an id, three rows for each of B sentences.

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
    """Whether the batch gives what the sentences give alone."""
    B, T, K = batch.emissions.shape
    padding = B * T - sum(batch.lengths)
    return (
        f"A batch of {B} × {T} × {K} numbers, {padding} of {B * T} columns are padding. Batch "
        f"against each sentence alone, every α and log Z: largest difference "
        f"{rounding(batch.largest_difference)}."
    )


def log_z_frame(batch: PaddedBatch) -> pd.DataFrame:
    """Log Z of each sentence, out of the batch and alone."""
    return pd.DataFrame(
        {
            "sentence": range(1, len(batch.lengths) + 1),
            "length": batch.lengths,
            "log Z, batch": batch.log_partitions.tolist(),
            "log Z, alone": batch.alone.tolist(),
        }
    )
