"""From an HMM to a CRF: take logarithms, drop the sum to one, and see which shifts are free."""

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.panels.weights import shift_panel, weight_display
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.scenario_state import change
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, with_ghost
from crfviz.ui.widgets import narrowed
from crfviz.views.explanation import verdict
from crfviz.views.frames.chains import leaving_frame
from crfviz.views.stage.picture import Matrix, Picture
from crfviz.views.stage.walks import hmm_walk
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.pictures import PROBABILITY, emission_grid, marginal_grid

STEPS = (
    "An HMM multiplies probabilities; their logarithms are the scores of a CRF. A CRF divides by "
    "Z: its scores need no rows that sum to 1, and many tables say the same."
)

ICE_CREAM = "textbook/ice-cream"
PICTURES = {"numbers": "numbers", "graphs": "graphs"}

pictures, choice, hmm = header("HMM", "content", "content", "content")
current = scene()
if not current.of_probabilities and ICE_CREAM in cached.models():
    with hmm:
        st.button("Open the ice-cream HMM", on_click=lambda: change(model=ICE_CREAM))
shown = bound_tabs("Picture", "picture", PICTURES, "numbers", at=pictures)
with choice:
    display = weight_display(current)
grid = marginal_grid(current.now, None)
scores = with_ghost(
    current, lambda analysis: emission_grid(analysis, PROBABILITY if display == PROBABILITY else "")
)
numbers = ["strips", scores.name, grid.name]
picture = Picture(
    numbers if shown == "numbers" else ["directed", "graph", "strips"],
    decoder_rows(current.now, which=["viterbi", "max_marginal"]),
    [scores, grid],
    side=Matrix(display),
    walk=hmm_walk(scores.name, grid.name),
    note=verdict(current.trained, current.now),
)
drawn = show_stage(current, picture, key="hmm")
shifts, sums = st.columns([5, 3])
with shifts:
    st.subheader("Shifts that change nothing")
    st.caption(STEPS if current.of_probabilities else f"{STEPS} This model was never an HMM.")
    shift_panel(current)
with sums:
    st.subheader("Transitions from each tag")
    frame = leaving_frame(current.trained.potentials, current.now.potentials)
    st.dataframe(
        frame.style.format("{:.4g}", na_rep="–"), height=145, column_config=narrowed(frame)
    )
table_twin(drawn)
