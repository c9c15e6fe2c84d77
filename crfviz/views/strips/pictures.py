"""Pictures that downloaded files can also show without Python: tables, texts and steps.

Letters: `T` tokens, `K` tags. `trained` is the chain before the edits, if any.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.demonstrations.log_space import (
    Consistency,
    consistency,
    forward_messages,
)
from crfviz.chain.forward_backward import normalise
from crfviz.views.explanation import explain, explain_edits
from crfviz.views.formatting import rounding, score
from crfviz.views.stage.picture import Bars, Cell, Grid, Matrix, Picture, Row
from crfviz.views.stage.walks import emission_walk, forward_backward_walk, viterbi_walk
from crfviz.views.strips.decoders import USUAL_ROWS, decoder_rows
from crfviz.views.strips.paths import entropy_note

BY_HAND = "Type or drag; Alt+arrows nudge, Delete restores, -\u2060inf forbids the {what}"
CIRCLES = "circle: marginal · thick line: Viterbi path · thin lines: backpointers"
DASHES = "red dashes: greedy differs from Viterbi"
GHOSTS = "▲ ▼, dots: compared with trained"  # what the marks mean while edits are active
MIN_MARGINAL = 0.01  # tags below this at every word, and on no drawn path, are left out
_WALKED = "→ ← or PageDown PageUp: step"
PROBABILITY = "probability"  # of an HMM alone: p(word | tag)
EMISSION_DISPLAYS = {
    "score": "score",
    PROBABILITY: "probability",
    "softmax": "softmax",
    "rank": "rank",
}
LEFT_OUT = (
    " The message leaves the emission of the word it arrives at out: e is that emission, and log Z "
    "from α adds the last word's and END."
)
SWEEP_DISPLAYS = {"log": "log", "probability": "probability", "normalised": "per column"}
MESSAGE = "message"
CONVENTIONS = {"included": "α with emission", MESSAGE: "α as message"}


def with_ghost(now: Analysis, trained: Analysis | None, make: Callable[[Analysis], Grid]) -> Grid:
    """Return a grid of the chain now, with the trained values while edits are active."""
    grid = make(now)
    return grid if trained is None else replace(grid, trained=make(trained).values)


def explore_picture(now: Analysis, gold: Sequence[int] | None) -> Picture:
    """Return the decoders' rows, why they differ, and the lattice."""
    return Picture(
        ["strips", "lattice"],
        decoder_rows(now, which=USUAL_ROWS, gold=gold),
        note=explain(now),
        legend=f"{CIRCLES} · {DASHES}",
    )


def transition_picture(
    now: Analysis, trained: Analysis | None, gold: Sequence[int] | None, matrix: Matrix
) -> Picture:
    """Return the editable matrix beside decoders and lattice."""
    return Picture(
        ["strips", "lattice"],
        decoder_rows(now, which=USUAL_ROWS, gold=gold, trained=trained),
        side=matrix,
        note=explain(now) if trained is None else explain_edits(trained, now),
        hint=BY_HAND.format(what="step"),
        legend="" if trained is None else "rings: marginals as trained, the change in brackets",
    )


def emission_picture(now: Analysis, trained: Analysis | None, display: str) -> Picture:
    """Return the picture of the emissions; `display` is a key of `EMISSION_DISPLAYS`."""
    grid = with_ghost(now, trained, lambda analysis: emission_grid(analysis, display))
    return Picture(
        [grid.name, "strips"],
        decoder_rows(now, which=["greedy", "viterbi"]),
        [grid],
        note=explain(now) if trained is None else explain_edits(trained, now),
        walk=emission_walk(grid.name),
        legend=BY_HAND.format(what="tag") if grid.editable else "",
    )


def sweep_picture(
    now: Analysis,
    trained: Analysis | None,
    *,
    shown: str = "lattice",
    display: str = "log",
    convention: str = "included",
) -> Picture:
    """Return α and β step by step, and Z at every word, by the keys of the displays."""
    grids = [
        with_ghost(now, trained, lambda analysis: alpha_grid(analysis, display, convention)),
        with_ghost(now, trained, lambda analysis: beta_grid(analysis, display)),
    ]
    return Picture(
        [shown, "alpha", "beta", "strips"],
        consistency_rows(now, convention),
        grids,
        side=Cell(message=convention == MESSAGE),
        note=consistency_note(now, convention),
        legend=f"{_WALKED} · circle: value relative to the word’s largest · "
        "line width: share of the sum",
        walk=forward_backward_walk(),
    )


def viterbi_picture(now: Analysis, gold: Sequence[int] | None, display: str = "log") -> Picture:
    """Return the lattice, forward over the columns and back along the backpointers.

    `display` is a key of `SWEEP_DISPLAYS`: what best(t, k) is on the nodes.
    """
    return Picture(
        ["strips", "lattice"],
        decoder_rows(now, which=["viterbi", "gold"], gold=gold),
        [] if display == "log" else [best_grid(now, display)],  # the stage writes scores by itself
        side=Cell(),
        walk=viterbi_walk(possible=now.viterbi is not None),
        legend=f"{_WALKED} · ↑ ↓ or click: choose a cell · circle: best(t, k) relative "
        "to the word’s largest · thick: best path · dashes: tied backpointers",
    )


def marginal_picture(now: Analysis, trained: Analysis | None) -> Picture:
    """Return the marginals beside the Viterbi and max-marginal rows."""
    grid = with_ghost(now, trained, lambda each: marginal_grid(each, each.max_marginal))
    return Picture(
        ["marginals", "strips"],
        decoder_rows(now, which=["viterbi", "max_marginal"]),
        [grid],
        side=Bars(),
        note=entropy_note(now),
        legend="red dashes: differs from the best path · point at a word for its bars",
    )


