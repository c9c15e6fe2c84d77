"""EM: a hidden Markov model learns from a diary without tags, iteration by iteration."""

import streamlit as st

from crfviz.ui.panels.learning import (
    days_table,
    parameter_buttons,
    scene_with_states,
    scrubber,
    training,
)
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_flag
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_steps
from crfviz.ui.words import plain
from crfviz.views.frames.em import (
    count_frame,
    curve_chart,
    days_chart,
    days_note,
    em_walk,
    history_frame,
    name_of,
)

FEW = 7  # most numbers per row that leave room for a wide curve

start, length, along = header("EM", 240, "content", 180)
current = scene_with_states(scene())
run = training(current, start, length)
if run is None:
    end_page()
done = show_steps(current, em_walk(run.steps), key="em")
with along:
    scrubber(run, done)
curve, numbers = st.columns([2, 3] if run.width <= FEW else [1, 4])
curve.container(key="wide-curve").altair_chart(
    curve_chart(run.steps, done), alt="log-likelihood by iteration; the tables have the numbers"
)
with numbers.container(key="em-numbers"):
    number = parameter_buttons(run, done)
table = days_table(current, run, done, number)
what, days = str(table.columns[0]), table.iloc[:, 0].to_numpy()
st.container(key="wide-days").altair_chart(
    days_chart(table), alt="posterior of each day, and what it adds to the count; see the tables"
)
st.caption(plain(days_note(what, name_of(number, *run.names), days)))
if bound_flag(st.toggle, "Show tables", "twin"):
    st.text(
        f"The expected counts under the numbers above, and what iteration {done + 1} makes of it"
    )
    st.dataframe(count_frame(run.steps[done], run.starts[done], run.names))
    st.text("Each day")
    st.dataframe(table)
    st.text("Every iteration so far")
    st.dataframe(history_frame(run.starts[: done + 1], run.steps[: done + 1], run.names))
