"""The naive way: add up every path of a short sentence, one by one, until Z is complete."""

import streamlit as st

from crfviz.ui.panels.demonstrations import ask_about_first, chosen_words, enumeration
from crfviz.ui.pictures import show_steps, take_scene
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.views.frames.demonstrations import (
    listing_note,
    path_frame,
    running_chart,
    seconds,
    sum_note,
)
from crfviz.views.stage.picture import naive_walk, paths_at

TALLEST = 338  # maximum height of the list, in pixels

paths, steps, slow, fast, choice = header("Naive way", 130, 130, 130, 130, 110)
current = scene()
words = chosen_words(current, choice)
every = enumeration(current.scenario, words)
K = len(current.tags)
walk = naive_walk(every.num_paths)
asked = ask_about_first(current, words)
done = show_steps(current, walk, key="naive")
if asked is not None and not asked.answer:
    st.caption("The list comes with the answer.")
    st.stop()
listed = paths_at(done, every.num_paths)
finished = done == walk.steps(words)
paths.metric("paths, K^T", f"{every.num_paths:,}")
if listed == every.num_paths:
    slow.metric("every path", seconds(every.seconds))
if finished:
    steps.metric("steps, T·K²", f"{words * K * K:,}")
    fast.metric("recursion", seconds(every.recursion_seconds))
    st.text(sum_note(every))
if listed == 0:
    st.stop()
listing, picture = st.columns([3, 2])
frame = path_frame(every, current.tags)
frame = frame[frame["rank"] <= listed]
listing.dataframe(
    frame.style.format({"score": "{:.4f}", "p": "{:.3g}", "running sum / Z": "{:.6f}"}),
    hide_index=True,
    height=min(TALLEST, 38 + 35 * len(frame)),
)
picture.container(key="wide-running").altair_chart(
    running_chart(every, listed),
    alt="running sum of exp(score) against Z; the list has the numbers",
)
if finished:
    st.caption(
        f"{listing_note(every)} Times: measured on this machine when the paths were added up, "
        "the recursion as the fastest of five runs."
    )
if not current.tagger.probabilistic:
    st.caption("This model gives scores: p and Z are what a CRF with these scores would say.")
take_scene(current, "forward-backward", has_picture=False)
