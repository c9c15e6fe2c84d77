"""What each word alone says: the emission heatmap, every cell open to change."""

import streamlit as st

from crfviz.taggers.tagger import HMM
from crfviz.ui.panels.occlusion import origin
from crfviz.ui.pictures import show_stage, table_twin, with_ghost
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_buttons
from crfviz.views.explanation import explain, explain_edits
from crfviz.views.stage.parts import Panels
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.occlusion import LEGEND
from crfviz.views.strips.tables import EMISSION_DISPLAYS, PROBABILITY, emission_table

HINT = (
    "Click a cell and type, or drag it up and down; Alt+arrows nudge, Delete restores. "
    "-\u2060inf forbids the tag."
)

title, choice = st.columns([1, 3], vertical_alignment="center")
title.title("Emissions")
current = scene()
with choice:
    display = bound_buttons(
        "Show",
        "emissions",
        [name for name in EMISSION_DISPLAYS if name != PROBABILITY or current.family == HMM],
        PROBABILITY if current.family == HMM else "score",
        format_func=EMISSION_DISPLAYS.get,
        label_visibility="collapsed",
    )
table = with_ghost(current, lambda analysis: emission_table(analysis, display))
source = origin(current)
rows = [*decoder_rows(current.now, which=["greedy", "viterbi"]), *source.rows]
note = (
    explain_edits(current.trained, current.now, current.words, current.tags)
    if current.edited
    else explain(current.now, current.words, current.tags)
)
show_stage(
    current,
    Panels([table.name, "strips"]),
    key="emissions",
    rows=rows,
    tables=[table],
    note=f"{note} {source.note}",
    asks="cell",
    asked=source.asked,
    legend=f"{HINT} · {LEGEND}" if table.editable else LEGEND,
)
if table_twin(current, rows=rows, tables=[table]):
    st.dataframe(source.frame, hide_index=True)
