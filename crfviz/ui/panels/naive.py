"""The enumeration of the first words, counted once and kept."""

import streamlit as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.demonstrations.naive import (
    Enumeration,
    enumerate_paths,
    words_that_fit,
)
from crfviz.ui import cached
from crfviz.ui.asking.asked import Asked, ask_about
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_place
from crfviz.ui.state.scenario import Scenario
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain
from crfviz.views.frames.demonstrations import refusal


def chosen_words(scene: Scene, place: DeltaGenerator) -> int:
    """How many words from the first on are enumerated; all that fit, until somebody chooses."""
    potentials = scene.now.potentials
    fit = words_that_fit(potentials)
    if fit < potentials.num_tokens:
        st.info(plain(refusal(potentials, fit)))
    if fit == 0:
        st.stop()
    return bound_place(
        "First words", "naive", {n: str(n) for n in range(1, fit + 1)}, fit, at=place
    )


@st.cache_data(max_entries=32, show_spinner="Adding up every path …", hash_funcs=cached.BY_NUMBERS)
def enumeration(now: Scenario, words: int) -> Enumeration:
    """All paths of the first words, with the edits and pins."""
    return enumerate_paths(cached.edited(now).potentials.first_words(words))


def ask_about_first(scene: Scene, words: int) -> Asked | None:
    """The question about the first words, if one is asked."""
    now = analyse(scene.now.potentials.first_words(words))
    trained = analyse(scene.trained.potentials.first_words(words)) if scene.edited else now
    return ask_about(now, trained, "naive")
