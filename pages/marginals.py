"""Marginals: the probabilities of tags, of pairs of tags, and of whole paths."""

import streamlit as st

from crfviz.ui.panels.distribution import pair_panel
from crfviz.ui.panels.why import word_panel
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.session.page_options import increment_option, number_option
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, with_ghost
from crfviz.views.stage.picture import Bars, Picture
from crfviz.views.stage.walks import marginal_walk
from crfviz.views.strips.paths import best_rows, entropy_note, sample_rows, trained_rows
from crfviz.views.strips.pictures import marginal_grid

MAX_DRAWS = 999_999_999

header("Marginals")
current = with_rule(scene(windows=True))
draw = number_option("draw", 0, 0, MAX_DRAWS)
before = trained_rows(current.trained) if current.edited else []
best = best_rows(current.now, 5)
samples = sample_rows(current.now, 10, seed=draw)
picture = Picture(
    ["marginals", "strips"],
    [*before, *best, *samples],
    [with_ghost(current, lambda analysis: marginal_grid(analysis, analysis.max_marginal))],
    side=Bars(),
    reference="best_1",
    note=entropy_note(current.now),
    walk=marginal_walk([row.id for row in [*before, *best]], [row.id for row in samples]),
    legend="7 of 10: how often this path was drawn · red dashes: differs from the best path · "
    "point at a word for its bars",
)
drawn = show_stage(current, picture, key="marginals")
word_panel(drawn)
st.button("Draw ten other samples", on_click=increment_option, args=("draw", MAX_DRAWS))
table_twin(drawn, page="marginals")
pair_panel(current)
