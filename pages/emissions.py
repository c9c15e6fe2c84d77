"""Emissions: the heatmap of each word's scores for each tag; every cell can be edited."""

from dataclasses import replace

import streamlit as st

from crfviz.taggers.tagger import HMM
from crfviz.ui.panels.why import origin, word_panel
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin
from crfviz.views.strips.pictures import EMISSION_DISPLAYS, PROBABILITY, emission_picture
from crfviz.views.strips.why import LEGEND

(choice,) = header("Emissions", "content", display=True)
current = scene(windows=True)
# the emissions of an HMM are probabilities of the word given the tag
of_words = current.tagger.family == HMM
displays = {
    name: text for name, text in EMISSION_DISPLAYS.items() if name != PROBABILITY or of_words
}
display = bound_tabs("Show", "emissions", displays, PROBABILITY if of_words else "score", at=choice)
before = current.trained if current.edited else None
source = origin(current)
picture = emission_picture(current.now, before, display)
picture = replace(
    picture,
    rows=[*picture.rows, *source.rows],
    note=f"{picture.note} {source.note}",
    asks="cell",
    asked=source.asked,
    legend=" · ".join(filter(None, [picture.legend, LEGEND])),
)
drawn = show_stage(current, picture, key="emissions")
word_panel(drawn)
if table_twin(drawn, page="emissions"):
    st.dataframe(source.frame, hide_index=True)
