"""Panels of Marginals and its view Paths: best paths, samples, reach of an edit, word pairs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from crfviz.chain.questions.sensitivity import influence
from crfviz.ui.panels.why import least_certain
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_number, bound_place
from crfviz.ui.session.page_options import number_option
from crfviz.ui.session.scenario_state import set_view_option
from crfviz.ui.words import plain
from crfviz.views.formatting import format_probability
from crfviz.views.frames.chains import pair_frame, pair_heatmap
from crfviz.views.stage.picture import Grid, Picture
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.paths import (
    HEADING,
    change_grid,
    entropy_row,
    frequency_grid,
    gap_row,
    pile_note,
    ranked_note,
    ranked_rows,
    reach_note,
    reach_row,
    sample_row,
)
from crfviz.views.strips.pictures import marginal_grid

MAX_PATHS, FIRST_PATHS = 50, 10
MAX_SAMPLES = 2000
MAX_SEED = 999_999
LARGEST_NUDGE, FIRST_NUDGE = 20.0, 1.0

Drawn = tuple[Picture, Sequence[Grid]]  # the picture, and grids that only its tables show
SHOWS = {"best": "best paths", "samples": "samples", "reach": "reach"}


def _best(scene: Scene) -> Drawn:
    one = number_option("k", FIRST_PATHS, 1, MAX_PATHS) == 1
    written = "%d path" if one else "%d paths"
    fixed: dict[str, Any] = {"label_visibility": "collapsed", "width": 320, "format": written}
    k = bound_number(st.slider, "Paths", "k", FIRST_PATHS, 1, MAX_PATHS, **fixed)
    paths = scene.now.k_best(k)
    picture = Picture(
        ["strips"],
        [entropy_row(scene.now), *ranked_rows(paths)],
        reference="best_1",
        heading=HEADING,
        note=ranked_note(scene.now, paths),
        legend="red dashes: differs from the best path · Σ p: of all paths so far",
        changeable=False,
    )
    return picture, []


def _samples(scene: Scene) -> Drawn:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        full = _number_drawn() == MAX_SAMPLES
        for more, key in ((1, "1"), (10, "2"), (100, "3")):
            text = f"Draw {more}"
            st.button(text, on_click=_draw, args=(more,), disabled=full, shortcut=key)
        st.button("Start again", on_click=set_view_option, args=("n", "0", "0"), shortcut="0")
        st.text("Seed")
        fixed: dict[str, Any] = {"label_visibility": "collapsed", "width": 120}
        seed = bound_number(st.number_input, "Seed", "seed", 0, 0, MAX_SEED, **fixed)
    drawn = scene.now.sample_counts(_number_drawn(), seed)
    rows = [
        *decoder_rows(scene.now, which=["viterbi"]),
        sample_row(drawn),
        gap_row(drawn, scene.now),
    ]
    picture = Picture(
        ["strips", "lattice"],
        [row for row in rows if row is not None],
        pile=drawn,
        note=pile_note(drawn, scene.now),
        legend="circle: marginal · dashed ring: share of the samples, beside it marginal | "
        "share · width of a line: share of the samples that go there · thin line: newest",
        changeable=False,
    )
    return picture, [marginal_grid(scene.now, None), frequency_grid(drawn)]


def _number_drawn() -> int:
    return number_option("n", 0, 0, MAX_SAMPLES)


def _draw(more: int) -> None:
    set_view_option("n", str(min(MAX_SAMPLES, _number_drawn() + more)), "0")


def _reach(scene: Scene) -> Drawn:
    fixed: dict[str, Any] = {"step": 0.5, "label_visibility": "collapsed", "width": 140}
    limits = -LARGEST_NUDGE, LARGEST_NUDGE
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("Nudge (nats)")
        delta = bound_number(
            st.number_input, "Nudge (nats)", "nudge_by", FIRST_NUDGE, *limits, **fixed
        )
    position, tag = scene.place("nudge") or least_certain(scene)
    nudged = influence(scene.now.potentials, position, delta, tag, rule=scene.rule)
    picture = Picture(
        ["change", "strips"],
        [reach_row(nudged), entropy_row(scene.now)],
        [change_grid(nudged)],
        asks="nudge",
        asked=(position, tag),
        note=reach_note(nudged, position, delta, scene.now),
        legend="click a cell: its emission is nudged and all marginals are computed again · "
        "reach: half the sum of a word’s changes, what moves between its tags",
        changeable=False,
    )
    return picture, []


DRAW: Mapping[str, Callable[[Scene], Drawn]] = {"best": _best, "samples": _samples, "reach": _reach}


def pair_panel(scene: Scene) -> None:
    """Draw the choice of two words, and the joint probabilities of their tags."""
    st.subheader("Two words together")
    count = len(scene.words)
    if count < 2:
        st.info("Edge marginals need a sentence of two words or more.")
        return
    left, right = st.columns(2)
    first = bound_place("Earlier word", "first", scene.numbered(stop=count - 1), 0, at=left)
    second = bound_place("Later word", "second", scene.numbered(first + 1), first + 1, at=right)
    pairs = scene.now.pairs(first, second)
    trained = scene.trained.pairs(first, second) if scene.edited else None
    frame = pair_frame(pairs, scene.tags, trained)
    best = frame.iloc[0]
    st.container(key="wide-pair").altair_chart(pair_heatmap(frame, scene.tags), width="stretch")
    st.dataframe(frame.head(10), hide_index=True)
    was = f", trained {format_probability(best['trained'], 4)}" if scene.edited else ""
    names = plain(f"{best['first']} then {best['second']}")
    st.caption(
        f"p({names}) = {format_probability(best['probability'], 4)}{was}. "
        "Neighbours show the edge marginals; words further apart are joined through all tags "
        "between."
    )
