"""Viterbi step by step: forward over the columns, back along the backpointers."""

import streamlit as st

from crfviz.ui.pictures import show_stage, table_twin
from crfviz.ui.scene import scene
from crfviz.views.stage.parts import Panels
from crfviz.views.strips.decoders import backpointer_rows, decoder_rows
from crfviz.views.strips.tables import best_table

LEGEND = (
    "→ ← or PageDown PageUp: step · ↑ ↓ or click: choose a cell · "
    "thick: best path · dashes: backpointers that tie"
)

st.title("Viterbi")
current = scene()
rows = decoder_rows(current.now, which=["viterbi", "gold"], gold=current.gold)
show_stage(
    current,
    Panels(["strips", "lattice"], side="cell", stepper=True),
    key="viterbi",
    rows=rows,
    legend=LEGEND,
)
table_twin(
    current,
    rows=[*rows, *backpointer_rows(current.now, current.tags)],
    tables=[best_table(current.now)],
)
