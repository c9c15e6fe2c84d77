"""Static pictures of cues: the lattice with the tables of each page."""

import base64
from collections.abc import Sequence
from contextlib import suppress

import streamlit as st
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.lectures.lecture import Cue
from crfviz.ui.panels.why import question
from crfviz.ui.scene import scene_of
from crfviz.ui.state.scenario import BEFORE_FIRST, RULE, Scenario, covered
from crfviz.views.figures.thumbnail import MARGINALS, still
from crfviz.views.stage.picture import Grid, Row
from crfviz.views.strips.paths import best_rows
from crfviz.views.strips.pictures import (
    alpha_grid,
    best_grid,
    beta_grid,
    emission_grid,
    marginal_grid,
)
from crfviz.views.strips.rules import UNDER_RULE, rule_row
from crfviz.views.strips.why import why_row

WITH_MATRIX = ("transitions", "hmm-as-crf", "learn")  # pages with a matrix
BEST_PATHS = 5  # on the page Paths
_RANKED = tuple(f"best_{rank}" for rank in range(1, BEST_PATHS + 1))
_ANSWERS = (
    "viterbi",
    "max_marginal",
    "path",
    MARGINALS,
    "best",
    "alpha",
    "beta",
    "why",
    UNDER_RULE,
    *_RANKED,
)


def thumbnail(cue: Cue, *, key: bool = False) -> str:
    """Return the picture as SVG; covered parts and answers are drawn for the `key` only.

    Raises:
        CrfvizError: the scene cannot be drawn.
    """
    hidden: set[str] = set()
    if not key:
        hidden.update(covered(cue.scenario.view))
        if cue.ask or cue.scenario.step == BEFORE_FIRST:
            hidden.update(_ANSWERS)
        if cue.ask:
            hidden.update(("greedy", "left_to_right"))
    return _still(cue.page, tuple(sorted(hidden)), repr(cue.scenario), cue.scenario)


def data_uri(svg: str) -> str:
    """Return a picture as a data URI."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@st.cache_data(max_entries=512, show_spinner=False)
def _still(page: str, hidden: tuple[str, ...], state: str, _scenario: Scenario) -> str:  # noqa: ARG001 - a part of the key
    now = cached.edited(_scenario)
    return still(
        now,
        hidden=hidden,
        rows=_rows(page, now, _scenario),
        grids=_grids(page, now),
        matrices=_matrices(page, now, _scenario),
    )


def _rows(page: str, now: Analysis, state: Scenario) -> Sequence[Row]:
    if page == "paths":
        return best_rows(now, BEST_PATHS)
    with suppress(CrfvizError):  # a rule for other tags is not drawn
        if rule := state.view.get(RULE):
            return [rule_row(cached.matched(state, rule))]
    asked = question(scene_of(state)) if page == "why" else None
    return [] if asked is None else [why_row(asked)]


def _grids(page: str, now: Analysis) -> Sequence[Grid]:
    if page == "emissions":
        return [emission_grid(now, "score")]
    if page == "viterbi":
        return [best_grid(now)]
    if page in ("forward-backward", "log-space"):
        return [alpha_grid(now, "log", "included"), beta_grid(now, "log")]
    return [marginal_grid(now, None)] if page == "marginals" else []


def _matrices(page: str, now: Analysis, state: Scenario) -> dict[str, Tensor]:
    if page not in WITH_MATRIX:
        return {}
    found = {"transition scores (nats)": now.potentials.transitions}
    if page == "learn" and now.viterbi is not None:
        right = [state.right.get(t, now.tags[k]) for t, k in enumerate(now.viterbi.path)]
        step = gradient_step(now.potentials, right, 1.0)
        found["observed − expected counts"] = step.difference.transitions
    return found
