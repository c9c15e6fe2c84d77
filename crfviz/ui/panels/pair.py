"""Edge marginals: two words of the sentence, and how their tags go together."""

import streamlit as st

from crfviz.chain.distribution import pair_marginals
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_place
from crfviz.ui.words import plain
from crfviz.views.figures.charts import pair_frame, pair_heatmap
from crfviz.views.formatting import format_probability


def pair_panel(scene: Scene) -> None:
    """Choose two words, see the joint probability of their tags."""
    st.subheader("Two words together")
    count = len(scene.words)
    if count < 2:
        st.info("Edge marginals need a sentence of two words or more.")
        return
    left, right = st.columns(2)
    first = bound_place("Earlier word", "first", scene.numbered(stop=count - 1), 0, at=left)
    second = bound_place("Later word", "second", scene.numbered(first + 1), first + 1, at=right)
    pairs = pair_marginals(scene.now.forward_backward, first, second)
    trained = (
        pair_marginals(scene.trained.forward_backward, first, second) if scene.edited else None
    )
    frame = pair_frame(pairs, scene.tags, trained)
    best = frame.iloc[0]
    st.container(key="wide-pair").altair_chart(pair_heatmap(frame, scene.tags), width="stretch")
    st.dataframe(frame.head(10), hide_index=True)
    was = f", trained {format_probability(best['trained'], 4)}" if scene.edited else ""
    names = plain(f"{best['first']} then {best['second']}")
    st.caption(
        f"p({names}) = {format_probability(best['probability'], 4)}{was}. "
        "Neighbours show the edge marginals; words further apart are joined through all tags "
        "between."
    )
