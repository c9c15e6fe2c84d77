"""Shifts that leave every marginal the same, to be applied to the scenario."""

import streamlit as st

from crfviz.chain.questions.gauge import shift_tag, shift_word
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_buttons, bound_place, bound_select
from crfviz.ui.session.current import change, number_option, one_of, scenario
from crfviz.ui.session.kept import refusals_said

AMOUNTS = ("1", "0.5", "2", "-1")  # nats, the first one at first


def shift_panel(scene: Scene) -> None:
    """Two shifts, each with what it moves and a button."""
    amount, word, tag = st.columns([1.3, 1, 1])
    bound_buttons("Add c =", "shift", AMOUNTS, AMOUNTS[0], at=amount)
    bound_place("to every tag at the word", "shift_word", scene.numbered(), 0, at=word)
    word.button(
        "Shift the word",
        on_click=_shift,
        args=("shift_word",),
        help="Every path passes through the word once and gains c: log Z grows by c as well.",
    )
    if not scene.now.potentials.homogeneous:
        tag.caption("A tag cannot be shifted here: each step of this model has its own matrix.")
        return
    bound_select("into the tag, −c out of it", "shift_tag", scene.tags, scene.tags[0], at=tag)
    tag.button(
        "Shift the tag",
        on_click=_shift,
        args=("shift_tag",),
        help="Whoever enters the tag gains c and loses it when leaving: not even Z changes.",
    )


def _shift(what: str) -> None:
    """By what is chosen now: the button may be that of the run before the choice."""
    now = scenario()
    nats = float(one_of("shift", AMOUNTS, AMOUNTS[0]))
    with refusals_said():
        chain = cached.unpinned(now).potentials  # a pin must not keep a tag from its shift
        if what == "shift_word":
            word = number_option(what, 0, 0, chain.num_tokens - 1)
            change(edits=shift_word(chain, now.edits, word, nats))
        else:
            tag = one_of(what, chain.tag_names, chain.tag_names[0])
            change(edits=shift_tag(chain, now.edits, tag, nats))
