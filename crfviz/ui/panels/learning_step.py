"""One step of learning: which tags are right, how large the step is, what it does."""

import math
from dataclasses import dataclass

import streamlit as st

from crfviz.chain.potentials import Tag
from crfviz.chain.questions.sensitivity import GradientStep, gradient_step, loss
from crfviz.exceptions import CrfvizError
from crfviz.ui.scene import Scene, scene_of
from crfviz.ui.session.bound import bound_flag, bound_text
from crfviz.ui.session.current import change, flag_option, scenario, set_right, view_option
from crfviz.ui.session.kept import refusals_said
from crfviz.ui.words import plain, quote
from crfviz.views.explanation import step_note

SIZE, LARGEST_SIZE = "0.5", 100.0
LEAVE, OPEN = "open", -1  # a page option; the tag of a word without one
OPEN_HELP = (
    "Observed counts are then summed over all paths with the marked tags: log p of what is known."
)


@dataclass(frozen=True)
class Learning:
    """What the reader wants the tagger to learn, and what one step of it does."""

    right: list[int]  # T tag ids, OPEN at words that are left open
    step: GradientStep | None  # None where the size is no number or the right tags are forbidden
    note: str


def right_tags(scene: Scene) -> list[int]:
    """T tag ids: what the reader marked, else gold where it is known, else the trained decode.

    Where other words are to be left open, they are OPEN instead.
    """
    trained = scene.trained
    if flag_option(LEAVE):
        marks = scene.scenario.right
        return [scene.tags.index(marks[t]) if t in marks else OPEN for t in range(len(scene.words))]
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
    path = _path(right)
    if scene.now.viterbi is None or loss(now, path) == math.inf:
        st.info(
            "The gold tags are forbidden here: their probability is 0, and no step changes what "
            "is forbidden. Mark other tags, drop the pin, or undo the edit that forbids them."
        )
        return Learning(right, None, "")
    try:
        step = gradient_step(now, path, step_size(view_option("size", SIZE)))
    except CrfvizError as error:
        st.warning(plain(str(error)))
        return Learning(right, gradient_step(now, path, 0.0), "")
    if OPEN in right and set(right) == {OPEN}:
        return Learning(right, step, "Mark a tag: while every path is allowed, nothing is learnt.")
    what = "marked tags" if OPEN in right else "gold tags"
    trained = loss(scene.trained.potentials, path)
    return Learning(right, step, step_note(step, now, trained, what))


def _path(right: list[int]) -> list[Tag | None]:
    return [None if tag == OPEN else tag for tag in right]


def take_step() -> None:
    """Make the step, as edits of the matrix that can be undone, towards the tags right by now."""
    with refusals_said():
        here = scene_of(scenario())
        before = here.now.potentials
        step = gradient_step(before, _path(right_tags(here)), step_size(view_option("size", SIZE)))
        change(edits=here.scenario.edits.reaching(before, step.potentials))


def controls(lesson: Learning) -> None:
    """Choose the size, make the step, drop the marks."""
    able, marks = bool(lesson.note), scenario().right
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("Step size")
        bound_text("Step size", "size", SIZE, label_visibility="collapsed", width=100)
        st.button("Take the step", on_click=take_step, disabled=not able)
        bound_flag(st.toggle, "Leave other words open", LEAVE, help=OPEN_HELP)
        st.button("Reset gold tags", on_click=set_right, args=({},), disabled=not marks)
