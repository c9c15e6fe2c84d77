"""What if the sentence were written another way: which tags flip, and which scores moved."""

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui.panels.what_if import choose_change, show_changed, show_numbers, tried, ways_on
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.ui.words import plain

header("What if")
current = scene()
try:
    every = tried(current.scenario)
except CrfvizError as error:
    st.info(plain(f"{error}."))
    st.stop()
kind = choose_change(every)
changed = every[kind]
if changed is None:
    st.info(f"This sentence has nothing for “{kind}” to change. Choose another change.")
    st.stop()
show_changed(changed, kind)
ways_on(changed)
show_numbers(changed)
