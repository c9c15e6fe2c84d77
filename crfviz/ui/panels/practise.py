"""The page Practise: an exercise, its question over the lattice, and the result at the end."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.homework.exercise import MAX_SEED, Exercise
from crfviz.chain.homework.programs import VITERBI
from crfviz.exceptions import CrfvizError
from crfviz.taggers.exercises import PREFIX, exercise_named
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.components import OF_UI
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.scenario_state import change, load_state, scenario, view_option
from crfviz.ui.session.session_store import widget_value
from crfviz.ui.stage import draw
from crfviz.ui.state.link_text import LONGER, is_option
from crfviz.ui.state.scenario import DO, TRIES, with_sentence
from crfviz.ui.streamlit_compat import DeltaGenerator, component
from crfviz.ui.words import plain
from crfviz.views.frames.exercises import KIND_NAMES, exercise_picture, panel
from crfviz.views.stage.picture import Subject

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
        key="exercise",
        data={**panel(task, progress, tries), "room": LONGER[TRIES]},
        on_answer_change=answer,
    )
    analysis = analyse(task.potentials)
    if progress.step == len(task.steps):
        st.button("Watch it", on_click=_watch, args=(task,))
    draw(Subject(analysis, analysis), exercise_picture(task, progress), key="exercise")


def _named(text: str) -> Exercise:
    try:
        return exercise_named(text)
    except CrfvizError as error:
        st.caption(plain(f"There is no exercise “{text}”: {error}."))
        return exercise_named(FIRST)


def _begin(name: str) -> None:
    view = {key: old for key, old in scenario().view.items() if key != TRIES}
    change(view={**view, DO: name}, step=0)


def _watch(task: Exercise) -> None:
    name, words = f"{PREFIX}{task.kind}.{task.seed}", task.potentials.tokens or ()
    load_state(replace(with_sentence(scenario(), " ".join(words)), model=name, edits=Edits()))
    request_page("viterbi" if task.kind == VITERBI else "forward-backward", played=True)
