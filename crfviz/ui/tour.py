"""The guided tour: one task at a time over the page, and the greeting on Explore that offers it.

The link has the number of the stop (`?tour=3`), so a reload stays there. The browser remembers
whether it offered the tour. A stop compares the current screen with the one at its start, so the
reader may do the task in any way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.session.components import OF_UI
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.scenario_state import scenario, set_view_option, view_option
from crfviz.ui.session.session_store import get_value, session_value, set_value, widget_value
from crfviz.ui.session.stage_events import STEPPED
from crfviz.ui.state.link_text import MAX_STOPS, TOUR
from crfviz.ui.state.scenario import WORD, Scenario
from crfviz.ui.streamlit_compat import component
from crfviz.views.contents import at_path
from crfviz.views.stage.walks import Walk, forward_backward_walk, viterbi_walk

_BEGAN = "tour.began"  # session key: number of the stop, and the screen when it began
_LEARNT = "tour.learnt"  # session key: the lesson of the previous stop
_GO = "tour.go"  # session key: whether the reader requested the page of the stop
_OPENED = "tour.opened"  # session key: the scenario at the start of the session
_DONE = "tour.done"  # session key: the names of `GREETING` that the reader has done
GREETING = {  # what a new reader can do; the browser remembers what was done, or declined
    "typed": "Type a sentence.",
    "asked": "Click a word to see why it got its tag.",
    "edited": "Drag a score on Emissions to change it.",
}

END = MAX_STOPS  # the number after the last stop
PRACTISE = "practise"  # path of the page that it offers


@dataclass(frozen=True)
class Screen:
    """The state of the app in one run, which a stop compares."""

    path: str  # path of the page
    state: Scenario
    trained: Analysis
    now: Analysis
    stepped: str = ""  # the stage that the reader stepped through since the stop began


@dataclass(frozen=True)
class Stop:
    """One stop of the tour, with its task."""

    path: str  # path of its page
    task: str  # with {word} and {tag} of `target`, and {commits} of greedy
    learnt: str  # the lesson, shown after the task
    done: Callable[[Screen, Screen], bool]  # gets the screens at the start and now


def target(trained: Analysis) -> tuple[int, int]:
    """Return the position and id of the tag whose emission is closest below the word's best."""
    emissions = trained.potentials.emissions
    if emissions.shape[1] == 1:
        return 0, 0
    scores, tags = emissions.topk(2, dim=1)
    gaps = (scores[:, 0] - scores[:, 1]).nan_to_num(nan=float("inf"))
    position = int(gaps.argmin())
    chosen = trained.greedy[position]
    others = [tag for tag in tags[position].tolist() if tag != chosen]
    return position, others[0]


def _typed(before: Screen, now: Screen) -> bool:
    return now.state.sentence != before.state.sentence


def _wins(_: Screen, now: Screen) -> bool:
    position, tag = target(now.trained)
    return now.now.greedy[position] == tag


def _path_changed(before: Screen, now: Screen) -> bool:
    moved = now.state.edits != before.state.edits
    same_words = now.state.sentence == before.state.sentence
    return moved and same_words and now.now.paths["viterbi"] != before.now.paths["viterbi"]


def _taken_back(_: Screen, now: Screen) -> bool:
    return not now.state.edits and not now.state.pins


def _stepped_to(before: Screen, now: Screen, path: str, walk: Walk, least: int) -> bool:
    """Return whether the reader has walked to the step `least` on the page at `path`.

    Pages open with all steps done, which does not count.
    """
    step = now.state.step
    walked = now.stepped == now.path or (before.path == now.path and before.state.step != 0)
    at = walk.at(step, len(now.now.words))
    return now.path == path and at >= least and (step != 0 or walked)


def _walked(before: Screen, now: Screen) -> bool:
    walk = viterbi_walk(possible=True)
    return _stepped_to(before, now, "viterbi", walk, walk.steps(len(now.now.words)))


def _read_z(before: Screen, now: Screen) -> bool:
    past_z = len(now.now.words) + 1
    return _stepped_to(before, now, "forward-backward", forward_backward_walk(), past_z)


def _pinned(before: Screen, now: Screen) -> bool:
    return bool(now.state.pins) and now.state.pins != before.state.pins


def _answered(_: Screen, now: Screen) -> bool:
    return now.state.view.get("said", "?") != "?"


STOPS = (
    Stop(
        "",
        "Type a sentence of your own into the box on top, and press Enter.",
        "Each row is a way to decide; red dashes show where they disagree.",
        _typed,
    ),
    Stop(
        "emissions",
        "Drag {word}’s {tag} cell up until its row “independent” says {tag}, or type a value.",
        "That is an emission: what a word says by itself.",
        _wins,
    ),
    Stop(
        "transitions",
        "Change a score of the matrix until the row “Viterbi” changes.",
        "One transition score can retag distant words.",
        _path_changed,
    ),
    Stop(
        "",
        "Take everything back: Reset on top, or Ctrl+Z.",
        "The model is as it was trained.",
        _taken_back,
    ),
    Stop(
        "viterbi",
        "{commits}Go to the start with |◀ or Home, then walk to the end with ▶ or →.",
        "Viterbi kept the best way into each tag, and chose at the end.",
        _walked,
    ),
    Stop(
        "forward-backward",
        "Go back to the start with |◀ or Home, then step until log Z is read.",
        "The same walk with sums: Z is all paths together.",
        _read_z,
    ),
    Stop(
        "why",
        "Click a tag of a word, and pin it.",
        "A pin fixes one tag; the rest adapts.",
        _pinned,
    ),
    Stop(
        "",
        "Switch on “Ask me” on the left, and answer. Wrong answers are explained.",
        "That was the tour. Now do it yourself on Practise.",
        _answered,
    ),
)


