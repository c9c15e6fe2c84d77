"""Edge marginals: two words of the sentence, and how their tags go together."""

import streamlit as st

from crfviz.chain.demonstrations.distribution import pair_marginals
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.current import set_view_option, view_option
from crfviz.views.figures.pair import pair_frame, pair_heatmap


def pair_panel(scene: Scene) -> None:
    """Choose two words, see the joint probability of their tags."""
    st.subheader("Two words together")
    count = len(scene.words)
    if count < 2:
        st.info("Edge marginals need a sentence of two words or more.")
        return
    left, right = st.columns(2)
    with left:
        first = _choice("Earlier word", "first", scene, range(count - 1), 0)
    with right:
        second = _choice("Later word", "second", scene, range(first + 1, count), first + 1)
    pairs = pair_marginals(scene.now.forward_backward, first, second)
    trained = (
        pair_marginals(scene.trained.forward_backward, first, second) if scene.edited else None
    )
    frame = pair_frame(pairs, scene.tags, trained)
    best = frame.iloc[0]
    st.altair_chart(pair_heatmap(frame, scene.tags), width="stretch")
    st.dataframe(frame.head(10), hide_index=True)
    was = f", trained {best['trained']:.4f}" if scene.edited else ""
    st.caption(
        f"p({best['first']} then {best['second']}) = {best['probability']:.4f}{was}. "
        "Neighbours show the edge marginals; words further apart are joined through all tags "
        "between."
    )


def _choice(label: str, name: str, scene: Scene, positions: range, default: int) -> int:
    """A word by its position; words repeat, so the number stands beside it."""
    chosen = view_option(name, str(default))
    value = int(chosen) if chosen.isdecimal() and int(chosen) in positions else default

    def store(position: int) -> None:
        set_view_option(name, str(position), str(default))

    bound_to(
        st.selectbox,
        label,
        f"view.{name}",
        value,
        store,
        options=list(positions),
        format_func=lambda t: f"{t + 1}  {scene.words[t]}",
    )
    return value
