"""Transition weights: tipping points, scores or probabilities, and shifts that keep marginals."""

import streamlit as st

from crfviz.chain.edits import END, START
from crfviz.chain.questions.gauge import shift_tag, shift_word
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_buttons, bound_place, bound_tabs, bound_tag
from crfviz.ui.session.page_options import choice_option, number_option, tag_option
from crfviz.ui.session.scenario_state import change, scenario, view_option
from crfviz.ui.session.session_store import errors_as_messages
from crfviz.ui.state.link_text import read_names
from crfviz.views.stage.picture import Mark, Ruler
from crfviz.views.strips.what_if import strength_marks

SCORE, PROBABILITY = "score", "probability"
SHIFTS = ("1", "0.5", "2", "-1")  # nats; the first is the default


def chosen_ruler(scene: Scene) -> Ruler | None:
    """Return the tipping points of the chosen cell; None without a cell or tipping points."""
    names = scene.tags
    move = read_names(view_option("weight"), (*names, START), (*names, END))
    if move is None or move == (START, END):
        return None
    before, after = move
    trained = scene.trained.potentials
    many = not trained.homogeneous and before != START and after != END
    if many and move not in scene.scenario.edits.transitions:
        return None  # each step has its own value, so the ruler has no single position
    try:
        return cached.ruler(scene.scenario, move)
    except CrfvizError:  # the page shows that no path is allowed or the sentence is too long
        return None


def flip_marks(scene: Scene) -> list[Mark]:
    """Return marks at the strengths where a tag flips; none without a path or if too long."""
    try:
        pieces = cached.strength_pieces(scene.scenario)
    except CrfvizError:  # the page shows the error already
        return []
    return strength_marks(pieces, cached.whole(scene.scenario))


def weights_note(scene: Scene) -> str:
    """Return a note if the sentence is too long for tipping points; otherwise empty."""
    most = cached.most_weighed(scene.tags)
    if not scene.windowed or scene.total_words <= most:
        return ""
    return f"Tipping points are found in sentences of up to {most:,} words only."


def weight_display(scene: Scene) -> str:
    """Draw the choice between scores and probabilities, if the scores are log probabilities.

    Returns:
        `PROBABILITY` if the matrix is to show exp of its scores, else `SCORE`.
    """
    if not scene.of_probabilities:
        return SCORE
    return bound_tabs("Show", "weights", [SCORE, PROBABILITY], PROBABILITY)


def shift_panel(scene: Scene) -> None:
    """Draw the controls that shift the scores of a word, and those into and out of a tag."""
    amount, word, tag = st.columns([1.3, 1, 1])
    bound_buttons("Add c =", "shift", SHIFTS, SHIFTS[0], at=amount)
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
    bound_tag("into the tag, −c out of it", "shift_tag", scene.tags, scene.tags[0], at=tag)
    tag.button(
        "Shift the tag",
        on_click=_shift,
        args=("shift_tag",),
        help="Whoever enters the tag gains c and loses it when leaving: not even Z changes.",
    )


def _shift(what: str) -> None:
    """Apply the chosen shift; the choices may be newer than the clicked button."""
    now = scenario()
    nats = float(choice_option("shift", SHIFTS, SHIFTS[0]))
    with errors_as_messages():
        chain = cached.unpinned(now).potentials  # a pin must not exclude a tag from its shift
        if what == "shift_word":
            word = number_option(what, 0, 0, chain.num_tokens - 1)
            change(edits=shift_word(chain, now.edits, word, nats))
        else:
            tag = tag_option(what, chain.tag_names, chain.tag_names[0])
            change(edits=shift_tag(chain, now.edits, tag, nats))
