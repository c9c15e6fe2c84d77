"""The player of lectures: `?lecture=greedy&cue=3` shows one cue, and keys change the cue.

The URL has the lecture, the cue, and the step if it differs from the cue's. All other changes that
the reader makes to a cue are lost at the next cue and after a reload.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui import cached
from crfviz.ui.lectures.expressions import chain_of, evaluate, fill_in, question_of
from crfviz.ui.lectures.handout import WITH_MATRIX, edits_of
from crfviz.ui.lectures.lecture import BELOW, Cue, Lecture
from crfviz.ui.lectures.lecture_store import lecture
from crfviz.ui.live_room import broadcast
from crfviz.ui.quiz_panel import ask_own, waiting, with_question
from crfviz.ui.session.components import OF_UI
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.page_state import LECTURE, SHOWN_CUE, START_STEPS, set_path
from crfviz.ui.session.scenario_state import (
    NO_LETTERS,
    address,
    change,
    load_state,
    scenario,
    set_view_option,
    view_option,
)
from crfviz.ui.session.session_store import errors_as_messages, get_value, notify, set_value
from crfviz.ui.shell import frame
from crfviz.ui.shell.sidebar import THEMES, show_messages, use_colours
from crfviz.ui.state.link_text import read_step, step_text
from crfviz.ui.state.scenario import ASK, MAX_STEP, SAID, Scenario
from crfviz.ui.streamlit_compat import component, is_history_navigation
from crfviz.ui.widgets import guarded
from crfviz.ui.words import quote
from crfviz.views.contents import VIEW, at_path, page_of, view_in
from crfviz.views.quiz.question import Question

CUE, STEP, SPEAKER = "cue", "step", "speaker"  # parameters of the URL
THEME = "v.theme"
LETTERS = f"v.{NO_LETTERS}"
_LEFT = "lecture.left"  # session key: the cue left for its page, the page, and its query
_ASKED = "lecture.asked"  # session key: the requested cue and its step
LEAVE = 0  # requested instead of a cue number: open the cue's page in the explorer
BEFORE = "Before this change:"  # prefix of a text that an edit contradicts
_STYLE_SHEET = Path(__file__).with_name("player.css")
_WITHOUT_PICTURE = '[class*="st-key-stage"] { display: none; }'  # the stage's keys still work
_PICTURE_ALONE = (  # hides what follows a stage, unless the stage has only step buttons
    '[class*="st-key-stage"]:not([class*="st-key-stage-steps"]) ~ * { display: none; }'
)


@dataclass(frozen=True)
class Place:
    """A cue of a lecture."""

    name: str  # name of the lecture
    lecture: Lecture
    number: int  # number of the cue, from 1

    @property
    def cue(self) -> Cue:
        return self.lecture.cues[self.number - 1]

    def numbered(self, number: int) -> "Place":
        """Return the place of another cue, or of the first or last one if out of range."""
        return replace(self, number=max(1, min(number, len(self.lecture.cues))))


def play(pages: Sequence[st.Page], path: str) -> bool:
    """Draw the cue in the URL; return False if it has none.

    Args:
        pages: all pages of the app.
        path: the path of the current page.
    """
    place = _named() or _between(path)
    if place is None:
        return False
    place = _advanced(place, pages)
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


def _between(path: str) -> Place | None:
    """Return the cue that was left, if the browser's Back stopped between the cue and its page.

    Streamlit adds two history entries for another page: one with its query, one with its path.
    """
    left = get_value(_LEFT)
    if left is None or not is_history_navigation():
        return None
    place: Place
    place, of_page, params = left
    return place if path != of_page and st.query_params.to_dict() == params else None


def _named() -> Place | None:
    """Return the cue in the URL; invalid numbers are reported and corrected."""
    name = st.query_params.get(LECTURE)
    if name is None:
        return None
    try:
        found_lecture = lecture(name)
    except FormatError as error:
        notify(str(error))
        del st.query_params[LECTURE]
        st.query_params.pop(CUE, None)
        return None
    text, most = st.query_params.get(CUE, "1"), len(found_lecture.cues)
    number = int(text) if text.isdecimal() and len(text) < 6 else 1
    place = Place(name, found_lecture, 1).numbered(number)
    if str(place.number) != text:
        notify(f"There is no cue {quote(text)}; expected a number from 1 to {most}.")
    return place


def _advanced(place: Place, pages: Sequence[st.Page]) -> Place:
    """Return the place of the requested cue, and load its scenario if the cue changes."""
    back = is_history_navigation()
    target, arriving = _requested(place, pages, back=back)
    if get_value(SHOWN_CUE) is None:
        for problem in target.lecture.problems:
            notify(problem)
    if target != place or back or get_value(SHOWN_CUE) != (target.name, target.number):
        load_state(_screen(target.cue, arriving))
        set_value(SHOWN_CUE, (target.name, target.number))
    _write_address(target)
    return target


def _requested(place: Place, pages: Sequence[st.Page], *, back: bool) -> tuple[Place, int | None]:
    """Return the requested cue, by default the one on the screen, and the step to show.

    After Back and Forward, and in a new session, the default is the cue in the URL. The step is
    None for the cue's own.
    """
    number, step = get_value(_ASKED) or (None, None)
    set_value(_ASKED, None)
    if number == LEAVE:
        _leave(_on_screen(place), pages)
    if number is not None:
        return place.numbered(number), step
    if back or get_value(SHOWN_CUE) is None:
        return place, _step_named()
    return _on_screen(place), None


def _step_named() -> int | None:
    """Return the step in the URL; None without one, or with a message if it is invalid."""
    text = st.query_params.get(STEP)
    if text is None:
        return None
    step = read_step(text)
    if step is None:
        notify(f"Ignored the step {quote(text)}: expected a whole number from 0 to {MAX_STEP}.")
    return step


def _on_screen(place: Place) -> Place:
    """Return the cue that was drawn last, even if the URL names another.

    Until the browser has received a new cue, its events come with the URL of the previous one.
    """
    name, number = get_value(SHOWN_CUE) or (place.name, place.number)
    return place.numbered(number) if name == place.name else place


def _write_address(place: Place) -> None:
    """Write lecture, cue and step into the URL; of other parameters only three options stay.

    They are those of the speaker view, the theme and the single-key shortcuts.
    """
    query = st.query_params.to_dict()
    kept = {name: query[name] for name in (SPEAKER, THEME, LETTERS) if name in query}
    params = {LECTURE: place.name, CUE: str(place.number)}
    now, own = scenario(), place.cue.scenario
    named = query.get(CUE) == params[CUE] and STEP in query
    if (named or now.step != own.step) and now.sentence == own.sentence:
        params[STEP] = step_text(now.step)
    params |= kept
    if query != params:
        st.query_params.from_dict(params)


def _screen(cue: Cue, arriving: int | None) -> Scenario:
    """Return the scenario of a cue at a step, with the theme and the key option of the URL."""
    theme, letters = st.query_params.get(THEME), st.query_params.get(LETTERS)
    view = {**cue.scenario.view, "theme": theme} if theme in THEMES else cue.scenario.view
    view = {**view, NO_LETTERS: "1"} if letters == "1" else view
    step = cue.scenario.step if arriving is None else arriving
    state = replace(cue.scenario, view=view, step=step)
    return with_question(state, cue.of_model if _question(cue) else "", own=bool(cue.own))


def _question(cue: Cue) -> Question | None:
    """Return the question of a cue; None, with a message, if it has no single right answer."""
    if not cue.of_model:
        return None
    try:
        question = question_of(cue.scenario, cue.of_model, cue.page)
    except CrfvizError as error:
        notify(f"{cue.place}: {error}")
        return None
    if question is None:
        notify(
            f"{cue.place}: {quote(cue.of_model)} has no single right answer here, so it is not "
            "asked."
        )
    return question


def _question_text(cue: Cue) -> str:
    """Return a cue's question and its answer, for the speaker; empty without a question."""
    if cue.own:
        return f"[{cue.own.text} {cue.own.right}".rstrip() + "]"
    question = _question(cue)
    return "" if question is None else f"[{question.text} {question.choices[question.right].text}]"


def _leave(place: Place, pages: Sequence[st.Page]) -> None:
    """Open the cue's page with the same screen; the browser's Back returns to the cue."""
    page = next(page for page in pages if page.url_path == page_of(place.cue.page).path)
    set_view_option(VIEW, view_in(place.cue.page))
    if place.cue.own:  # only its cue has the question
        set_view_option(ASK, "")
        set_view_option(SAID, "")
    params = address().params
    set_value(SHOWN_CUE, None)
    set_value(_LEFT, (place, page.url_path, params))
    set_path(place.cue.page)
    st.switch_page(page, query_params=params)


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
        _ask_for(_bar_state().get("go"))

    def turn() -> None:
        match _bar_state().get("turn"):
            case [number, "previous"]:
                _ask_for(number, START_STEPS["previous"])
            case [number, _]:
                _ask_for(number)

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


def _ask_for(number: object, step: int | None = None) -> None:
    if isinstance(number, int) and number >= 0:
        set_value(_ASKED, (number, step))


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
