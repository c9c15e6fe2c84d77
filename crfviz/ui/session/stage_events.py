"""The events of the app's stages change the scenario of the session."""

from collections.abc import Callable

from crfviz.ui import cached
from crfviz.ui.session.components import fresh_events, note_payload
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.scenario_state import redo, replace_scenario, reset, scenario, undo
from crfviz.ui.session.session_store import errors_as_messages, set_value
from crfviz.ui.state.event_parser import parse_event
from crfviz.ui.state.events import Command, Step, View
from crfviz.ui.state.scenario import OF_POSITIONS
from crfviz.ui.watching.meters import EDITS

STEPPED = "stage.stepped"  # session key: the stage stepped through last


def handle_events(stage: str, sent: object, take_over: Callable[[], None] | None = None) -> None:
    """Apply the new events of a stage, in its callback.

    Each event is parsed once. An invalid one changes nothing and shows a message. Events about
    words of another sentence are ignored.

    Args:
        stage: the stage's key.
        sent: the browser's events, see `crfviz.ui.state.event_parser`.
        take_over: loads the stage's own scenario into the session; called before the first event
            that refers to its sentence.
    """
    for fields in fresh_events(stage, sent):
        EDITS.inc()
        with errors_as_messages():
            event = parse_event(fields, cached.tagger(scenario().model).tags)
            note_payload(stage, event.has)
            if isinstance(event, Step):  # a fast walk may end at its first step
                set_value(STEPPED, stage.removeprefix("stage."))
            if take_over and isinstance(event, View) and event.name in OF_POSITIONS:
                take_over()
                take_over = None
            if not event.is_for(scenario().sentence):
                continue
            if isinstance(event, Command):
                _obey(event.name)
            else:
                replace_scenario(event.apply(scenario()))


def _obey(command: str) -> None:
    commands = {"undo": undo, "redo": redo, "reset": reset}
    if command in commands:
        commands[command]()
    else:
        request_page(command)
