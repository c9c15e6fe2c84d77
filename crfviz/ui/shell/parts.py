"""Which parts of a page are drawn anew after an event of its stage: not the frame around them.

A part is a fragment of Streamlit's. The browser asks for the one that a widget stands in; an event
of the stage is answered by that part, `PAGE`, and by the part of the sidebar that tells of edits.
Whatever else somebody does draws everything, and so does an event after which the frame would look
another way: `crfviz.ui.shell.body` sees to that.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ParamSpec

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.fragment import FragmentStorage
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

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
    others = [each for name in OF_EDITS for each in _ids(fragments, name) if each not in drawn]
    return replace(request, fragment_id_queue=[*drawn, *others])


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
    """The kinds of what a stage sent, which may be anything at all."""
    try:
        sent = json.loads(text)
        for message in sent:
            for event in message["value"]:
                yield str(event["kind"])
    except (ValueError, TypeError, KeyError):
        yield ""
