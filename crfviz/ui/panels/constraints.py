"""The BIO-legal switch, and what it is worth: the illegal mass and the words that change."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import Edits
from crfviz.chain.entities.illegal_mass import ConstraintEffect, constraint_effect
from crfviz.exceptions import NoPathError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.current import change, scenario
from crfviz.ui.words import plain
from crfviz.views.strips.decoders import constraint_note


def constraint_panel(
    scene: Scene, head: DeltaGenerator
) -> tuple[Analysis, ConstraintEffect | None]:
    """Draw the switch into `head`, and the figures here.

    Returns:
        The chain without the rules, edits and pins kept; and what the rules do to it, None where
        no path is allowed at all.
    """
    now = scene.scenario
    free = cached.edited(replace(now, edits=replace(now.edits, constrained=False)))
    try:
        effect = constraint_effect(free.potentials)
    except NoPathError:
        effect = None
    with head:
        bound_to(
            st.toggle,
            "BIO-legal tags only",
            "constrained",
            now.edits.constrained,
            _switch,
            help="Forbids I-X where no B-X or I-X stands before it. The entity below is computed "
            "with this switch as it stands.",
        )
    if effect is not None:
        mass, changed, words = st.columns([2, 1.5, 4], vertical_alignment="center")
        mass.metric(
            "Illegal mass 1 − Z_legal / Z",
            _written(effect.mass),
            help=f"{effect.mass!r}, of the chain without the rules",
        )
        count = "–" if effect.constrained is None else str(len(effect.changed))
        changed.metric("Words changed", count)
        words.markdown(plain(constraint_note(effect, scene.words, scene.tags)))
    return free, effect


def trained_free(scene: Scene) -> Analysis | None:
    """The chain without the rules as it was trained; None where nothing is edited."""
    if not scene.edited:
        return None
    return cached.edited(replace(scene.scenario, edits=Edits(constrained=False), pins={}))


def _switch(constrained: bool) -> None:  # noqa: FBT001 - what st.toggle hands over
    change(edits=replace(scenario().edits, constrained=constrained))


def _written(mass: float) -> str:
    """Four digits that mean something; 0 and 1 only where it is so."""
    if 0.0 < mass < 1e-4:
        return f"{mass:.3e}"
    text = f"{mass:.5f}"
    return "> 0.99999" if text == "1.00000" and mass < 1.0 else text
