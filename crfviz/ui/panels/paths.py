"""The page of the path distribution: ranked paths, samples that pile up, the reach of a nudge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan

import streamlit as st

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.questions.influence import influence
from crfviz.chain.sampling import pile
from crfviz.ui.panels.occlusion import least_certain
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.current import set_view_option, view_option
from crfviz.ui.widgets.asked import place
from crfviz.views.stage.parts import Grid, Picture
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.distribution import (
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
from crfviz.views.strips.grids import marginal_grid

MOST_PATHS, FIRST_PATHS = 50, 10
MOST_SAMPLES = 2000
MOST_SEED = 999_999
LARGEST_NUDGE, FIRST_NUDGE = 20.0, 1.0


@dataclass(frozen=True)
class Drawn:
    """What one of the three views puts on the stage."""

    picture: Picture
    twin: Sequence[Grid] = ()  # further grids for the table twin


def _best(scene: Scene) -> Drawn:
    k = max(1, _whole("k", FIRST_PATHS, MOST_PATHS))

    def store(chosen: int) -> None:
        set_view_option("k", str(chosen), str(FIRST_PATHS))

    bound_to(
        st.slider,
        "Paths",
        "view.k",
        k,
        store,
        min_value=1,
        max_value=MOST_PATHS,
        label_visibility="collapsed",
        width=320,
        format="%d paths",
    )
    paths = k_best(scene.now.potentials, k)
    return Drawn(
        Picture(
            ["strips"],
            [entropy_row(scene.now), *ranked_rows(paths)],
            reference="best_1",
            heading=HEADING,
            note=ranked_note(scene.now, paths),
            legend="red dashes: differs from the best path · Σ p: of all paths so far",
            changeable=False,
        )
    )


def _samples(scene: Scene) -> Drawn:
    _sample_controls()
    drawn = pile(scene.now.potentials, _whole("n", 0, MOST_SAMPLES), _whole("seed", 0, MOST_SEED))
    newest = sample_row(drawn)
    rows = decoder_rows(scene.now, which=["viterbi"])
    if newest is not None:
        rows.append(newest)
    return Drawn(
        Picture(
            ["strips", "lattice"],
            [*rows, gap_row(drawn, scene.now)],
            pile=drawn,
            note=pile_note(drawn, scene.now, scene.words, scene.tags),
            legend="circle: marginal · dashed ring: share of the samples, beside it marginal | "
            "share · width of a line: share of the samples that go there · thin line: newest",
            changeable=False,
        ),
        twin=[marginal_grid(scene.now, None), frequency_grid(drawn)],
    )


def _sample_controls() -> None:
    def store(chosen: int | None) -> None:
        set_view_option("seed", str(chosen or 0), "0")

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        full = _whole("n", 0, MOST_SAMPLES) == MOST_SAMPLES
        for more, key in ((1, "1"), (10, "2"), (100, "3")):
            text = f"Draw {more}"
            st.button(text, on_click=_draw, args=(more,), disabled=full, shortcut=key)
        st.button("Start again", on_click=set_view_option, args=("n", "0", "0"), shortcut="0")
        st.text("Seed")
        bound_to(
            st.number_input,
            "Seed",
            "view.seed",
            _whole("seed", 0, MOST_SEED),
            store,
            min_value=0,
            max_value=MOST_SEED,
            label_visibility="collapsed",
            width=120,
        )


def _draw(more: int) -> None:
    set_view_option("n", str(min(MOST_SAMPLES, _whole("n", 0, MOST_SAMPLES) + more)), "0")


def _reach(scene: Scene) -> Drawn:
    delta = _nudge()
    position, tag = place(scene, "nudge") or least_certain(scene)
    found = influence(scene.now.potentials, position, delta, tag)
    return Drawn(
        Picture(
            ["change", "strips"],
            [reach_row(found), entropy_row(scene.now)],
            [change_grid(found)],
            asks="nudge",
            asked=(position, tag),
            note=reach_note(found, position, delta, scene.words, scene.tags),
            legend="click a cell: its emission is nudged and all marginals are computed again · "
            "reach: half the sum of a word’s changes, what moves between its tags",
            changeable=False,
        )
    )


def _nudge() -> float:
    try:
        value = float(view_option("nudge_by", str(FIRST_NUDGE)))
    except ValueError:
        value = FIRST_NUDGE
    value = FIRST_NUDGE if isnan(value) else max(-LARGEST_NUDGE, min(LARGEST_NUDGE, value))

    def store(chosen: float | None) -> None:
        set_view_option(
            "nudge_by", str(FIRST_NUDGE if chosen is None else chosen), str(FIRST_NUDGE)
        )

    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("Nudge (nats)")
        bound_to(
            st.number_input,
            "Nudge (nats)",
            "view.nudge_by",
            value,
            store,
            min_value=-LARGEST_NUDGE,
            max_value=LARGEST_NUDGE,
            step=0.5,
            label_visibility="collapsed",
            width=140,
        )
    return value


def _whole(option: str, default: int, most: int) -> int:
    """A page option that is a whole number from 0 on; `default` where it is none."""
    text = view_option(option, str(default))
    return min(most, int(text)) if text.isascii() and text.isdecimal() else default


@dataclass(frozen=True)
class Show:
    """A view of the distribution."""

    label: str  # on its button
    draw: Callable[[Scene], Drawn]  # draws its controls, and makes its picture


SHOWS = {
    "best": Show("best paths", _best),
    "samples": Show("samples", _samples),
    "reach": Show("reach", _reach),
}  # for scenes with at least one allowed path
