"""What the reader asks about: a tag at a word, or a weight of the matrix and how it is written."""

from dataclasses import dataclass

import streamlit as st

from crfviz.chain.questions.why_not import WhyNot, why_not
from crfviz.chain.weights import END, START
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_tabs
from crfviz.ui.session.current import view_option
from crfviz.ui.words import plain
from crfviz.views.stage.parts import Mark, Ruler
from crfviz.views.stage.ruler import strength_marks
from crfviz.views.strips.why import likeliest_loser

SCORE, PROBABILITY = "score", "probability"


@dataclass(frozen=True)
class Question:
    """A tag that lost, and why."""

    position: int
    tag: int
    answer: WhyNot


def question(scene: Scene) -> Question | None:
    """The tag that was clicked, or at first the likeliest one that lost.

    Returns:
        None where no tag sequence is allowed at all. Where only the clicked tag is out of reach, a
        message says so and the likeliest loser takes its place.
    """
    best = scene.now.viterbi
    if best is None:
        return None
    clicked = place(scene, "at")
    for position, tag in filter(None, [clicked, likeliest_loser(scene.now), (0, best.path[0])]):
        try:
            return Question(position, tag, why_not(scene.now.potentials, position, tag))
        except NoPathError:
            if (position, tag) == clicked:
                st.info(_unreachable(scene, position, tag))
    return None


def trained_answer(scene: Scene, asked: Question) -> WhyNot | None:
    """The same question to the trained chain; None without edits, or where it had no such path."""
    if not scene.edited:
        return None
    try:
        return why_not(scene.trained.potentials, asked.position, asked.tag)
    except NoPathError:
        return None


def _unreachable(scene: Scene, position: int, tag: int) -> str:
    return plain(
        f"No allowed path has {scene.tags[tag]} at “{scene.words[position]}”. Drop the pin or the "
        "edit that forbids it, or ask for another tag."
    )


def chosen_ruler(scene: Scene) -> Ruler | None:
    """The tipping points of the cell that has the focus; None where no cell was chosen."""
    before, _, after = view_option("weight").partition(" ")
    names = scene.tags
    if (
        before not in (*names, START)
        or after not in (*names, END)
        or (before, after) == (START, END)
    ):
        return None
    move = (before, after)
    trained = scene.trained.potentials
    many = not trained.homogeneous and before != START and after != END
    if many and move not in scene.scenario.edits.transitions:
        return None  # each step has its own value: there is no one place on the ruler
    try:
        return cached.ruler(scene.scenario, move)
    except CrfvizError:  # no allowed path: the page says so already
        return None


def flip_marks(scene: Scene) -> list[Mark]:
    """Where a tag flips along the strength of the CRF; none where no path is allowed."""
    try:
        pieces = cached.strength_pieces(scene.scenario)
    except CrfvizError:  # the page says so already
        return []
    return strength_marks(pieces, scene.words, scene.tags)


def place(scene: Scene, option: str) -> tuple[int, int] | None:
    """The position and tag id that a page option names as "t TAG"; None where it names none."""
    position, _, tag = view_option(option).partition(" ")
    if not position.isdecimal() or int(position) >= len(scene.words) or tag not in scene.tags:
        return None
    return int(position), scene.tags.index(tag)


def weight_display(scene: Scene) -> str:
    """Draw the switch where it means something.

    Returns:
        `PROBABILITY` where the matrix should show exp of its scores, else `SCORE`.
    """
    if not scene.of_probabilities:
        return SCORE
    return bound_tabs("Show", "weights", [SCORE, PROBABILITY], PROBABILITY)
