"""The naive way: every path of a short sentence on its own, until Z is complete."""

import streamlit as st

from crfviz.ui.panels.naive import chosen_words, enumeration
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.views.frames.naive import listing_note, path_frame, running_chart, seconds, sum_note

_, paths, steps, slow, fast, choice = header("Naive way", 2.2, 1.5, 1.5, 1.6, 1.6, 1.6)
current = scene()
words = chosen_words(current, choice)
every = enumeration(current.scenario, words)
K = len(current.tags)
paths.metric("paths, K^T", f"{every.num_paths:,}")
steps.metric("steps, T·K²", f"{words * K * K:,}")
slow.metric("every path", seconds(every.seconds))
fast.metric("recursion", seconds(every.recursion_seconds))
st.text(sum_note(every))
listing, picture = st.columns([3, 2])
frame = path_frame(every, current.tags)
listing.dataframe(
    frame.style.format({"score": "{:.4f}", "p": "{:.3g}", "running sum / Z": "{:.6f}"}),
    hide_index=True,
    height=380,
)
picture.altair_chart(
    running_chart(every), alt="running sum of exp(score) against Z; the list has the numbers"
)
st.caption(
    f"{listing_note(every)} Times: measured on this machine when the paths were added up, "
    "the recursion as the fastest of five runs."
)
if not current.tagger.probabilistic:
    st.caption("This model gives scores: p and Z are what a CRF with these scores would say.")
