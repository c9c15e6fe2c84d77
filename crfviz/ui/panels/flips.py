"""The smallest changes of single weights that flip the decode."""

import pandas as pd
import streamlit as st

from crfviz.chain.questions.flips import Flip, smallest_change_for, smallest_flips
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.ui.scene import Scene
from crfviz.ui.widgets.asked import Question
from crfviz.ui.widgets.guard import guarded
from crfviz.views.numbers import score, signed

LIMIT = 10
MOST_TAGS = 64  # the time grows with the fourth power: 1 s there, a minute with 200


@st.fragment
@guarded("The table of the smallest changes")
def flips_panel(scene: Scene, asked: Question) -> None:
    """What it takes to get the tag that is asked about, and the ten smallest flips of all.

    They are found while the rest of the page can already be used.
    """
    st.subheader("The smallest changes of one weight")
    if len(scene.tags) > MOST_TAGS:
        st.info(
            f"They are looked for among up to {MOST_TAGS} tags: with {len(scene.tags)} that would "
            "take too long. The terms of one gap are above."
        )
        return
    with st.spinner("Looking at every weight …"):
        try:
            wanted = smallest_change_for(scene.now.potentials, asked.position, asked.tag)
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
    st.text(_answer(scene, asked, wanted))
    if not flips:
        st.info("No change of a single weight flips the best path.")
        return
    st.dataframe(pd.DataFrame([_line(scene, flip) for flip in flips]), hide_index=True)


def _answer(scene: Scene, asked: Question, flip: Flip | None) -> str:
    """What gives the word the tag that is asked for."""
    tag = f"{scene.tags[asked.tag]} at “{scene.words[asked.position]}”"
    if flip is None:
        return f"{tag} is on the best path. The ten smallest changes that flip any tag:"
    return (
        f"For {tag}: {_name(scene, flip)} from {score(flip.trained)} to {score(flip.value)}, a "
        f"change of {signed(flip.change, 3)}. The ten smallest changes that flip any tag:"
    )


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
