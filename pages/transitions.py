"""The transition matrix: change a score and watch decoding and marginals move."""

import streamlit as st

from crfviz.ui.panels.weights import chosen_ruler, flip_marks, weight_display
from crfviz.ui.pictures import show_stage, table_twin
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.ui.widgets import narrowed
from crfviz.views.explanation import explain, explain_edits
from crfviz.views.frames.chains import transition_frame
from crfviz.views.stage.parts import Matrix, Picture
from crfviz.views.strips.decoders import LABELS, decoder_rows
from crfviz.views.strips.grids import marginal_grid

HINT = (
    "Click a cell and type, or drag it up and down; Alt+arrows nudge, Delete restores. "
    "-\u2060inf forbids the step."
)

_, choice = header("Transitions", 1, 3)
current = scene()
with choice:
    display = weight_display(current)
before = current.trained if current.edited else None
note = explain_edits(current.trained, current.now) if current.edited else explain(current.now)
picture = Picture(
    ["strips", "lattice"],
    decoder_rows(current.now, which=list(LABELS), gold=current.gold, trained=before),
    side=Matrix(display, chosen_ruler(current), flip_marks(current)),
    note=note,
    hint=HINT,
    legend="rings: marginals as trained, the change in brackets" if current.edited else "",
)
show_stage(current, picture, key="transitions")
if table_twin(current, picture, grids=[marginal_grid(current.now, None)]):
    frame = transition_frame(current.now.potentials)
    st.dataframe(frame, column_config=narrowed(frame))