def advance(path: str) -> None:
    """Go to the next stop if the task is done; call this before the URL is written."""
    number = _number()
    if number in (0, END):
        return
    if get_value(_GO):
        set_value(_GO, None)
        target = STOPS[number - 1].path
        if target != path:
            request_page(target)
            return
    now = _screen(path)
    began = get_value(_BEGAN)
    if now is None:
        return
    if began is None or began[0] != number:
        _begin(number, now)
    elif STOPS[number - 1].done(began[1], now):
        set_value(_LEARNT, STOPS[number - 1].learnt)
        _go_to(number + 1)
        _begin(number + 1, now)
    elif _is_stale(began[1], now):
        set_value(_BEGAN, (number, now))


def _begin(number: int, now: Screen) -> None:
    set_value(_BEGAN, (number, now))
    set_value(STEPPED, "")


def draw_stop(path: str) -> None:
    """Draw the current stop, if there is one."""
    _note_done()
    if number := _number():
        with st.container(key="tour"):
            _draw(_payload(number, path))


def draw_greeting() -> None:
    """Draw the greeting with the offer of the tour, until all was done or the reader declines."""
    if not _number():
        done = _note_done()
        opened = session_value(_OPENED, scenario)  # a link with edits is not a first visit
        is_over = bool(opened.edits or opened.right or done == set(GREETING))
        with st.container(key="greeted" if is_over else "greeting"):
            data = {"greeting": GREETING, "done": sorted(done), "shows": not is_over}
            _draw(data, key="tour.greeting")


def _note_done() -> set[str]:
    """Return the names of `GREETING` that the reader has done in this session."""
    now, opened = scenario(), session_value(_OPENED, scenario)
    done = session_value(_DONE, set[str])
    happened = {
        "typed": now.sentence != opened.sentence,
        "asked": bool(view_option(WORD)),
        "edited": now.edits != opened.edits,
    }
    done.update(name for name, is_done in happened.items() if is_done)
    return done


def _payload(number: int, path: str) -> Mapping[str, object]:
    learnt = get_value(_LEARNT) or ""
    if number == END:
        last = {"learnt": learnt or STOPS[-1].learnt, "open": at_path(PRACTISE).title}
        return {"stop": number, "stops": len(STOPS), **last}
    stop = STOPS[number - 1]
    now = _screen(path)
    words = {"word": "a word", "tag": "another tag", "commits": ""}
    if now is not None:
        position, tag = target(now.trained)
        words = {"word": f"“{now.now.words[position]}”", "tag": now.now.tags[tag]}
        words["commits"] = _commitment(now.now)
    return {
        "stop": number,
        "stops": len(STOPS),
        "task": stop.task.format(**words),
        "learnt": learnt,
        "open": "" if stop.path == path else at_path(stop.path).title,
    }


def _commitment(now: Analysis) -> str:
    """Return what greedy commits to against the best path; empty if it is the best path."""
    greedy, best = now.left_to_right, now.paths["viterbi"]
    if not greedy or not best or greedy == best:
        return ""
    t = next(t for t in range(len(best)) if greedy[t] != best[t])
    return f"Greedy commits to {now.tags[greedy[t]]} at “{now.words[t]}”: see what it then pays. "


def _draw(data: Mapping[str, object], key: str = "tour.payload") -> None:
    def go() -> None:
        state = widget_value(key)
        action = state.get("go") if isinstance(state, Mapping) else None
        number = _number()
        if action == "begin" and not number:
            _go_to(1)
        elif action == "skip" and 0 < number < END:
            set_value(_LEARNT, None)
            set_value(_GO, number + 1 < END)  # the page of the next stop opens
            _go_to(number + 1)
        elif action == "end":
            set_value(_LEARNT, None)
            set_view_option(TOUR, "")
        elif action == "open" and number == END:
            set_view_option(TOUR, "")
            request_page(PRACTISE)
        elif action == "open":
            set_value(_GO, True)

    component("tour", *OF_UI)(key=key, data=data, on_go_change=go)


def _screen(path: str) -> Screen | None:
    state = scenario()
    try:
        if not cached.words(state.model, state.sentence):
            return None
        trained, now = cached.trained(state), cached.edited(state)
        return Screen(path, state, trained, now, get_value(STEPPED) or "")
    except CrfvizError:  # the page shows the error
        return None


def _number() -> int:
    """Return the number of the stop in the link, END after the last one, 0 without a tour."""
    text = view_option(TOUR)
    return int(text) if text.isdecimal() and 1 <= int(text) <= END else 0


def _go_to(number: int) -> None:
    set_view_option(TOUR, str(number))


def _is_stale(began: Screen, now: Screen) -> bool:
    """Return whether a stop must start again: page or sentence changed, or a walk began."""
    same_place = (began.path, began.state.sentence) == (now.path, now.state.sentence)
    return not same_place or (began.state.step == 0 and now.state.step != 0)