def tags_with_mass(analysis: Analysis) -> list[int]:
    """Return the tag ids that a printed lattice draws."""
    heavy = analysis.forward_backward.marginals.amax(dim=0) > MIN_MARGINAL
    drawn = {*analysis.left_to_right, *(analysis.paths["viterbi"] or [])}
    return [k for k in range(len(analysis.tags)) if heavy[k] or k in drawn]


def emission_grid(analysis: Analysis, display: str) -> Grid:
    """Return the emissions of each word, by a key of `EMISSION_DISPLAYS`.

    It can be edited where it shows the scores themselves; the greedy path is framed. "rank" is 1
    for the word's best tag.
    """
    emissions = analysis.potentials.emissions
    if display == PROBABILITY:
        label = (
            "p(word | tag): exp of the scores; a row of the HMM's table sums to 1 over all words"
        )
        values = torch.exp(emissions)
        grid = Grid("emissions", label, values, scale_of(values, 0.0), 2, "exponent", editable=True)
    elif display == "softmax":
        label = "softmax of the emissions over the tags of each word"
        grid = Grid("softmax", label, normalise(emissions), 1.0, 2, "probability")
    elif display == "rank":
        ranks = emissions.argsort(dim=1, descending=True, stable=True).argsort(dim=1) + 1
        label = "rank of the tag at its word, 1 is the best"
        grid = Grid("rank", label, ranks.double(), 4.0 * emissions.shape[1], 0)
    else:
        label = "Emission scores (nats); frames mark each word’s best"
        winners = emissions.amax(dim=1)
        grid = Grid("emissions", label, emissions, scale_of(winners), editable=True)
    return replace(grid, outlined=analysis.greedy, frames="greedy")


def alpha_grid(analysis: Analysis, display: str, convention: str) -> Grid:
    """Return the forward table α, by keys of `SWEEP_DISPLAYS` and `CONVENTIONS`."""
    if convention == MESSAGE:
        whole = analysis.sentence
        passed_on = forward_messages(whole.potentials, whole.forward_backward)
        nothing = passed_on.new_full((1, passed_on.shape[1]), torch.nan)
        values = _words_of(analysis, torch.cat([passed_on, nothing]))
        label = "α(t, k): message that word t passes on to tag k at t+1; the last word has none"
    else:
        values = analysis.forward_backward.log_alpha
        label = "α(t, k): sum over prefixes ending in k at t, including its emission"
    return _sweep("alpha", label, values, display)


def beta_grid(analysis: Analysis, display: str) -> Grid:
    label = "β(t, k): all suffixes after tag k at t, emission at t left out, END included"
    return _sweep("beta", label, analysis.forward_backward.log_beta, display)


def marginal_grid(analysis: Analysis, outlined: Sequence[int] | None) -> Grid:
    """Return p(y_t = k | x), the probability of each cell."""
    label = "marginals: the probability of each tag at each word"
    values = analysis.forward_backward.marginals
    return Grid("marginals", label, values, 1.0, 2, "probability", outlined=outlined)


def best_grid(analysis: Analysis, display: str = "log") -> Grid:
    """Return Viterbi's table: the best prefix that ends in each tag, by `SWEEP_DISPLAYS`."""
    label = "best(t, k): score of the best prefix that ends in tag k at t"
    grid = _sweep("best", label, analysis.best, display)
    return replace(grid, outlined=analysis.paths["viterbi"])


def consistency_rows(analysis: Analysis, convention: str = "included") -> list[Row]:
    """Return log Z computed at each word, with α by a key of `CONVENTIONS`."""
    totals = [score(z, 4) for z in _words_of(analysis, _readings(analysis).at_positions).tolist()]
    label = "log Σ α·e·β" if convention == MESSAGE else "log Σ α·β"
    return [Row("log_z", label, None, texts=totals)]


def consistency_note(analysis: Analysis, convention: str = "included") -> str:
    """Return Z from α, from β and at every word, and the largest deviation."""
    readings = _readings(analysis)
    if analysis.forward_backward.log_partition == -math.inf:
        return "No tag sequence is allowed: Z is 0 however it is read, and log Z is −∞."
    alpha, beta = (score(value, 9) for value in (readings.from_alpha, readings.from_beta))
    return (
        f"log Z from α {alpha}, from β {beta}, and at each of the {len(readings.at_positions):,} "
        f"words: largest deviation {rounding(readings.largest_deviation)}."
        + (LEFT_OUT if convention == MESSAGE else "")
    )


def _readings(analysis: Analysis) -> Consistency:
    whole = analysis.sentence
    return consistency(whole.potentials, whole.forward_backward)


def _words_of(window: Analysis, table: Tensor) -> Tensor:
    """Return the rows of a table of the whole sentence that a window shows."""
    return table[window.first : window.first + len(window.words)]


def _sweep(name: str, label: str, log_values: Tensor, display: str) -> Grid:
    if display == "normalised":
        label = f"{label}; each column sums to 1"
        return Grid(name, label, normalise(log_values), 1.0, 2, "probability")
    if display == "probability":
        values = torch.exp(log_values)
        return Grid(name, f"{label}; exp of the log", values, scale_of(values), 2, "exponent")
    return Grid(name, f"{label}; log, nats", log_values, scale_of(log_values))


def scale_of(values: Tensor, least: float = 1.0) -> float:
    """Return the largest finite absolute value, at least `least`: where the colour is full."""
    finite = values[values.isfinite()].abs()
    return max(least, finite.max().item()) or 1.0 if finite.numel() else 1.0
