"""The cue that a session shows: `?lecture=greedy&cue=3`, unless a key has asked for another.

The URL has the lecture, the cue, and the step if it differs from the cue's. All other changes that
the reader makes to a cue are lost at the next cue and after a reload.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.lectures.expressions import question_of
from crfviz.ui.lectures.lecture import Cue, Lecture
from crfviz.ui.lectures.lecture_store import lecture
from crfviz.ui.quiz_panel import with_question
from crfviz.ui.session.page_state import LECTURE, SHOWN_CUE, set_path
from crfviz.ui.session.scenario_state import (
    NO_LETTERS,
    address,
    load_state,
    scenario,
    set_view_option,
)
from crfviz.ui.session.session_store import get_value, notify, set_value
from crfviz.ui.shell.sidebar import THEMES
from crfviz.ui.state.link_text import read_step, step_text
from crfviz.ui.state.scenario import ASK, MAX_STEP, SAID, Scenario
from crfviz.ui.streamlit_compat import is_history_navigation
from crfviz.ui.words import quote
from crfviz.views.contents import VIEW, page_of, view_in
from crfviz.views.quiz.question import Question

CUE, STEP, SPEAKER = "cue", "step", "speaker"  # parameters of the URL
THEME = "v.theme"
LETTERS = f"v.{NO_LETTERS}"
_LEFT = "lecture.left"  # session key: the cue left for its page, the page, and its query
_ASKED = "lecture.asked"  # session key: the requested cue and its step
LEAVE = 0  # requested instead of a cue number: open the cue's page in the explorer


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


def current_place(pages: Sequence[st.Page], path: str) -> Place | None:
    """Return the cue to show, and load its scenario if it changes; None if the URL has no cue.

    Args:
        pages: all pages of the app.
        path: the path of the current page.
    """
    place = _named() or _between(path)
    return None if place is None else _advanced(place, pages)


def ask_for(number: object, step: int | None = None) -> None:
    """Request a cue of the lecture, or `LEAVE`, and the step to show; ignore anything else."""
    if isinstance(number, int) and number >= 0:
        set_value(_ASKED, (number, step))


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
    return with_question(state, cue.of_model if asked_question(cue) else "", own=bool(cue.own))


def asked_question(cue: Cue) -> Question | None:
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
