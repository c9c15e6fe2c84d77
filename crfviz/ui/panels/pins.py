"""Conditioning on tags: pin one, forbid one, and what the pins cost."""

import math

import streamlit as st

from crfviz.chain.questions.conditioning import condition
from crfviz.exceptions import NoPathError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.current import change, scenario
from crfviz.ui.widgets.asked import Question
from crfviz.views.numbers import probability, score


def pin_panel(scene: Scene, asked: Question) -> None:
    """Buttons for the tag that is asked about, and the price of all pins so far."""
    tag, position = scene.tags[asked.tag], asked.position
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(f"Pin {tag} at word {position + 1}", on_click=_pin, args=(position, tag))
        st.button(f"Forbid {tag} at word {position + 1}", on_click=_forbid, args=(position, tag))
        unpin_button(scene)
        if scene.scenario.pins:
            st.text(_price(scene))


def unpin_button(scene: Scene) -> None:
    """Drop every pin."""
    pins = scene.scenario.pins
    st.button("Unpin all", on_click=lambda: change(pins={}), disabled=not pins)


def _pin(position: int, tag: str) -> None:
    change(pins={**scenario().pins, position: tag})


def _forbid(position: int, tag: str) -> None:
    change(edits=scenario().edits.with_emission(position, tag, -math.inf))


def _price(scene: Scene) -> str:
    now = scene.scenario
    free = cached.unpinned(now)
    within = {position: tag for position, tag in now.pins.items() if position < len(scene.words)}
    shown = ", ".join(f"{tag} at {position + 1}" for position, tag in sorted(within.items()))
    try:
        given = condition(free.potentials, within)
    except NoPathError:
        return f"Pinned: {shown}. No allowed path has these tags; unpin one."
    return (
        f"Pinned: {shown}. P(pins | x) = {probability(given.probability, 4)}, "
        f"a cost of {score(given.cost, 3)} nats; the best path loses {score(given.score_loss, 3)}."
    )
