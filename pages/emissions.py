"""What each word alone says: the emission heatmap, every cell open to change."""

import streamlit as st

from crfviz.taggers.tagger import HMM
from crfviz.ui.panels.occlusion import origin
from crfviz.ui.pictures import show_stage, table_twin, with_ghost
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.views.explanation import explain, explain_edits
from crfviz.views.stage.parts import Picture
from crfviz.views.stage.steps import emission_walk
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.grids import EMISSION_DISPLAYS, PROBABILITY, emission_grid
from crfviz.views.strips.occlusion import LEGEND

HINT = (
    "Click a cell and type, or drag it up and down; Alt+arrows nudge, Delete restores. "
    "-\u2060inf forbids the tag."
)

_, choice = header("Emissions", 1, 3)
current = scene()
of_words = current.tagger.family == HMM  # an HMM says how probable a word is given the tag
displays = {
    name: text for name, text in EMISSION_DISPLAYS.items() if name != PROBABILITY or of_words
}
display = bound_tabs("Show", "emissions", displays, PROBABILITY if of_words else "score", at=choice)
grid = with_ghost(current, lambda analysis: emission_grid(analysis, display))
source = origin(current)
note = explain_edits(current.trained, current.now) if current.edited else explain(current.now)
picture = Picture(
    [grid.name, "strips"],
    [*decoder_rows(current.now, which=["greedy", "viterbi"]), *source.rows],
    [grid],
    note=f"{note} {source.note}",
    walk=emission_walk(grid.name),
    asks="cell",
    asked=source.asked,
    legend=f"{HINT} · {LEGEND}" if grid.editable else LEGEND,
)
show_stage(current, picture, key="emissions")
if table_twin(current, picture):
    st.dataframe(source.frame, hide_index=True)
