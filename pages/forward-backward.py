"""The sums over all paths: alpha, beta, and Z at every position."""

import streamlit as st

from crfviz.ui.pictures import show_stage, table_twin, with_ghost
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_buttons
from crfviz.views.stage.parts import Cell, Picture
from crfviz.views.strips.grids import (
    CONVENTIONS,
    SWEEP_DISPLAYS,
    alpha_grid,
    beta_grid,
    consistency_note,
    consistency_rows,
)

LEGEND = (
    "Σ α, float32: the same recursion without logarithms, the weights of each step scaled to sum "
    "to 1; the numbers only shrink, and a cell is lost when its product becomes 0"
)

title, left, right = st.columns([2, 2, 3], vertical_alignment="center")
title.title("Forward–backward")
current = scene()
with left:
    display = bound_buttons(
        "Numbers",
        "sweep",
        list(SWEEP_DISPLAYS),
        "log",
        format_func=SWEEP_DISPLAYS.get,
        label_visibility="collapsed",
    )
with right:
    convention = bound_buttons(
        "Convention",
        "alpha",
        list(CONVENTIONS),
        "included",
        format_func=CONVENTIONS.get,
        label_visibility="collapsed",
    )
grids = [
    with_ghost(current, lambda analysis: alpha_grid(analysis, display, convention)),
    with_ghost(current, lambda analysis: beta_grid(analysis, display)),
]
picture = Picture(
    ["alpha", "beta", "strips"],
    consistency_rows(current.now),
    grids,
    side=Cell(),
    note=consistency_note(current.now),
    legend=LEGEND,
)
show_stage(current, picture, key="forward-backward")
table_twin(current, picture)
