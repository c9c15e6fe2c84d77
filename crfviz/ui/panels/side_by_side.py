"""Choosing what to compare, and the figures of both sides."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from crfviz.ui.panels.compare_choice import SIDES, Side, both_sides, label, options
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_view
from crfviz.ui.session.current import view_option
from crfviz.ui.words import plain
from crfviz.views.strips.side_by_side import difference_line, figures, figures_line

SCORES_ONLY = (
    "{model} was not trained to give probabilities: p, entropy and marginals are what a CRF with "
    "its scores would say."
)


def choose_sides(left: DeltaGenerator, right: DeltaGenerator) -> tuple[Side, Side]:
    """A select box for each side; a side that is gone is said, and its default takes its place."""
    known = options()
    chosen = []
    for place, (side, default) in zip((left, right), SIDES.items(), strict=True):
        wanted = view_option(side, default)
        if wanted not in known:
            st.warning(
                plain(
                    f"There is no {label(wanted)} to compare with: it was deleted, or belongs to "
                    f"another session. Side {side.upper()} shows “{label(default)}” instead."
                )
            )
        with place:
            chosen.append(
                bound_view(
                    st.selectbox,
                    side.upper(),
                    side,
                    known,
                    default,
                    format_func=partial(_labelled, side),
                    label_visibility="collapsed",
                )
            )
    return both_sides(chosen[0], chosen[1])


def _labelled(side: str, option: str) -> str:
    return f"{side.upper()}: {label(option)}"


def show_figures(a: Scene, b: Scene, words: str) -> None:
    """Both chains in numbers, B − A, and beside them what that means in words."""
    one, two = figures(a.now), figures(b.now)
    same_scale = a.model == b.model
    lines = (
        ("A", figures_line(one)),
        ("B", figures_line(two)),
        ("B − A", difference_line(one, two, same_scale=same_scale)),
    )
    for side in (a, b)[: 1 if a.model == b.model else 2]:
        if not side.probabilistic:
            st.caption(plain(SCORES_ONLY.format(model=side.model)))
    with st.container(key="figures"):
        numbers, sentence = st.columns([1.15, 1], vertical_alignment="center")
        numbers.markdown("  \n".join(f"**{name}** {plain(line)}" for name, line in lines))
        sentence.markdown(plain(words))
