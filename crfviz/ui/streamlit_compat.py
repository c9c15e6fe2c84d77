"""The undocumented parts of Streamlit that crfviz needs.

No other module of crfviz imports more of Streamlit than `streamlit`, `streamlit.components.v2` and
`streamlit.testing`. The docstring of each function has what it uses, why, what that gains, and what
happens without it. *Hooks* change Streamlit's behaviour. `CRFVIZ_STREAMLIT_HOOKS=off` disables
them. If Streamlit lacks an attribute, its hook is skipped with a line in the log; the app then
works, but slower. *Reads* get a fact or a class from Streamlit, and change nothing.
`tests/unit/ui/test_streamlit_compat.py` fails with the name of the attribute that is gone.
"""

import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from json import loads
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import streamlit as st
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it has no stubs
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig
from streamlit.errors import FragmentHandledException, StreamlitSecretNotFoundError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from crfviz.settings import settings

__all__ = [  # classes and exceptions of Streamlit, for types and `except`
    "ColumnConfig",
    "DeltaGenerator",
    "FragmentHandledException",
    "StopException",
    "StreamlitSecretNotFoundError",
]

PACKAGE = Path(__file__).parents[1]
Component = Callable[..., object]  # the result of `st.components.v2.component`

_elements: WeakKeyDictionary[BidiComponentManager, dict[str, Component]] = WeakKeyDictionary()
_log = logging.getLogger(__name__)


# Hooks


def _module_with(name: str, base: type) -> ModuleType | None:
    """Return a module if it has a class to replace; None without it, or if hooks are off."""
    module = import_module(name)
    candidate = getattr(module, base.__name__, None)
    if not (isinstance(candidate, type) and issubclass(candidate, base)):
        _log.warning("the app is slower: %s has no %s", name, base.__name__)
        return None
    return module if settings().streamlit_hooks else None


def one_script_at_a_time(
    take: Callable[[], None], give: Callable[[], object], let_others: Callable[[], None]
) -> bool:
    """Make each script acquire and release a fair lock; return whether that is possible.

    - What: the class `ScriptRequests` of `script_runner`, from which a thread gets each run.
    - Why: thirty scripts that compete for the GIL each take as long as all of them together.
    - Gain: of 30 edits at once the median falls from 277 to 111 ms, at 40 % less CPU an edit.
    - Without it: scripts run concurrently.
    """
    runner = _module_with("streamlit.runtime.scriptrunner.script_runner", ScriptRequests)
    if runner is None:
        return False

    class Turns(ScriptRequests):
        """The run requests of a session; its script gets one when it has the lock."""

        def on_scriptrunner_ready(self) -> ScriptRequest:
            """Return the next run, or stop; called before the first run and after each."""
            give()
            if self._state is ScriptRequestType.RERUN:
                take()
            request = super().on_scriptrunner_ready()
            if request.type is not ScriptRequestType.RERUN:
                give()
            return request

        def on_scriptrunner_yield(self) -> ScriptRequest | None:
            """Return a request that ends the run, or None; called whenever the script draws."""
            let_others()
            return super().on_scriptrunner_yield()

    runner.ScriptRequests = Turns  # type: ignore[attr-defined]  # replaces an import
    return True


def send_whole_runs_completely() -> bool:
    """Send all of a finished whole run before a fragment's run; return whether that is possible.

    - What: `app_session.ForwardMsgQueue.clear`, called when a run starts.
    - Why: it drops unsent messages of the fragment but keeps the message that the whole run has
      finished, so the browser removes the page until the fragment is drawn again.
    - Gain: after fast keys on a busy server the page disappeared for 0.3 to 1 s in one of 10 tries.
    - Without it: it disappears.
    """
    session = _module_with("streamlit.runtime.app_session", ForwardMsgQueue)
    if session is None:
        return False

    class CompleteRuns(ForwardMsgQueue):
        """The messages of a session for its browser."""

        def clear(
            self,
            retain_lifecycle_msgs: bool = False,  # noqa: FBT001, FBT002 - as Streamlit has it
            fragment_ids_this_run: list[str] | None = None,
        ) -> None:
            """Drop messages that a new run makes obsolete, but not those of a finished full run."""
            if fragment_ids_this_run and any(map(_ends_whole_run, getattr(self, "_queue", ()))):
                fragment_ids_this_run = []
            super().clear(retain_lifecycle_msgs, fragment_ids_this_run)

    session.ForwardMsgQueue = CompleteRuns  # type: ignore[attr-defined]  # replaces an import
    return True


def _ends_whole_run(message: ForwardMsg) -> bool:
    ends = message.WhichOneof("type") == "script_finished"
    return ends and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


def state_of_run() -> tuple[object, Any]:
    """Return an object that identifies this run, and the session's state; None outside a run.

    - What: `SafeSessionState._state`, the dictionary behind `st.session_state`.
    - Why: a look-up in `st.session_state` ends a callback in the middle once the browser has
      requested another run, and `st.session_state.to_dict()` copies the state of all widgets.
    - Gain: a page looks up session values some thirty times; this takes 2 µs, a copy 80 µs.
    - Without it: `st.session_state.to_dict()`.
    """
    state = _of_context("session_state") if settings().streamlit_hooks else None
    return state, getattr(state, "_state", None)


