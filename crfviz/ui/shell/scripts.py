"""How Streamlit runs scripts here: one at a time, and without a collection of garbage after each.

Streamlit looks for garbage after every script, in all that all sessions hold: with some hundred
sessions that takes longer than the script. `runner.postScriptGC` in config.toml ends that. Python
looks by itself as objects become more; what hangs on few objects, such as tensors, is looked for
after `RUNS` scripts, or more where that look takes long: it is no more than `SHARE` of all work.

A browser whose line was lost may come back to a server that has no session of it, and tells it what
all its widgets hold. The new session begins with the address and takes up what differs from it, see
`crfviz.ui.session.bound`; when it knows all widgets it draws the page anew, and hears what was
pressed as well. What is pressed in a part of the page that the session has not drawn yet, Streamlit
would drop: here it is told of the whole page.

A thread that waits for Python's lock asks for it after `SWITCH`: beside one that reads a large
file, a script would else lose Python's own 5 ms at each look at a file and each message.
"""

import gc
import importlib
import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)

from crfviz.ui.session.floor import FLOOR
from crfviz.ui.session.kept import KEPT
from crfviz.ui.watching.meters import RUN_SECONDS, WAIT_SECONDS

RUNS = 200  # scripts between two collections, at the least
SHARE = 0.02  # of the time that scripts take, for collections
SWITCH = 0.0005  # seconds

PRESSES = ("trigger_value", "string_trigger_value", "chat_input_value", "json_trigger_value")
_RUNNER = "streamlit.runtime.scriptrunner.script_runner"
_SESSION, _ASK = "streamlit.runtime.app_session", "request_rerun"
_log = logging.getLogger(__name__)


class Garbage:
    """Collects it, now and then; `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._runs, self._seconds = 0, 0.0  # since the last collection
        self._taken = 0.0  # seconds, by the last collection

    def after(self, seconds: float) -> None:
        """A script has run for so long."""
        self._runs += 1
        self._seconds += seconds
        if self._runs >= RUNS and self._taken <= SHARE * self._seconds:
            self._runs, self._seconds = 0, 0.0
            begin = self._clock()
            gc.collect()
            self._taken = self._clock() - begin


GARBAGE = Garbage()


class OneAtATime(ScriptRequests):
    """What a session asks of its script; handed to it when it has the floor.

    Requests that come before are merged into one, the newest state wins.
    """

    _began = 0.0  # when its run had the floor
    _brought: RerunData | None = None  # what the browser told a session that was new to it
    _has_brought = False

    @property
    def is_new(self) -> bool:
        """Whether the run is the first of a session, into which a browser brought widgets."""
        return self._brought is not None

    def on_scriptrunner_ready(self) -> ScriptRequest:
        """The next run, or the end: Streamlit asks before the first run and after each."""
        if FLOOR.give():
            taken = perf_counter() - self._began
            RUN_SECONDS.observe(taken)
            GARBAGE.after(taken)
        self._ask_for_brought()
        if self._state is ScriptRequestType.RERUN:
            asked = perf_counter()
            FLOOR.take()
            self._began = perf_counter()
            WAIT_SECONDS.observe(self._began - asked)
        request = super().on_scriptrunner_ready()
        if request.type is not ScriptRequestType.RERUN:
            FLOOR.give()
            return request
        context = get_script_run_ctx(suppress_warning=True)
        if context is None:
            return request
        wanted = request.rerun_data
        if not self._has_brought and _holds(wanted) and KEPT not in context.session_state:
            self._brought, self._has_brought = wanted, True
            wanted = _without_presses(wanted)
        return ScriptRequest(ScriptRequestType.RERUN, wanted)

    def on_scriptrunner_yield(self) -> ScriptRequest | None:
        """Whether the run is to end; Streamlit asks whenever the script draws something."""
        FLOOR.let_others()
        if self.is_new and self._state is not ScriptRequestType.STOP:
            return None  # all widgets are to be known first
        return super().on_scriptrunner_yield()

    def _ask_for_brought(self) -> None:
        """Have the next run hear of what was brought, and of what came since."""
        with self._lock:
            brought, self._brought = self._brought, None
            if brought is None or self._state is ScriptRequestType.STOP:
                return
            later = self._rerun_data if self._state is ScriptRequestType.RERUN else None
            self._state = ScriptRequestType.CONTINUE
            for request in filter(None, (brought, later)):
                self._request_rerun_locked(request)


def one_script_at_a_time() -> bool:
    """Have all scripts that begin from now on wait for their turn; whether that could be done.

    Another Streamlit may not ask as this one does: then it runs its scripts as it likes.
    """
    sys.setswitchinterval(SWITCH)
    runner = importlib.import_module(_RUNNER)
    if getattr(runner, "ScriptRequests", None) not in (ScriptRequests, OneAtATime):
        _log.warning("scripts run side by side: this Streamlit asks for them in another way")
        return False
    runner.ScriptRequests = OneAtATime  # type: ignore[attr-defined]
    return True


def hear_every_press() -> bool:
    """Have sessions of this process hear what is pressed early; whether that could be done.

    Another Streamlit may be told of it in another way: then such a press is lost.
    """
    session = getattr(importlib.import_module(_SESSION), "AppSession", None)
    ask = getattr(session, _ASK, None)
    if session is None or ask is None or not hasattr(session, "has_fragment"):
        _log.warning("what is pressed early is lost: this Streamlit is told of it in another way")
        return False
    setattr(session, _ASK, _heard(getattr(ask, "__wrapped__", ask)))
    return True


def _heard(ask: Callable[[Any, ClientState | None], None]) -> Callable[..., None]:
    @wraps(ask)
    def told(session: Any, state: ClientState | None) -> None:  # noqa: ANN401 - Streamlit's
        if state is not None and state.fragment_id and not session.has_fragment(state.fragment_id):
            every = state.widget_states.widgets
            if any(each.WhichOneof("value") in PRESSES for each in every):
                whole = ClientState()
                whole.CopyFrom(state)
                whole.ClearField("fragment_id")
                state = whole
        ask(session, state)

    return told


def _holds(request: RerunData) -> bool:
    return bool(request.widget_states and request.widget_states.widgets)


def _without_presses(request: RerunData) -> RerunData:
    """What the widgets hold, without what was pressed: that is heard once."""
    every = request.widget_states.widgets if request.widget_states is not None else ()
    held = [each for each in every if each.WhichOneof("value") not in PRESSES]
    return replace(request, widget_states=WidgetStates(widgets=held))
