"""The pictures of pages that a browser can also draw alone, with their words and their steps.

Letters: `T` tokens, `K` tags. `trained` is the chain before the edits, where there are some.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from crfviz.chain.decoding.analysis import Analysis
from crfviz.views.explanation import explain, explain_edits
from crfviz.views.stage.parts import Bars, Cell, Grid, Matrix, Picture
from crfviz.views.stage.steps import emission_walk, forward_backward_walk, viterbi_walk
from crfviz.views.strips.decoders import LABELS, decoder_rows
from crfviz.views.strips.grids import (
    MESSAGE,
    alpha_grid,
    beta_grid,
    consistency_note,
    consistency_rows,
    emission_grid,
    marginal_grid,
)
from crfviz.views.strips.paths import entropy_note

BY_HAND = (
    "Type into a cell or drag it; Alt+arrows nudge, Delete restores, -\u2060inf forbids the {what}"
)
CIRCLES = "circle: marginal · thick line: Viterbi path · thin lines: backpointers · red dashes: "
GHOSTS = "▲ ▼, dots: compared with trained"  # what the marks mean while edits are active
LEAST_MARGINAL = 0.01  # a tag that never reaches this, and lies on no drawn path, is left out
_WALKED = "→ ← or PageDown PageUp: step"


def with_ghost(now: Analysis, trained: Analysis | None, make: Callable[[Analysis], Grid]) -> Grid:
    """A grid of the chain as it is now; while edits are active with the trained values, too."""
    grid = make(now)
    return grid if trained is None else replace(grid, trained=make(trained).values)


def explore_picture(now: Analysis, gold: Sequence[int] | None) -> Picture:
    """What each decoder chooses, why they differ, and the lattice."""
    return Picture(
        ["strips", "lattice"],
        decoder_rows(now, which=list(LABELS), gold=gold),
        note=explain(now),
        legend=f"{CIRCLES}where left to right goes another way",
    )


def transition_picture(
    now: Analysis, trained: Analysis | None, gold: Sequence[int] | None, matrix: Matrix
) -> Picture:
    """The matrix, each cell open to change, beside decoders and lattice."""
    return Picture(
        ["strips", "lattice"],
        decoder_rows(now, which=list(LABELS), gold=gold, trained=trained),
        side=matrix,
        note=explain(now) if trained is None else explain_edits(trained, now),
        hint=BY_HAND.format(what="step"),
        legend="" if trained is None else "rings: marginals as trained, the change in brackets",
    )


def emission_picture(now: Analysis, trained: Analysis | None, display: str) -> Picture:
    """What each word alone says, by a key of `EMISSION_DISPLAYS`."""
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
    """α and β step by step, and Z at every word; the keys are those of `grids`."""
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


def viterbi_picture(now: Analysis, gold: Sequence[int] | None) -> Picture:
    """Forward over the columns, back along the backpointers."""
    return Picture(
        ["strips", "lattice"],
        decoder_rows(now, which=["viterbi", "gold"], gold=gold),
        side=Cell(),
        walk=viterbi_walk(possible=now.viterbi is not None),
        legend=f"{_WALKED} · ↑ ↓ or click: choose a cell · circle: best(t, k) relative "
        "to the word’s largest · thick: best path · dashes: tied backpointers",
    )


def marginal_picture(now: Analysis, trained: Analysis | None) -> Picture:
    """How probable each tag is, beside what Viterbi and max-marginal choose."""
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
    """Ids of the tags that a lattice on paper draws."""
    heavy = analysis.forward_backward.marginals.amax(dim=0) > LEAST_MARGINAL
    drawn = {*analysis.left_to_right, *(analysis.paths["viterbi"] or [])}
    return [k for k in range(len(analysis.tags)) if heavy[k] or k in drawn]