# Reads


def _of_context(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return a value of this thread's run; None outside a run."""
    return getattr(get_script_run_ctx(suppress_warning=True), name, None)


def is_fragment_run() -> bool:
    """Return whether this run redraws fragments of a page, and not all of it.

    - What: `ScriptRunContext.fragment_ids_this_run`.
    - Why: a callback may request fragments only if the run does not redraw everything.
    - Without it: everything is redrawn.
    """
    return bool(_of_context("fragment_ids_this_run"))


def is_history_navigation() -> bool:
    """Return whether the browser's Back or Forward has led to this run.

    - What: `ScriptRunContext.is_history_navigation`.
    - Why: only then the state is read from the URL, which may be stale in other runs.
    - Without it: Back and Forward change only the URL.
    """
    return bool(_of_context("is_history_navigation"))


def session_id() -> str:
    """Return the id of the session of this run; empty outside a run.

    - What: `ScriptRunContext.session_id`.
    - Why: lines of the log name it.
    - Without it: they do not.
    """
    return _of_context("session_id") or ""


def visitor_has_left() -> bool:
    """Return whether the browser of this run is gone, or has stopped the run.

    - What: `ScriptRequests._state`.
    - Why: long work that draws nothing would not notice that its visitor has left.
    - Without it: it continues to its end.
    """
    return getattr(_of_context("script_requests"), "_state", None) is ScriptRequestType.STOP


def browser_says(key: str) -> bool:
    """Return whether the browser's request contains the value of the widget with this key.

    - What: `SessionState.get_widget_id_from_key` and `_new_widget_state`.
    - Why: elements of an interrupted run may never have been sent; a value from the browser shows
      that it received the widget.
    - Without it: the widget counts as received.

    """
    state: Any = getattr(_of_context("session_state"), "_state", None)
    incoming = getattr(state, "_new_widget_state", None)
    if incoming is None:
        return get_script_run_ctx(suppress_warning=True) is not None
    return bool(state.get_widget_id_from_key(key) in incoming.states)


def late_events(key: str) -> object:
    """Return the events of a component to its running callback, by name; None if unknown.

    - What: `SessionState.get_widget_id_from_key`, `get_widget_metadata` and its `presenter`.
    - Why: at a change of page Streamlit drops the state of a component until it is drawn again. A
      click in between calls the callback, but `st.session_state` has no such key.
    - Without it: the click does nothing.
    """
    _, state = state_of_run()
    name = getattr(state, "get_widget_id_from_key", lambda _: None)(key)
    metadata = getattr(state, "get_widget_metadata", lambda _: None)(name) if name else None
    presenter = getattr(metadata, "presenter", None)
    return presenter({}, state) if presenter else None


def host_is_listed(host: str | None) -> bool:
    """Return whether `server.allowedHosts` lists the host of a request.

    - What: `is_host_allowed`.
    - Why: Streamlit checks only WebSocket requests, not those for files.
    - Without it: the server does not start.
    """
    return bool(is_host_allowed(host))


class BrowserMessage(NamedTuple):
    """The kind of a browser's message."""

    kind: str | None  # None for an invalid message, which Streamlit rejects
    # the message without widget values that are not JSON; None if all are valid
    mended: bytes | None


def read_message(message: bytes) -> BrowserMessage:
    """Read a browser's message.

    - What: the protocol buffer `BackMsg`.
    - Why: some messages affect other visitors. For a widget value that is not JSON, Streamlit logs
      a traceback in every run, or raises a RecursionError.
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
    forged = [
        t
        for t, each in enumerate(states)
        if not _is_json(each.json_value or each.json_trigger_value)
    ]
    for t in reversed(forged):
        del states[t]
    return BrowserMessage(kind, parsed.SerializeToString() if forged else None)


def _is_json(text: str) -> bool:
    try:
        loads(text or "0")
    except (ValueError, RecursionError):
        return False
    return True


def component(name: str, web: str, names: Sequence[str]) -> Component:
    """Return a live component as an element, whose files Streamlit serves by URL.

    - What: `BidiComponentManager.register_from_manifest`, as for installed packages.
    - Why: inline code would be sent with every redraw, and is larger than the data. Registration
      also works in a checkout without installation.
    - Without it: crfviz must be an installed package with this manifest.

    Args:
        name: the component; NAME.js and NAME.css are its files.
        web: the folder of its files in the package.
        names: all components of that folder.
    """
    manager = get_bidi_component_manager()
    elements = _elements.setdefault(manager, {})
    if name not in elements:  # registering again would read the files' names again
        if manager.get_component_asset_root(f"crfviz.{name}") is None:
            configs = [ComponentConfig(each, web) for each in names]
            manager.register_from_manifest(ComponentManifest("crfviz", "0", configs), PACKAGE)
        elements[name] = st.components.v2.component(
            f"crfviz.{name}", js=f"{name}.js", css=f"{name}.css"
        )
    return elements[name]


def static_folder() -> Path:
    """Return the folder of Streamlit's page.

    - What: `streamlit/static`.
    - Why: the Content-Security-Policy needs the hash of the inline script in the page.
    - Without it: the server does not start.
    """
    return Path(st.__file__).with_name("static")
