"""The page Practise: an exercise, its question over the lattice, and the result at the end."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.homework.exercise import KINDS, MAX_SEED, Exercise, exercise
from crfviz.chain.homework.programs import VITERBI
from crfviz.exceptions import CrfvizError
from crfviz.ui.pictures import draw
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.components import OF_UI, component
from crfviz.ui.session.scenario_state import (
    change,
    flag_option,
    scenario,
    set_view_option,
    view_option,
)
from crfviz.ui.session.session_store import widget_value
from crfviz.ui.state.link import is_option
from crfviz.ui.state.scenario import BEFORE_FIRST, DO, TRIES
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain
from crfviz.views.frames.exercises import KIND_NAMES, exercise_picture, panel, watched_picture
from crfviz.views.stage.picture import Subject

WATCH = "watch"  # page option: whether the picture of the algorithm is played
FIRST = f"{VITERBI}.1"


def choose(left: DeltaGenerator, right: DeltaGenerator) -> Exercise:
    """Draw the choice of the algorithm and of other numbers; return the exercise in the link."""
    task = _named(view_option(DO, FIRST))

    def other_kind(kind: str) -> None:
        _begin(f"{kind}.{task.seed}")

    bound_to(
        left.segmented_control,
        "Algorithm",
        "practise.kind",
        task.kind,
        other_kind,
        options=list(KIND_NAMES),
        format_func=KIND_NAMES.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    following = f"{task.kind}.{(task.seed + 1) % (MAX_SEED + 1)}"
    right.button("New numbers", on_click=_begin, args=(following,))
    return task


def practise(task: Exercise) -> None:
    """Draw the question, the lattice with the cells found so far, and the result at the end."""
    tries = view_option(TRIES)
    progress = task.replay(tries)

    def answer() -> None:
        state = widget_value("exercise")
        sent = state.get("answer") if isinstance(state, Mapping) else None
        if isinstance(sent, Mapping) and sent.get("id") == f"{task.kind}.{task.seed}":
            text = sent.get("tries")
            if isinstance(text, str) and is_option(TRIES, text):
                change(view={**scenario().view, DO: str(sent["id"]), TRIES: text})

    component("exercise", *OF_UI)(
        key="exercise", data=dict(panel(task, progress, tries)), on_answer_change=answer
    )
    analysis = analyse(task.potentials)
    if progress.step == len(task.steps):
        with st.container(horizontal=True, vertical_alignment="center"):
            playing = flag_option(WATCH)
            name = "Back to my numbers" if playing else "Watch it"
            st.button(name, on_click=partial(_watch, "" if playing else "1"))
        if playing:
            subject = Subject(analysis, analysis, step=scenario().step)
            draw(subject, watched_picture(task, analysis), key="exercise.watched")
            return
    draw(Subject(analysis, analysis), exercise_picture(task, progress), key="exercise")


def _named(text: str) -> Exercise:
    """Return the exercise that a link names; show a message if there is none."""
    kind, _, seed = text.partition(".")
    try:
        if kind not in KINDS or not (seed.isascii() and seed.isdecimal()):
            raise CrfvizError(f"expected {', '.join(KINDS)} with a number, such as {FIRST}")
        return exercise(kind, int(seed[:9]))
    except CrfvizError as error:
        st.caption(plain(f"There is no exercise “{text}”: {error}."))
        return exercise(*_parts(FIRST))


def _parts(text: str) -> tuple[str, int]:
    kind, _, seed = text.partition(".")
    return kind, int(seed)


def _begin(name: str) -> None:
    """Open an exercise at its first step."""
    view = {key: old for key, old in scenario().view.items() if key not in (TRIES, WATCH)}
    change(view={**view, DO: name}, step=0)


def _watch(value: str) -> None:
    set_view_option(WATCH, value)
    change(step=BEFORE_FIRST if value else 0)
