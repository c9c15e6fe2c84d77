"""Risk: the path of least cost, and sets of paths that hold the right one at a given rate."""

import streamlit as st

from crfviz.ui.panels.compare import SCORES_ONLY
from crfviz.ui.panels.risk import SHOWS, calibrated_set, code_of, cost_frame, dial, measured
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, take_scene
from crfviz.ui.words import plain
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.paths import ranked_rows

(choice,) = header("Risk", "content")
current = with_rule(scene())
show = bound_tabs("Show", "risk", SHOWS, "dial", at=choice)
if current.now.viterbi is None:
    rows = decoder_rows(current.now, which=["viterbi"])
    show_stage(current, Picture(["strips", "lattice"], rows), key="risk", asks=False)
    take_scene(current)
    end_page()
if not current.tagger.probabilistic:
    st.caption(plain(SCORES_ONLY.format(model=current.model)))
picture = dial(current) if show == "dial" else calibrated_set(current)
drawn = show_stage(current, picture, key="risk", asks=False)
paths = [] if picture.used is None else ranked_rows(picture.used.paths)
has_tables = table_twin(drawn, rows=paths, code=code_of(current, picture), keep=True)
if has_tables and show == "dial":
    frame = cost_frame(current)
    if frame is not None:
        st.text("Cost by true tag (row) and chosen tag (column)")
        st.dataframe(frame)
if show == "set":
    measured(current)
