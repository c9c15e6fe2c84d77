"""How what scripts have drawn comes to be sent: which sessions are looked at, and how often.

Streamlit looks every 5 ms while anything is drawn, at all sessions there are: with 400 that sit
idle, the part of an edit that is not its script took twice as long. Here it looks at those that
have something to send.

And a script wakes the thread that sends with each element that it draws: a page has some thirty,
each with a system call and two changes of the thread that has Python's lock. Here it hands them
over together, `GATHERED` after the first one or when it is done.
"""

import importlib
import logging
from collections.abc import Callable
from functools import partial, wraps
from threading import Lock
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from crfviz.ui.session.pace import begin_session
from crfviz.ui.watching.requests import begins

GATHERED = 0.005  # seconds; Streamlit waits as long before it looks again at what is to be sent

_ACTIVE = "_active_session_info_by_id"
_SESSION, _HEAR, _HANDLE = (
    "streamlit.runtime.app_session",
    "_on_scriptrunner_event",
    "_handle_scriptrunner_event_on_event_loop",
)
_SOON, _BEGIN = "_call_soon_on_event_loop", "_create_scriptrunner"
_log = logging.getLogger(__name__)


class OnlyBusy(WebsocketSessionManager):
    """All sessions of a server; to its loop it names those with messages alone.

    Only the loop asks for the active ones, and sends what they have: the route for metrics, which
    asks, too, is closed.
    """

    _busy: set[str]  # of ids; adding, copying and removing are each one step for all threads

    def connect_session(self, *args: Any, **named: Any) -> str:  # noqa: ANN401 - as Streamlit has it
        """Begin a session, or go on with one, and hear of its messages from now on."""
        session_id = super().connect_session(*args, **named)
        begins(session_id)
        begin_session(session_id)
        session = self._active_session_info_by_id[session_id].session
        session._message_enqueued_callback = partial(self._hear, session_id)
        self._hear(session_id)  # it may go on with messages that nobody has got yet
        return session_id

    def list_active_sessions(self) -> list[ActiveSessionInfo]:
        """The sessions that a browser shows and that had messages since this was asked last."""
        busy = list(self._busy)
        self._busy.difference_update(busy)
        found = map(self._active_session_info_by_id.get, busy)
        return [session for session in found if session is not None]

    def list_sessions(self) -> list[SessionInfo]:
        """All of them, whether a browser shows them or not."""
        return [*self._active_session_info_by_id.values(), *self._session_storage.list()]  # type: ignore[list-item]

    def num_active_sessions(self) -> int:
        """How many browsers show."""
        return len(self._active_session_info_by_id)

    def _hear(self, session_id: str) -> None:
        if session_id in self._busy:  # the loop was woken, and has not looked yet
            return
        self._busy.add(session_id)
        if self._message_enqueued_callback is not None:
            self._message_enqueued_callback()


def send_for_busy_sessions_only() -> bool:
    """Have the server of this process look at no idle session; whether that could be done.

    Another Streamlit may keep its sessions in another way: then it looks at all of them.
    """
    manager = getattr(Runtime.instance(), "_session_mgr", None) if Runtime.exists() else None
    if type(manager) is not WebsocketSessionManager or getattr(manager, _ACTIVE, None) != {}:
        _log.warning("idle sessions are looked at, too: this Streamlit keeps them in another way")
        return False
    manager.__class__ = OnlyBusy
    manager._busy = set()  # type: ignore[attr-defined]
    return True


def hand_over_together() -> bool:
    """Have the scripts of this process hand over what they draw together; whether that can be done.

    Another Streamlit may hear of it in another way: then each element is handed over by itself.
    """
    session = getattr(importlib.import_module(_SESSION), "AppSession", None)
    if session is None or not all(
        hasattr(session, name) for name in (_HEAR, _HANDLE, _SOON, _BEGIN)
    ):
        _log.warning("elements are handed over one by one: this Streamlit hears in another way")
        return False
    for name, replaced in ((_HEAR, _gathered), (_BEGIN, _after_what_was_told)):
        own = getattr(session, name)
        setattr(session, name, replaced(getattr(own, "__wrapped__", own)))
    return True


class _Gathered:
    """What the scripts of a session tell, in its order, until the thread that sends takes it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._told: list[Callable[[], None]] = []

    def add(self, told: Callable[[], None]) -> bool:
        """One more; whether it is the first one that waits."""
        with self._lock:
            self._told.append(told)
            return len(self._told) == 1

    def take(self) -> None:
        """Handle all of it; what fails keeps nothing else from being handled."""
        with self._lock:
            every, self._told = self._told, []
        for told in every:
            try:
                told()
            except Exception:  # noqa: BLE001 - as the loop does where each is a call of its own
                _log.exception("what a script told could not be handled")


def _gathered(hear: Callable[..., None]) -> Callable[..., None]:
    @wraps(hear)
    def told(
        session: Any,  # noqa: ANN401 - Streamlit's
        sender: object,
        event: ScriptRunnerEvent,
        **named: object,
    ) -> None:
        waiting = _waiting(session)
        first = waiting.add(partial(getattr(session, _HANDLE), sender, event, **named))
        soon = getattr(session, _SOON)
        if event is not ScriptRunnerEvent.ENQUEUE_FORWARD_MSG:
            soon(waiting.take)
        elif first:
            soon(partial(session._event_loop.call_later, GATHERED, waiting.take))

    return told


def _after_what_was_told(begin: Callable[..., None]) -> Callable[..., None]:
    """Begins another script when all that the one before told is handled: of that one it is."""

    @wraps(begin)
    def told(session: Any, *args: object) -> None:  # noqa: ANN401 - Streamlit's
        _waiting(session).take()
        begin(session, *args)

    return told


def _waiting(session: object) -> _Gathered:
    found: _Gathered = vars(session).setdefault("_gathered", _Gathered())
    return found
