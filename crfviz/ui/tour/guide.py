"""The tour: one stop at a time over the page, and Explore's greeting, which offers it.

The link says at which stop one is (`?tour=3`), so that a reload stays there. Whether somebody was
offered it is kept in the browser alone.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.session.components import component
from crfviz.ui.session.current import STEPPED, scenario, set_view_option, view_option
from crfviz.ui.session.kept import choice, found, keep, of_session
from crfviz.ui.state.link import TOUR
from crfviz.ui.tour.stops import END, STOPS, Screen, target
from crfviz.views.contents import at_path

_BEGAN = "tour.began"  # number of the stop, and the screen when it began
_LEARNT = "tour.learnt"  # what the stop before showed
_GO = "tour.go"  # whether the reader asked for the page of the stop
_OPENED = "tour.opened"  # the scenario with which this session began
_ACTED = "tour.acted"  # whether the reader has changed anything since, or left Explore
HOME = ""  # the path of the page with the greeting
GREETING = (
    "Type a sentence. Hover a word to see why it got its tag. "
    "Drag a score on Emissions to change it."
)


def follow(pages: Sequence[st.Page], path: str) -> None:
    """Notice what was done; to be called before the address is written."""
    number = _number()
    if number in (0, END):
        return
    if found(_GO):
        keep(_GO, None)
        wanted = STOPS[number - 1].path
        if wanted != path:
            st.switch_page(next(page for page in pages if page.url_path == wanted))
    now = _screen(path)
    began = found(_BEGAN)
    if now is None:
        return
    if began is None or began[0] != number:
        _begin(number, now)
    elif STOPS[number - 1].done(began[1], now):
        keep(_LEARNT, STOPS[number - 1].learnt)
        _go_to(number + 1)
        _begin(number + 1, now)
    elif _is_stale(began[1], now):
        keep(_BEGAN, (number, now))


def _begin(number: int, now: Screen) -> None:
    keep(_BEGAN, (number, now))
    keep(STEPPED, "")


def guide(path: str) -> None:
    """Draw the stop, if there is one."""
    number = _number()
    if number or path != HOME:
        keep(_ACTED, True)
    if number:
        with st.container(key="tour"):
            _draw(_told(number, path))


def greet() -> None:
    """Draw the greeting, with the offer of the tour in it, until the first action."""
    acted = found(_ACTED) or scenario() != of_session(_OPENED, scenario)
    keep(_ACTED, acted)
    if not _number():
        _draw({"greeting": "" if acted else GREETING}, key="tour.greeting")


def _told(number: int, path: str) -> Mapping[str, object]:
    learnt = found(_LEARNT) or ""
    if number == END:
        return {"stop": number, "stops": len(STOPS), "learnt": learnt or STOPS[-1].learnt}
    stop = STOPS[number - 1]
    now = _screen(path)
    words = {"word": "a word", "tag": "another tag"}
    if now is not None:
        position, tag = target(now.trained)
        words = {"word": f"“{now.now.words[position]}”", "tag": now.now.tags[tag]}
    return {
        "stop": number,
        "stops": len(STOPS),
        "task": stop.task.format(**words),
        "learnt": learnt,
        "open": "" if stop.path == path else at_path(stop.path).title,
    }


def _draw(data: Mapping[str, object], key: str = "tour.told") -> None:
    def go() -> None:
        told = choice(key)
        asked = told.get("go") if isinstance(told, Mapping) else None
        number = _number()
        if asked == "begin" and not number:
            _go_to(1)
        elif asked == "skip" and 0 < number < END:
            keep(_LEARNT, None)
            _go_to(number + 1)
        elif asked == "end":
            keep(_LEARNT, None)
            set_view_option(TOUR, "")
        elif asked == "open":
            keep(_GO, True)

    component("tour", "ui/tour/web", ["tour"])(key=key, data=data, on_go_change=go)


def _screen(path: str) -> Screen | None:
    """What is on the screen; None where its model is broken or nothing is typed."""
    state = scenario()
    try:
        if not cached.words(state.model, state.sentence):
            return None
        trained, now = cached.trained(state), cached.edited(state)
        return Screen(path, state, trained, now, found(STEPPED) or "")
    except CrfvizError:  # the page says it
        return None


def _number() -> int:
    """Of the stop that the link names, END after the last one; 0 where there is no tour."""
    text = view_option(TOUR)
    return int(text) if text.isdecimal() and 1 <= int(text) <= END else 0


def _go_to(number: int) -> None:
    set_view_option(TOUR, str(number))


def _is_stale(began: Screen, now: Screen) -> bool:
    """Whether a stop begins anew: on another page or sentence, or as a walk is taken up."""
    same_place = (began.path, began.state.sentence) == (now.path, now.state.sentence)
    return not same_place or (began.state.step == 0 and now.state.step != 0)
