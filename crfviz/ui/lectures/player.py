"""The player of lectures: it draws one cue, with a bar whose keys change the cue."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.lectures.expressions import chain_of, evaluate, fill_in, question_of
from crfviz.ui.lectures.handout import WITH_MATRIX, edits_of
from crfviz.ui.lectures.lecture import BELOW, Cue
from crfviz.ui.lectures.place import SPEAKER, Place, ask_for, asked_question, current_place
from crfviz.ui.live_room import broadcast
from crfviz.ui.quiz_panel import ask_own, waiting
from crfviz.ui.session.components import OF_UI
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.page_state import START_STEPS
from crfviz.ui.session.scenario_state import (
    NO_LETTERS,
    change,
    scenario,
    view_option,
)
from crfviz.ui.session.session_store import errors_as_messages, notify
from crfviz.ui.shell import frame
from crfviz.ui.shell.sidebar import THEMES, show_messages, use_colours
from crfviz.ui.state.scenario import Scenario
from crfviz.ui.streamlit_compat import component
from crfviz.ui.widgets import guarded
from crfviz.views.contents import at_path

BEFORE = "Before this change:"  # prefix of a text that an edit contradicts
_STYLE_SHEET = Path(__file__).with_name("player.css")
_WITHOUT_PICTURE = '[class*="st-key-stage"] { display: none; }'  # the stage's keys still work
_PICTURE_ALONE = (  # hides what follows a stage, unless the stage has only step buttons
    '[class*="st-key-stage"]:not([class*="st-key-stage-steps"]) ~ * { display: none; }'
)


def play(pages: Sequence[st.Page], path: str) -> bool:
    """Draw the cue in the URL; return False if it has none.

    Args:
        pages: all pages of the app.
        path: the path of the current page.
    """
    place = current_place(pages, path)
    if place is None:
        return False
    frame.configure()
    st.html(_STYLE_SHEET)
    use_colours(view_option("theme", THEMES[0]))
    if SPEAKER in st.query_params:
        broadcast.send_nothing()
        _speak(place)
    else:
        _show(place)
        _prepare(place.numbered(place.number + 1))
    show_messages()
    return True


def cue_text(cue: Cue) -> str:
    """Return the text of a cue with its values; if that fails, show the error and return ""."""
    try:
        return fill_in(cue.say, chain_of(cue.scenario))
    except CrfvizError as error:
        notify(f"{cue.place}: {error}")
        return ""


def said_now(cue: Cue) -> str:
    """Return the text of a cue for the scores on the screen.

    After an edit the values are recomputed if all expressions in `holds` are still true. Otherwise
    the text has the values before the edit, with the prefix `BEFORE`.
    """
    now = scenario()
    if _scores(now) == _scores(cue.scenario):
        return cue_text(cue)
    if (now.model, now.sentence) == (cue.scenario.model, cue.scenario.sentence):
        with suppress(CrfvizError):
            chain = chain_of(now)
            if all(evaluate(each, chain) for each in cue.holds):
                return fill_in(cue.say, chain)
    return f"{BEFORE} {cue_text(cue)}"


def _scores(state: Scenario) -> object:
    """Return the fields of a scenario that determine its numbers."""
    return state.model, state.sentence, state.edits, state.pins


def _question_text(cue: Cue) -> str:
    """Return a cue's question and its answer, for the speaker; empty without a question."""
    if cue.own:
        return f"[{cue.own.text} {cue.own.right}".rstrip() + "]"
    question = asked_question(cue)
    return "" if question is None else f"[{question.text} {question.choices[question.right].text}]"


def _show(place: Place) -> None:
    cue = place.cue
    text = "" if waiting() else said_now(cue)  # the question contains the answer
    _bar(place, text)
    broadcast.add_cue(place.lecture.title, text, _asked_before(place))
    if cue.own:
        ask_own(cue.own)
    st.html(f"<style>{_WITHOUT_PICTURE if flag_option(BELOW) else _PICTURE_ALONE}</style>")
    try:
        with guarded("This cue"):
            exec(frame.page_code(at_path(cue.page).script), {"__name__": "__main__"})
    finally:  # keys wait for the end of this run
        component("player", *OF_UI)(key="there", data={"there": place.number})


def _asked_before(place: Place) -> int:
    """Return how many earlier cues ask the same about the same sentence."""

    def asked(cue: Cue) -> object:
        about = (cue.scenario.model, cue.scenario.sentence) if cue.of_model else None
        return cue.ask, about

    earlier = place.lecture.cues[: place.number - 1]
    return sum(asked(cue) == asked(place.cue) for cue in earlier) if place.cue.ask else 0


def _bar(place: Place, text: str) -> None:
    """Draw the bar with the text and the cue number; it handles the player's keys."""

    def go() -> None:
        ask_for(_bar_state().get("go"))

    def turn() -> None:
        match _bar_state().get("turn"):
            case [number, "previous"]:
                ask_for(number, START_STEPS["previous"])
            case [number, _]:
                ask_for(number)

    def type_sentence() -> None:
        sentence = _bar_state().get("sentence")
        if isinstance(sentence, str):
            change(sentence=sentence)

    def open_for_followers() -> None:
        if broadcast.current_room() is None:
            with errors_as_messages():
                broadcast.open_room()

    component("player", *OF_UI)(
        key="player",
        data={
            "lecture": place.name,
            "title": place.lecture.title,
            "cue": place.number,
            "cues": len(place.lecture.cues),
            "say": text,
            "edits": _edits_now(),
            "asks": bool(place.cue.ask),
            "sentence": scenario().sentence,
            "letters": not flag_option(NO_LETTERS),
            "join": broadcast.join(),
        },
        on_go_change=go,
        on_turn_change=turn,
        on_sentence_change=type_sentence,
        on_join_change=open_for_followers,
    )


def _edits_now() -> str:
    """Return the list of edits on the screen; empty if there are none, or no chain."""
    with suppress(CrfvizError):
        return edits_of(scenario())
    return ""


def _bar_state() -> Mapping[str, object]:
    """Return the events of the bar; empty if the bar is no longer drawn."""
    state: Mapping[str, object] = st.session_state.to_dict().get("player", {})
    return state


def _speak(place: Place) -> None:
    """Draw the speaker view; it has the texts of all cues, to change cues without the server."""
    texts = [f"{_question_text(cue)} {cue_text(cue)}".strip() for cue in place.lecture.cues]
    titles = [at_path(cue.page).title for cue in place.lecture.cues]
    component("player", *OF_UI)(
        key="speaker",
        data={
            "lecture": place.name,
            "title": place.lecture.title,
            "minutes": place.lecture.minutes,
            "cue": place.number,
            "cues": len(texts),
            "letters": not flag_option(NO_LETTERS),
            "notes": [
                {"page": page, "say": text} for page, text in zip(titles, texts, strict=True)
            ],
        },
    )


def _prepare(place: Place) -> None:
    """Fill the caches for the next cue in advance."""
    cue = place.cue
    with suppress(CrfvizError):  # the cue itself shows the error
        chain_of(cue.scenario)
        if cue.of_model:
            question_of(cue.scenario, cue.of_model, cue.page)
        if cue.page in WITH_MATRIX:
            cached.strength_pieces(cue.scenario)
