"""Check my homework: somebody's table beside the right one, and the bug that made it."""

import streamlit as st

from crfviz.chain.homework.check import check
from crfviz.chain.homework.programs import ALPHA, KINDS
from crfviz.exceptions import CrfvizError
from crfviz.ui.panels.homework import show_checked, table_box
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_buttons
from crfviz.ui.words import plain
from crfviz.views.frames.homework import KIND_NAMES

title, choice = st.columns([1, 3], vertical_alignment="center")
title.title("Homework")
current = scene()
with choice:
    kind = bound_buttons(
        "Table of",
        "kind",
        KINDS,
        ALPHA,
        format_func=KIND_NAMES.get,
        label_visibility="collapsed",
    )
try:
    table = table_box(current, kind)
    if table is not None:
        checked = check(current.now.potentials, kind, table.values)
        show_checked(current, kind, checked)
except CrfvizError as error:
    st.error(plain(f"{error}"))
