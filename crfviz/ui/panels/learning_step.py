"""One step of learning: which tags are right, how large the step is, what it does."""

import math
from dataclasses import dataclass

import streamlit as st

from crfviz.chain.questions.sensitivity import GradientStep, gradient_step, loss
from crfviz.exceptions import CrfvizError
from crfviz.ui.scene import Scene, scene_of
from crfviz.ui.session.bound import bound_text
from crfviz.ui.session.current import change, scenario, set_right, view_option
from crfviz.ui.session.kept import refusals_said
from crfviz.ui.words import plain, quote
from crfviz.views.explanation import step_note

SIZE, LARGEST_SIZE = "0.5", 100.0


@dataclass(frozen=True)
class Learning:
    """What the reader wants the tagger to learn, and what one step of it does."""

    right: list[int]  # T tag ids
    step: GradientStep | None  # None where the size is no number or the right tags are forbidden
    note: str


def right_tags(scene: Scene) -> list[int]:
    """T tag ids: what the reader marked, else gold where it is known, else the trained decode."""
    trained = scene.trained
    decoded = trained.paths["viterbi"] or trained.greedy
    return [
        scene.tags.index(marked) if (marked := scene.scenario.right.get(t)) else known
        for t, known in enumerate(scene.gold or decoded)
    ]


def step_size(text: str) -> float:
    """The size of a step as somebody typed it.

    Raises:
        CrfvizError: it is no number or too large; says what to type.
    """
    typed = text.strip().replace("−", "-").replace(",", ".")
    try:
        size = float(typed)
    except ValueError:
        size = math.nan
    if not math.isfinite(size):
        raise CrfvizError(f"{quote(text)} is no step size. Type a number such as {SIZE}.")
    if abs(size) > LARGEST_SIZE:
        raise CrfvizError(
            f"A step of {quote(text)} is too large: type a number from -{LARGEST_SIZE:g} to "
            f"{LARGEST_SIZE:g}, such as {SIZE}."
        )
    return size


def lesson(scene: Scene) -> Learning:
    """What one step of the chosen size does; what cannot be done is said on the page."""
    right = right_tags(scene)
    now = scene.now.potentials
    if not now.homogeneous:
        st.info("This chain has a transition matrix for each word and no CRF layer to learn.")
        return Learning(right, None, "")
    if scene.now.viterbi is None or loss(now, right) == math.inf:
        st.info(
            "The gold tags are forbidden here: their probability is 0, and no step changes what "
            "is forbidden. Mark other tags, drop the pin, or undo the edit that forbids them."
        )
        return Learning(right, None, "")
    try:
        step = gradient_step(now, right, step_size(view_option("size", SIZE)))
    except CrfvizError as error:
        st.warning(plain(str(error)))
        return Learning(right, gradient_step(now, right, 0.0), "")
    return Learning(right, step, step_note(step, now, loss(scene.trained.potentials, right)))


def take_step() -> None:
    """Make the step, as edits of the matrix that can be undone, towards the tags right by now."""
    with refusals_said():
        here = scene_of(scenario())
        before = here.now.potentials
        step = gradient_step(before, right_tags(here), step_size(view_option("size", SIZE)))
        change(edits=here.scenario.edits.reaching(before, step.potentials))


def controls(lesson: Learning) -> None:
    """Choose the size, make the step, drop the marks."""
    able, marks = bool(lesson.note), scenario().right
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("Step size")
        bound_text("Step size", "size", SIZE, label_visibility="collapsed", width=100)
        st.button("Take the step", on_click=take_step, disabled=not able)
        st.button("Reset gold tags", on_click=set_right, args=({},), disabled=not marks)
