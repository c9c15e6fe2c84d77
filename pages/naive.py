"""The naive way: add up every path of a short sentence, one by one, until Z is complete."""

import streamlit as st

from crfviz.ui.panels.demonstrations import (
    ask_about_first,
    chosen_words,
    enumeration,
    show_listing,
)
from crfviz.ui.scene import scene
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_steps, take_scene
from crfviz.views.frames.demonstrations import listing_note, seconds, sum_note
from crfviz.views.stage.walks import naive_walk, paths_at

(choice,) = header("Naive way", 150)
current = scene()
words = chosen_words(current, choice)
every = enumeration(current.scenario, words)
K = len(current.tags)
walk = naive_walk(every.num_paths)
asked = ask_about_first(current, words)
done = show_steps(current, walk, key="naive")
if asked is not None and not asked.answer:
    st.caption("The list comes with the answer.")
    end_page()
listed = paths_at(done, every.num_paths)
finished = done == walk.steps(words)
if finished:
    st.text(sum_note(every))
if listed:
    show_listing(every, current.tags, listed)
paths, steps, slow, fast = st.columns(4)
paths.metric("paths, K^T", f"{every.num_paths:,}")
if listed == every.num_paths:
    slow.metric("every path", seconds(every.seconds))
if finished:
    steps.metric("steps, T·K²", f"{words * K * K:,}")
    fast.metric("recursion", seconds(every.recursion_seconds))
if finished:
    st.caption(
        f"{listing_note(every)} Times: measured on this machine when the paths were added up, "
        "the recursion as the fastest of five runs."
    )
if not current.tagger.probabilistic:
    st.caption("This model gives scores: p and Z are what a CRF with these scores would say.")
take_scene(current, "forward-backward", has_picture=False)
