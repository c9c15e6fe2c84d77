"""The transition matrix: change a score, and see how decoding and marginals change."""

from dataclasses import replace

import streamlit as st

from crfviz.ui.panels.weights import chosen_ruler, flip_marks, weight_display, weights_note
from crfviz.ui.panels.why import word_panel
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin
from crfviz.ui.widgets import narrowed
from crfviz.views.frames.chains import transition_frame
from crfviz.views.stage.picture import Matrix
from crfviz.views.strips.pictures import marginal_grid, transition_picture

(choice,) = header("Transitions", "content", display=True)
current = scene(windows=True)
with choice:
    display = weight_display(current)
before = current.trained if current.edited else None
matrix = Matrix(display, chosen_ruler(current), flip_marks(current))
picture = transition_picture(current.now, before, current.gold, matrix)
picture = replace(picture, note=f"{picture.note} {weights_note(current)}".strip())
drawn = show_stage(current, picture, key="transitions")
word_panel(drawn)
if table_twin(drawn, grids=[marginal_grid(current.now, None)], page="transitions"):
    frame = transition_frame(current.now.potentials)
    st.dataframe(frame, column_config=narrowed(frame))
