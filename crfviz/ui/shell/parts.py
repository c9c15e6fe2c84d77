"""Which parts of a page are drawn anew after an event of its stage: not the frame around them.

A part is a fragment of Streamlit's. The browser asks for the one that a widget stands in; an event
of the stage is answered by that part, `PAGE`, and by the part of the sidebar that tells of edits,
but where a score that is edited already is edited again: then it goes on saying the same.
Whatever else somebody does draws everything, and so does an event after which the frame would look
another way: `crfviz.ui.shell.body` sees to that.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ParamSpec

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.fragment import FragmentStorage
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from crfviz.ui.session.current import history, scenario
from crfviz.ui.session.kept import KEPT

PAGE, EDITS = "page", "edits"
OF_EDITS = (PAGE, EDITS)  # what tells of an edit
MOVES = ("step",)  # events that no other page hears of
CHANGES = (
    "transition",
    "emission",
    "restore",
    "strength",
    "constrained",
    "right",
    "view",
    "undo",
    "redo",
    "reset",
)

OF_STAGE = re.compile(r"-stage\.[a-z.-]+__events$", re.IGNORECASE)  # the end of a trigger's id

Arguments = ParamSpec("Arguments")

_names: dict[str, str] = {}  # by the id that Streamlit gives a fragment


def part(name: str) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """Make a function the drawing of a part."""

    def decorated(draw: Callable[Arguments, None]) -> Callable[Arguments, None]:
        def drawn(*args: Arguments.args, **named: Arguments.kwargs) -> None:
            fragment = ThreadState.get().fragment_id
            if fragment is not None:
                _names[fragment] = name
            draw(*args, **named)

        drawn.__qualname__ = f"{draw.__module__}.{draw.__qualname__}"  # tells fragments apart
        return st.fragment(drawn, key=name)

    return decorated


def running() -> set[str]:
    """The parts that this run draws; empty where it draws everything."""
    context = get_script_run_ctx()
    ids = context.fragment_ids_this_run if context is not None else None
    return {_names.get(each, each) for each in ids or ()}


def asked(request: RerunData) -> RerunData:
    """What is to be drawn, if somebody did something in a part: that part, or everything."""
    if request.fragment_id not in _names:
        return request
    if _names[request.fragment_id] == PAGE and _kinds(request) <= {*MOVES, *CHANGES}:
        return request
    return replace(request, fragment_id=None)


def widened(request: RerunData, fragments: FragmentStorage) -> RerunData:
    """The same with all parts that tell of the events in it."""
    drawn = request.fragment_id_queue
    if PAGE not in map(_names.get, drawn) or _kinds(request) <= {*MOVES}:
        return request
    if _edits_again(request):
        return request
    others = [each for name in OF_EDITS for each in _ids(fragments, name) if each not in drawn]
    return replace(request, fragment_id_queue=[*drawn, *others])


def _edits_again(request: RerunData) -> bool:
    """Whether all that is told are edits of scores that are edited, with nothing to redo.

    Where more comes of it than that, `PAGE` finds out, and everything is drawn.
    """
    context = get_script_run_ctx()
    if context is None or KEPT not in context.session_state or not history().past:
        return False
    edits = scenario().edits
    known = {*edits.transitions, *edits.emissions}
    states = request.widget_states.widgets if request.widget_states is not None else ()
    told = [event for each in states for event in _events(each.json_trigger_value)]
    return not history().future and all(_cell(event) in known for event in told)


def _cell(event: Mapping[str, object]) -> tuple[object, object] | None:
    """The place of a score that an event sets, None where it does something else."""
    names = {"transition": ("from", "to"), "emission": ("position", "tag")}.get(str(event["kind"]))
    before, after = (event.get(name) for name in names or ("", ""))
    return (before, after) if isinstance(before, str | int) and isinstance(after, str) else None


def _ids(fragments: FragmentStorage, name: str) -> list[str]:
    try:
        return fragments.resolve_target(name)
    except StreamlitAPIException:  # this page has no such part
        return []


def _kinds(request: RerunData) -> set[str]:
    """The kinds of the stage's events in a request; an empty one if there is anything else."""
    return set(_each_kind(request.widget_states)) or {""}


def _each_kind(states: WidgetStates | None) -> Iterator[str]:
    for state in states.widgets if states is not None else ():
        kind = state.WhichOneof("value")
        if kind == "json_trigger_value" and state.json_trigger_value:
            if not OF_STAGE.search(state.id):
                yield ""
            yield from _told(state.json_trigger_value)
        elif kind == "trigger_value" and state.trigger_value:
            yield ""


def _told(text: str) -> Iterator[str]:
    """The kinds of what a stage sent."""
    for event in _events(text):
        yield str(event["kind"])


def _events(text: str) -> list[Mapping[str, object]]:
    """What a stage sent, which may be anything at all; of no kind where it is no event."""
    if not text:
        return []
    try:
        every = [event for message in json.loads(text) for event in message["value"]]
    except (ValueError, TypeError, KeyError):
        return [{"kind": ""}]
    fine = all(isinstance(event, Mapping) and "kind" in event for event in every)
    return every if fine else [{"kind": ""}]
