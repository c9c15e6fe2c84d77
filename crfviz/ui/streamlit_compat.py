"""The parts of Streamlit that its documentation does not name, and that crfviz needs.

Nothing else in crfviz imports more of Streamlit than `streamlit`, `streamlit.components.v2` and
`streamlit.testing`. Each function here says what it uses, why, what it gains, and what happens
without it. *Hooks* change how Streamlit works: `CRFVIZ_STREAMLIT_HOOKS=off` leaves them out, and so
does a Streamlit that lacks the attribute, which a line of the log names; the app works then, only
slower. *Reads* ask Streamlit for a fact or a class, and change nothing.
`tests/unit/ui/test_streamlit_compat.py` fails with the name of the attribute that is gone.
"""

import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from json import loads
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import streamlit as st
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig
from streamlit.errors import FragmentHandledException, StreamlitSecretNotFoundError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from crfviz.settings import settings

__all__ = [  # classes and exceptions that Streamlit hands out or raises, for types and `except`
    "ColumnConfig",
    "DeltaGenerator",
    "FragmentHandledException",
    "StopException",
    "StreamlitSecretNotFoundError",
]

Component = Callable[..., object]  # what `st.components.v2.component` gives

_RUNNER = "streamlit.runtime.scriptrunner.script_runner"
_SESSION = "streamlit.runtime.app_session"
_elements: WeakKeyDictionary[BidiComponentManager, dict[str, Component]] = WeakKeyDictionary()
_log = logging.getLogger(__name__)


def hooks_are_on() -> bool:
    """Return whether the hooks may change how Streamlit works."""
    return settings().streamlit_hooks


# Hooks


class FairLock(Protocol):
    """What scripts wait for, see `crfviz.ui.session.floor`."""

    def take(self) -> None:
        """Wait for it."""

    def give(self) -> bool:
        """Leave it to others; whether this thread had it."""

    def let_others(self) -> None:
        """Leave it to others for a while, if this thread has had its time."""


def one_script_at_a_time(lock: FairLock) -> bool:
    """Have each script wait for its turn, and return whether that is possible.

    - What: the class `ScriptRequests` of `script_runner`, from which a thread gets each run.
    - Why: thirty scripts that fight for Python's lock take as long each as all of them together.
    - Gain: of 30 edits at once the median falls from 277 to 111 ms, at 40 % less CPU an edit.
    - Without it: scripts run side by side.
    """
    if not hooks_are_on():
        return False
    runner = import_module(_RUNNER)
    requests = getattr(runner, "ScriptRequests", None)
    if not (isinstance(requests, type) and issubclass(requests, ScriptRequests)):
        _log.warning("scripts run side by side: %s has no ScriptRequests", _RUNNER)
        return False

    class Turns(ScriptRequests):
        """The requests of a session to its script, which it gets when it has the lock."""

        def on_scriptrunner_ready(self) -> ScriptRequest:
            """Return the next run, or the end; asked for before the first run and after each."""
            lock.give()
            if self._state is ScriptRequestType.RERUN:
                lock.take()
            request = super().on_scriptrunner_ready()
            if request.type is not ScriptRequestType.RERUN:
                lock.give()
            return request

        def on_scriptrunner_yield(self) -> ScriptRequest | None:
            """Return what ends the run; asked for whenever the script draws something."""
            lock.let_others()
            return super().on_scriptrunner_yield()

    runner.ScriptRequests = Turns  # type: ignore[attr-defined]
    return True


def send_whole_runs_completely() -> bool:
    """Send all of a finished whole run before a fragment's run; return whether that is possible.

    - What: `app_session.ForwardMsgQueue.clear`, called when a run starts.
    - Why: it drops unsent messages of the fragment but keeps the message that the whole run has
      finished, so the browser removes the page until the fragment is drawn again.
    - Gain: after fast keys on a busy server the page disappeared for 0.3 to 1 s in one of 10 tries.
    - Without it: it disappears.
    """
    if not hooks_are_on():
        return False
    session = import_module(_SESSION)
    queue = getattr(session, "ForwardMsgQueue", None)
    if not (isinstance(queue, type) and issubclass(queue, ForwardMsgQueue)):
        _log.warning("pages may flicker: %s has no ForwardMsgQueue", _SESSION)
        return False

    class CompleteRuns(ForwardMsgQueue):
        """The messages of a session for its browser."""

        def clear(
            self,
            retain_lifecycle_msgs: bool = False,  # noqa: FBT001, FBT002 - as Streamlit has it
            fragment_ids_this_run: list[str] | None = None,
        ) -> None:
            """Drop what a new run makes superfluous; nothing of a whole run that has finished."""
            if fragment_ids_this_run and any(map(_ends_whole_run, getattr(self, "_queue", ()))):
                fragment_ids_this_run = []
            super().clear(retain_lifecycle_msgs, fragment_ids_this_run)

    session.ForwardMsgQueue = CompleteRuns  # type: ignore[attr-defined]
    return True


def _ends_whole_run(message: ForwardMsg) -> bool:
    ends = message.WhichOneof("type") == "script_finished"
    return ends and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


