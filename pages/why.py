"""Why this tag and not that one: the gap taken apart, pins, and the smallest flips."""

import streamlit as st

from crfviz.ui.panels.why import (
    attribution_panel,
    flips_panel,
    pin_panel,
    question,
    trained_answer,
    unpin_button,
)
from crfviz.ui.pictures import show_stage, table_twin, take_scene
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.shell.frame import header
from crfviz.views.explanation import explain
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.paths import entropy_row
from crfviz.views.strips.why import log_odds_row, why_gap, why_note, why_row

LEGEND = (
    "click a tag to compare it, or an emission bar to see which words it comes from · "
    "thick line: best path · red dashes: the best path with that tag"
)

_, pins = header("Why this tag", 1, 3)
plain = scene()
current = with_rule(plain)
asked = question(current)
rows = decoder_rows(current.now, which=["viterbi", "gold"], gold=current.gold)
if asked is None:
    note = explain(current.now)
    show_stage(current, Picture(["strips", "lattice"], rows, note=note), key="why")
    unpin_button(current)
    take_scene(current)
    st.stop()
rows = [
    *rows,
    why_row(asked),
    log_odds_row(current.now, asked.tag),
    entropy_row(current.now),
]
picture = Picture(
    ["strips", "lattice"],
    rows,
    side=why_gap(asked, trained_answer(current, asked)),
    contrast="why",
    asks="at",
    asked=(asked.position, asked.tag),
    note=why_note(asked),
    legend=LEGEND,
)
with pins:  # where they are in sight
    pin_panel(current, asked)
show_stage(current, picture, key="why")
attribution_panel(current, asked)
flips_panel(plain, asked)
table_twin(current, picture)
