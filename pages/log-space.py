"""Log space and batching: what logarithms save, and how a padded batch is held still."""

import streamlit as st

from crfviz.ui.panels.log_space import batch_panel, sum_panel, underflow_panel
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_buttons

PARTS = {
    "sum": ("log-sum-exp of one cell", sum_panel),
    "underflow": ("α that underflows", underflow_panel),
    "batch": ("a padded batch", batch_panel),
}

title, choice = st.columns([1, 3], vertical_alignment="center")
title.title("Log space")
current = scene()
with choice:
    part = bound_buttons(
        "Part",
        "log_space",
        list(PARTS),
        "sum",
        format_func=lambda name: PARTS[name][0],
        label_visibility="collapsed",
    )
PARTS[part][1](current)
