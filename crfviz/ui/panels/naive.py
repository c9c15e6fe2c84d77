"""The enumeration of the first words, counted once and kept."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from crfviz.chain.demonstrations.naive import (
    Enumeration,
    enumerate_paths,
    words_that_fit,
)
from crfviz.chain.potentials import Potentials
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_view
from crfviz.ui.state.link import encode_changes
from crfviz.ui.words import plain
from crfviz.views.tables.naive import refusal


def chosen_words(scene: Scene, place: DeltaGenerator) -> int:
    """How many words from the first on are enumerated; all that fit, until somebody chooses.

    Args:
        scene: the sentence.
        place: where to choose.
    """
    potentials = scene.now.potentials
    fit = words_that_fit(potentials)
    if fit < potentials.num_tokens:
        st.info(plain(refusal(potentials, fit)))
    if fit == 0:
        st.stop()
    options = [str(n) for n in range(1, fit + 1)]
    with place:
        return int(bound_view(st.selectbox, "First words", "naive", options, options[-1]))


def enumeration(scene: Scene, words: int) -> Enumeration:
    """All paths of the first words, with the edits."""
    changes = urlencode(encode_changes(scene.scenario))
    return _enumeration(scene.model, scene.scenario.sentence, changes, words, scene.now.potentials)


@st.cache_data(max_entries=32, show_spinner="Adding up every path …")
def _enumeration(
    model: str,  # noqa: ARG001 - the names and numbers the result is kept under
    sentence: str,  # noqa: ARG001
    changes: str,  # noqa: ARG001
    words: int,
    _potentials: Potentials,
) -> Enumeration:
    return enumerate_paths(_potentials.first_words(words))
