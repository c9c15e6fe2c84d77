"""The scenario of a session, and its address.

Pages read `scenario()`. Widgets and the live stage change it, in callbacks: those run before the
page is drawn, so that sidebar, page and address always show the same state.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import isnan
from time import monotonic
from typing import Any, TypeVar

import streamlit as st

from crfviz.chain.edits import Edits
from crfviz.exceptions import CrfvizError
from crfviz.taggers.log_once import warn_once
from crfviz.ui import cached
from crfviz.ui.session.components import fresh_events, note_payload
from crfviz.ui.session.kept import (
    found,
    keep,
    keep_shelf,
    of_session,
    refusals_said,
    say,
    shelf,
)
from crfviz.ui.state.events import (
    Command,
    Event,
    Step,
    View,
    apply_event,
    parse_event,
)
from crfviz.ui.state.link import Link, Models, decode, encode, for_words
from crfviz.ui.state.missing_pages import MISSING, no_such_page
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    MAX_CHARACTERS,
    MAX_STEP,
    OF_PAGE,
    OF_POSITIONS,
    Changes,
    History,
    Scenario,
    for_tags,
    with_sentence,
)
from crfviz.ui.state.snapshots import linked_snapshots, with_snapshots, without_snapshots
from crfviz.ui.streamlit_compat import is_history_navigation
from crfviz.ui.watching.meters import EDITS
from crfviz.ui.words import quote
from crfviz.views.contents import ENTRIES
from crfviz.views.formatting import count

_SCENARIO = "scenario"
_HISTORY = "history"
_PATH = "path"  # of the page that is on the screen
_TURN = "turn"  # the page asked for, by a key or a link
_ARRIVING = "arriving"  # the step at which that page begins
_MODELS = "models"  # the names of those that there were when the last whole run began
STEPPED = "stage.stepped"  # the stage whose steps were walked last
_LEFT = "left"  # the sentences that were left by `follow`, and when

MOST_LEFT = 20
ECHO = 10.0  # seconds in which a browser on a busy machine has heard of another sentence
NO_LETTERS = "no_letters"  # page option: keys of one letter, digit or sign do nothing
ARRIVES = {"next": BEFORE_FIRST, "previous": MAX_STEP}  # the step of a page turned to

Number = TypeVar("Number", int, float)

_log = logging.getLogger(__name__)


def begin(path: str) -> None:
    """First thing of every run: who is new, or went back or forward, gets what the address says.

    Another page, by its path in the address, has steps of its own.
    """
    before, arriving = found(_PATH), found(_ARRIVING) or 0
    keep(_PATH, path)
    keep(_ARRIVING, 0)
    keep(_MODELS, cached.models())
    if found(_SCENARIO) is None:
        keep(_SCENARIO, _from_address())
    elif is_history_navigation():
        _go_to(_from_address())
    elif before is not None and before != path:
        view = {name: kept for name, kept in scenario().view.items() if name not in OF_PAGE}
        keep(_SCENARIO, replace(scenario(), step=arriving, view=view))


def address() -> Link:
    """What the address of the scenario says."""
    view = scenario().view.values()
    compared = [kept for kept in shelf().snapshots if f"snapshot {kept.name}" in view]
    models = _models(of_session(_MODELS, cached.models))
    return with_snapshots(encode(scenario(), models), compared)


def publish() -> Link:
    """Write the scenario to the address, if that says anything else; returns what it says."""
    link = address()
    if st.query_params.to_dict() != link.params:
        st.query_params.from_dict(link.params)
    return link


def scenario() -> Scenario:
    """The state of this session."""
    return of_session(_SCENARIO, _from_address)


def change(
    *,
    model: str | None = None,
    sentence: str | None = None,
    edits: Edits | None = None,
    pins: Mapping[int, str] | None = None,
    view: Mapping[str, str] | None = None,
    step: int | None = None,
) -> None:
    """Replace fields of the scenario; what is None stays.

    Another sentence drops the edits of single words, pins, right tags and the step. Another model
    drops the edits of tags that it does not have, and says so. Changed edits can be undone.
    """
    if model is not None:
        _change_model(model)
    if sentence is not None:
        _change_sentence(sentence)
    given = {"edits": edits, "pins": pins, "view": view, "step": step}
    changed: dict[str, Any] = {name: new for name, new in given.items() if new is not None}
    _replace(replace(scenario(), **changed))


def undo() -> None:
    """Go back to the edits, pins and right tags before their last change, if there is one."""
    if history().past:
        _travel(history().undone)


def redo() -> None:
    """Take the last undo back; nothing happens where there is none."""
    if history().future:
        _travel(history().redone)


def history() -> History:
    """What `undo` and `redo` can go to."""
    return of_session(_HISTORY, History)


def reset() -> None:
    """Drop all edits and pins; the edits can be undone."""
    change(edits=Edits(), pins={})


def path() -> str:
    """Return the path of the page that is on the screen."""
    return of_session(_PATH, str)


def is_turning() -> bool:
    """Return whether the reader asked for another page."""
    return found(_TURN) is not None


def turned() -> str | None:
    """Which page the reader asked for: "next", "previous", its path, or none; said once."""
    way: str | None = found(_TURN)
    keep(_TURN, None)
    return way


def ask_for_page(way: object) -> None:
    """Have the next run turn to "next" or "previous" or the page of a path; else to none."""
    if isinstance(way, str) and (way in ARRIVES or any(way == each.path for each in ENTRIES)):
        keep(_TURN, way)


def put(state: Scenario) -> None:
    """Go to a whole state, as an address would; no change before it can be undone."""
    keep(_HISTORY, History())
    keep(_SCENARIO, _fitted(state))


def stay_on(path: str) -> None:
    """Have the page of a path, which is opened now, show the scenario as if it had been there."""
    keep(_PATH, path)


def arrive(way: str) -> None:
    """Have the page that is opened now begin before its first step, or at its last.

    Args:
        way: how it follows the one on the screen, "next" or "previous".
    """
    keep(_ARRIVING, ARRIVES[way])


def view_option(name: str, default: str = "") -> str:
    """A page option, `default` where it was not chosen."""
    return scenario().view.get(name, default)


def set_view_option(name: str, value: str, default: str = "") -> None:
    """Keep a page option; what equals `default` is not kept, so that links stay short."""
    view = {key: kept for key, kept in scenario().view.items() if key != name}
    change(view=view if value == default else {**view, name: value})


def flag_option(name: str) -> bool:
    """A page option that is on or off; it is off where it was not chosen."""
    return view_option(name) == "1"


def number_option(name: str, default: Number, least: Number, most: Number) -> Number:
    """A page option that is a number, the nearest from `least` to `most`.

    It is `default` where it was not chosen or is no number.
    """
    try:
        value = type(default)(view_option(name, str(default)))
    except ValueError:
        return default
    return default if isnan(value) else max(least, min(most, value))


def one_of(name: str, options: Collection[str], default: str) -> str:
    """A page option that is one of `options`; `default` where none was chosen or another."""
    chosen = view_option(name, default)
    return chosen if chosen in options else default


def count_up(name: str, most: int) -> None:
    """One more of a page option that is a number from 0, which `most` ends."""
    set_view_option(name, str(min(most, number_option(name, 0, 0, most) + 1)))


def set_right(right: Mapping[int, str]) -> None:
    """Keep the tags that the reader says are right, by position."""
    keep(_SCENARIO, replace(scenario(), right=dict(right)))


def handle_events(stage: str, sent: object, take_over: Callable[[], None] | None = None) -> None:
    """Apply what the user did in a live stage since its last event; called in its callback.

    Each event is parsed once. A bad one is refused with a message and changes nothing; one about
    words of another sentence is dropped.

    Args:
        stage: its key.
        sent: what its browser sent, see `crfviz.ui.state.events`.
        take_over: makes the stage's scenario that of the session, if it is another one; called
            before the first event that chooses something in its sentence.
    """
    for fields in fresh_events(stage, sent):
        EDITS.inc()
        with refusals_said():
            event = parse_event(fields, cached.tagger(scenario().model).tags)
            note_payload(stage, event.has)
            if isinstance(event, Step):  # a fast walk may end where it began
                keep(STEPPED, stage.removeprefix("stage."))
            if take_over and isinstance(event, View) and event.name in OF_POSITIONS:
                take_over()
                take_over = None
            if event.is_for(scenario().sentence):
                _apply(event)


def take_up(state: Scenario) -> None:
    """Go to the model, sentence, edits and pins of another state; page options stay."""
    now = scenario()
    view = now.view if state.sentence == now.sentence else with_sentence(now, state.sentence).view
    _go_to(_fitted(replace(state, view=view, step=0)))


def take_typed(sentence: str) -> None:
    """Another sentence, out of its box.

    With the next key the browser may still send what the box held before `follow`: nobody typed it.
    """
    ended = monotonic() - ECHO
    if not any(left == sentence and at > ended for left, at in found(_LEFT) or ()):
        change(sentence=sentence)


def follow(query: Mapping[str, str], view: Mapping[str, str]) -> None:
    """Go to the state of an address, with further page options; those of now stay, too."""
    lately = [*(found(_LEFT) or ())[-MOST_LEFT:], (scenario().sentence, monotonic())]
    keep(_LEFT, lately)
    state = decode(query, _models()).scenario
    now = with_sentence(scenario(), state.sentence).view
    _go_to(_fitted(replace(state, view={**now, **state.view, **view}, step=0)))


def _apply(event: Event) -> None:
    commands = {"undo": undo, "redo": redo, "reset": reset}
    if isinstance(event, Command) and event.name in commands:
        commands[event.name]()
    elif isinstance(event, Command):
        ask_for_page(event.name)
    else:
        _replace(apply_event(scenario(), event))


def _from_address() -> Scenario:
    params, models = st.query_params.to_dict(), _models()
    if missing := params.pop(MISSING, ""):
        say(no_such_page(missing))
    keep_shelf(shelf().with_linked(linked_snapshots(params, models)))
    decoded = decode(without_snapshots(params), models)
    for message in decoded.ignored:
        say(message)
    fitted = _fitted(decoded.scenario)
    of_words = fitted.changes != fitted.changes.without_positions()
    if of_words and cached.known_tagger(fitted.model):
        fitted, messages = for_words(fitted, len(cached.words(fitted.model, fitted.sentence)))
        for message in messages:
            say(message)
    return fitted


def _models(names: Sequence[str] | None = None) -> Models:
    """What addresses mean by the models of these names; of all that there are now, if None."""
    names = cached.models() if names is None else names
    return Models(names, cached.default_model(names), cached.first_sentence)


def _go_to(after: Scenario) -> None:
    if after.sentence != scenario().sentence:
        keep(_HISTORY, History())
        keep(_SCENARIO, after)
    else:
        _replace(after)


def _change_model(model: str) -> None:
    if model not in cached.models():
        say(f"There is no model called {quote(model)}.")
    elif model != scenario().model:
        sentence = _readable(scenario(), model)
        if sentence != scenario().sentence:
            _change_sentence(sentence)
        keep(_SCENARIO, _fitted(replace(scenario(), model=model)))


def _readable(before: Scenario, model: str) -> str:
    """The sentence, or the first one of a model that reads other words than the one before."""
    try:
        old, new = (cached.tagger(name) for name in (before.model, model))
        of_words = old.observations is None or new.observations is not None
        readable = of_words and new.reads(before.sentence)
    except CrfvizError:  # a broken model: the page says so
        return before.sentence
    return before.sentence if readable else cached.first_sentence(model)


def _change_sentence(sentence: str) -> None:
    before = scenario()
    after = with_sentence(before, sentence)
    if len(sentence) > MAX_CHARACTERS:
        say(
            f"The sentence was cut after {MAX_CHARACTERS:,} characters. "
            "Type a shorter one to see all of it."
        )
    if dropped := len(before.edits.emissions) - len(after.edits.emissions):
        say(f"{count(dropped, 'edit')} of single words were dropped with the old sentence.")
    if after.sentence != before.sentence:
        keep(_HISTORY, history().without_positions(after.changes))
    keep(_SCENARIO, after)


def _fitted(wanted: Scenario) -> Scenario:
    """The scenario without what its model does not know; if the model is broken, all stays."""
    try:
        tags = cached.tagger(wanted.model).tags
    except CrfvizError as error:
        warn_once(_log, f"model {wanted.model} cannot be loaded", error)
        return wanted
    fitted, unknown = for_tags(wanted, tags)
    if unknown:
        names = ", ".join(quote(tag) for tag in unknown[:5])
        say(f"{wanted.model} has no tag {names}: edits of such tags were dropped.")
    keep(_HISTORY, history().for_tags(tags, fitted.changes))
    return fitted


def _travel(way: Callable[[Changes], tuple[Changes, History]]) -> None:
    changes, left = way(scenario().changes)
    keep(_HISTORY, left)
    keep(_SCENARIO, scenario().with_changes(changes))


def _replace(after: Scenario) -> None:
    """Keep the scenario; if its changes are new, those before can be undone."""
    before = scenario()
    if after.changes != before.changes:
        keep(_HISTORY, history().pushed(before.changes))
    keep(_SCENARIO, after)
