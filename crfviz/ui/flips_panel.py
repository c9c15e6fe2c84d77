"""The smallest changes of single weights that flip the decode."""

import pandas as pd
import streamlit as st

from crfviz.chain.flips import Flip, smallest_flips
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.ui.scene import Scene

LIMIT = 10


@st.fragment
def flips_panel(scene: Scene) -> None:
    """A table of the ten smallest, found while the rest of the page can already be used."""
    st.subheader("The smallest changes that flip the best path")
    with st.spinner("Looking at every weight …"):
        try:
            flips = smallest_flips(scene.now.potentials, LIMIT)
        except NoPathError as error:
            st.info(str(error))
            return
        except CrfvizError:
            st.info(
                "Each step has a transition matrix of its own here, so that a weight has no single "
                "value to change. Choose a model with one matrix, such as upos-en."
            )
            return
    if not flips:
        st.info("No change of a single weight flips the best path.")
        return
    st.dataframe(pd.DataFrame([_line(scene, flip) for flip in flips]), hide_index=True)


def _line(scene: Scene, flip: Flip) -> dict[str, object]:
    before = scene.now.viterbi.path if scene.now.viterbi else flip.path
    moved = [
        f"{t + 1} {scene.words[t]}: {scene.tags[before[t]]} → {scene.tags[flip.path[t]]}"
        for t in flip.changed
    ]
    return {
        "weight": _name(scene, flip),
        "now": flip.trained,
        "flips at": flip.value,
        "change": flip.change,
        "then": ", ".join(moved),
    }


def _name(scene: Scene, flip: Flip) -> str:
    kind, *where = flip.weight
    if kind == "start":
        return f"START → {scene.tags[where[0]]}"
    if kind == "end":
        return f"{scene.tags[where[0]]} → END"
    if kind == "emission":
        return f"{scene.tags[where[1]]} at {where[0] + 1} {scene.words[where[0]]}"
    return f"{scene.tags[where[0]]} → {scene.tags[where[1]]}"
