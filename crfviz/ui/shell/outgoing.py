"""Which sessions Streamlit looks at when it sends what scripts have drawn.

It looks every 5 ms while anything is drawn, at all sessions there are: with 400 that sit idle, the
part of an edit that is not its script took twice as long. Here it looks at those that have
something to send.
"""

import logging
from functools import partial
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from crfviz.ui.session.pace import begin_session
from crfviz.ui.watching.requests import begins

_ACTIVE = "_active_session_info_by_id"
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