def state_of_run() -> tuple[object, Any]:
    """Return what tells this run from others, and the session's state; None outside of a run.

    - What: `SafeSessionState._state`, the dictionary behind `st.session_state`.
    - Why: a look-up in `st.session_state` ends a callback in the middle once the browser has asked
      for another run, and `st.session_state.to_dict()` copies the state of all widgets.
    - Gain: a page looks up what a session keeps some thirty times; this takes 2 µs, a copy 80.
    - Without it: `st.session_state.to_dict()`.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not hooks_are_on():
        return None, None
    return context.session_state, getattr(context.session_state, "_state", None)


def do_without_pages_folder() -> None:
    """Have Streamlit take no page from the folder `pages/`.

    - What: `PagesManager.uses_pages_directory`, which `st.navigation` sets, too.
    - Why: until `st.navigation` was called once, a visitor who names a page gets it alone.
    - Gain: the first run of a new server is drawn once.
    - Without it: that page begins its run again, see `crfviz.ui.shell.frame.header`.
    """
    if hooks_are_on():
        PagesManager.uses_pages_directory = False


# Reads


def is_fragment_run() -> bool:
    """Return whether this run redraws fragments of a page, and not all of it.

    - What: `ScriptRunContext.fragment_ids_this_run`.
    - Why: a callback may ask for fragments only where the run would not redraw everything.
    - Without it: everything is redrawn.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and bool(getattr(context, "fragment_ids_this_run", None))


def is_history_navigation() -> bool:
    """Return whether the browser's Back or Forward has led to this run.

    - What: `ScriptRunContext.is_history_navigation`.
    - Why: the address counts then; else the one that comes along may be old.
    - Without it: Back and Forward change the address alone.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and bool(getattr(context, "is_history_navigation", False))


def session_id() -> str:
    """Return the name of the session of this run; empty outside of one.

    - What: `ScriptRunContext.session_id`.
    - Why: lines of the log name it.
    - Without it: they do not.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def visitor_has_left() -> bool:
    """Return whether the browser of this run is gone, or has stopped it.

    - What: `ScriptRequests._state`.
    - Why: long work draws nothing, and would go on for nobody.
    - Without it: it goes on to its end.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = None if context is None else context.script_requests
    return getattr(requests, "_state", None) is ScriptRequestType.STOP


def browser_says(key: str) -> bool:
    """Return whether the browser says what the widget with this key holds.

    - What: `SessionState.get_widget_id_from_key` and `_new_widget_state`.
    - Why: what a run drew that ended early may never have been sent; a browser that says what a
      widget holds has heard of it.
    - Without it: it counts as heard.
    """
    context = get_script_run_ctx(suppress_warning=True)
    state = None if context is None else getattr(context.session_state, "_state", None)
    incoming = getattr(state, "_new_widget_state", None)
    if state is None or incoming is None:
        return context is not None
    return state.get_widget_id_from_key(key) in incoming.states


def pages_folder_is_used() -> bool:
    """Return whether Streamlit takes pages from the folder `pages/`; see above."""
    return PagesManager.uses_pages_directory is not False


def host_is_listed(host: str | None) -> bool:
    """Return whether `server.allowedHosts` lists the host of a request.

    - What: `is_host_allowed`.
    - Why: Streamlit asks it for the WebSocket alone, not for files.
    - Without it: the server does not start.
    """
    return bool(is_host_allowed(host))


class BrowserMessage(NamedTuple):
    """What a browser's message is."""

    kind: str | None  # None where it is none, which Streamlit will say
    mended: bytes | None  # without values of widgets that are no JSON; None where all of them are


def read_message(message: bytes) -> BrowserMessage:
    """Read a browser's message.

    - What: the protocol buffer `BackMsg`.
    - Why: some messages take from all other visitors; and of a value that is no JSON Streamlit
      writes a trace in every run, or fails by a RecursionError.
    - Without it: the server does not start.
    """
    parsed = BackMsg()
    try:
        parsed.ParseFromString(message)
    except DecodeError:
        return BrowserMessage(None, None)
    kind: str | None = parsed.WhichOneof("type")
    if kind == "backend_operation_request":
        kind = parsed.backend_operation_request.WhichOneof("payload")
    states = parsed.rerun_script.widget_states.widgets
    fine = [each for each in states if _is_json(each.json_value or each.json_trigger_value)]
    if len(fine) == len(states):
        return BrowserMessage(kind, None)
    mended = BackMsg()
    mended.CopyFrom(parsed)
    del mended.rerun_script.widget_states.widgets[:]
    mended.rerun_script.widget_states.widgets.extend(fine)
    return BrowserMessage(kind, mended.SerializeToString())


def _is_json(text: str) -> bool:
    try:
        loads(text or "0")
    except (ValueError, RecursionError):
        return False
    return True


def component(name: str, web: str, names: Sequence[str], package: Path) -> Component:
    """Return a live component as an element, whose files Streamlit serves by URL.

    - What: `BidiComponentManager.register_from_manifest`, by which installed packages are found.
    - Why: inline code would travel with every redraw, and is larger than the data; the app runs
      from a checkout that is not installed.
    - Without it: crfviz has to be an installed package with this manifest.

    Args:
        name: of the component; NAME.js and NAME.css are its files.
        web: the folder of its files in the package.
        names: all components of that folder.
        package: the folder of the package.
    """
    manager = get_bidi_component_manager()
    elements = _elements.setdefault(manager, {})
    if name not in elements:  # to register one reads its files' names again
        if manager.get_component_asset_root(f"crfviz.{name}") is None:
            configs = [ComponentConfig(each, web) for each in names]
            manager.register_from_manifest(ComponentManifest("crfviz", "0", configs), package)
        elements[name] = st.components.v2.component(
            f"crfviz.{name}", js=f"{name}.js", css=f"{name}.css"
        )
    return elements[name]


def static_folder() -> Path:
    """Return the folder of Streamlit's page.

    - What: `streamlit/static`.
    - Why: its scripts are packed once, and its inline script is allowed by its hash.
    - Without it: the server does not start.
    """
    return Path(st.__file__).with_name("static")
