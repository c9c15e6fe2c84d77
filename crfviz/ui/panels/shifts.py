"""Shifts that leave every marginal the same, to be applied to the scenario."""

import streamlit as st

from crfviz.chain.edits import Edits
from crfviz.chain.questions.gauge import shift_tag, shift_word
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_buttons, bound_place, bound_select
from crfviz.ui.session.current import change

AMOUNTS = ("1", "0.5", "2", "-1")  # nats, the first one at first


def shift_panel(scene: Scene) -> None:
    """Two shifts, each with what it moves and a button."""
    amount, word, tag = st.columns([1.3, 1, 1])
    nats = bound_buttons("Add c =", "shift", AMOUNTS, AMOUNTS[0], at=amount)
    with word:
        _word(scene, float(nats))
    with tag:
        _tag(scene, float(nats))


def _word(scene: Scene, amount: float) -> None:
    chosen = bound_place("to every tag at the word", "shift_word", scene.numbered(), 0)
    now = cached.unpinned(scene.scenario).potentials  # a pin must not keep a tag from its shift
    st.button(
        "Shift the word",
        on_click=_apply,
        args=(shift_word(now, scene.scenario.edits, chosen, amount),),
        help="Every path passes through the word once and gains c: log Z grows by c as well.",
    )


def _tag(scene: Scene, amount: float) -> None:
    now = cached.unpinned(scene.scenario).potentials
    if not now.homogeneous:
        st.caption("A tag cannot be shifted here: each step of this model has its own matrix.")
        return
    tag = bound_select("into the tag, −c out of it", "shift_tag", scene.tags, scene.tags[0])
    st.button(
        "Shift the tag",
        on_click=_apply,
        args=(shift_tag(now, scene.scenario.edits, tag, amount),),
        help="Whoever enters the tag gains c and loses it when leaving: not even Z changes.",
    )


def _apply(edits: Edits) -> None:
    change(edits=edits)
