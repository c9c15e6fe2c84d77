"""Requests: each has a name, is counted, and waits if its session sends too many.

The answer has the name, and so have the lines of the log, those of its session too. A reader who
clicks, types or holds a key down stays below the rate. A program that asks without end is answered
at that rate, the newest state first, and its visitor gets a message; nothing is lost.
"""

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from time import monotonic, perf_counter
from uuid import uuid4
from weakref import WeakSet, WeakValueDictionary

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crfviz.settings import settings
from crfviz.ui.streamlit_compat import session_id
from crfviz.ui.watching.meters import REQUEST_SECONDS, REQUESTS

HEADER = "X-Request-ID"
KINDS = {  # how an address begins: what is counted
    "_stcore/stream": "session",
    "_stcore/health": "health",
    "_stcore/upload_file": "upload",
    "_stcore": "machinery",
    "follow": "follow",
    "media": "media",
    "static": "static",
    "metrics": "metrics",
}
QUIET = ("health", "metrics")  # asked all day by machines: not in the log

_NAME = re.compile(r"[A-Za-z0-9._-]{8,64}")
_log = logging.getLogger(__name__)
_request: ContextVar[str] = ContextVar("request", default="")
_open: set[str] = set()  # requests that are connections of a session


def request() -> str:
    """The name of the request that is answered here, or that began the session; empty for none."""
    if _request.get() or not session_id():
        return _request.get()
    return str(st.context.headers.get(HEADER, ""))


def open_sessions() -> int:
    """How many browsers show a session."""
    return len(_open)


def kind_of(path: str, base: str = "") -> str:
    """What a path is counted as: one of few words, whatever somebody asks for."""
    rest = path.strip("/").removeprefix(base.strip("/")).strip("/")
    found = (kind for start, kind in KINDS.items() if f"{rest}/".startswith(f"{start}/"))
    return next(found, "page")


class Watched:
    """ASGI middleware around everything: names, counts and times requests.

    Args:
        app: what answers.
        base: the path below which it is.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app = app
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        name = given if _NAME.fullmatch(given) else uuid4().hex
        _request.set(name)
        answer = _Answer(kind_of(scope["path"], self._base), scope.get("method", "CONNECT"))
        connection = uuid4().hex if scope["type"] == "websocket" else ""
        if connection:
            _open.add(connection)
        try:
            await self._app(_named(scope, name), receive, answer.sending(send))
        finally:
            _open.discard(connection)
            answer.ended()


def _named(scope: Scope, name: str) -> Scope:
    """The same request with its name among its headers, where scripts of its session find it."""
    key = HEADER.lower().encode()
    others = [item for item in scope["headers"] if item[0] != key]
    return {**scope, "headers": [*others, (key, name.encode())]}


class _Answer:
    """What is noted of one answer."""

    def __init__(self, kind: str, method: str) -> None:
        self._kind, self._method = kind, method
        self._began = perf_counter()
        self._status = 500  # where an error ends it before it begins

    def sending(self, send: Send) -> Send:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._begun(message["status"])
                MutableHeaders(scope=message)[HEADER] = _request.get()
            elif message["type"] == "websocket.accept":
                self._begun(101)
            elif message["type"] == "websocket.close" and self._status == 500:
                self._begun(403)
            await send(message)

        return noting

    def _begun(self, status: int) -> None:
        self._status = status
        REQUEST_SECONDS.labels(self._kind).observe(perf_counter() - self._began)

    def ended(self) -> None:
        REQUESTS.labels(self._kind, str(self._status)).inc()
        if self._kind not in QUIET:
            taken = round(1000 * (perf_counter() - self._began), 1)
            facts = {"route": self._kind, "method": self._method, "status": self._status}
            _log.info("answered", extra={"facts": {**facts, "milliseconds": taken}})


BURST = 5.0  # seconds at the full pace that may come at once
SAID_AGAIN = 60.0  # seconds after which a session is told once more


class Pace:
    """Of one connection.

    Args:
        rate: messages a second.
        clock: tells seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._left, self._since = BURST * rate, clock()
        self._waits = False
        self.forged = False  # whether values came that no page of ours sends
        self._said = -SAID_AGAIN

    def wait(self) -> float:
        """The seconds that a message which is here now has to wait."""
        now = self._clock()
        refilled = self._left + (now - self._since) * self._rate
        self._left, self._since = min(BURST * self._rate, refilled) - 1, now
        if self._left < 0:
            self._waits = True
            _slowed.add(self)
        return max(0.0, -self._left / self._rate)

    def to_be_said(self) -> bool:
        """Whether messages had to wait and it is time to say so; then it counts as said."""
        now = self._clock()
        due = self._waits and now - self._said >= SAID_AGAIN
        if due:
            self._waits, self._said = False, now
            _slowed.discard(self)
        return due


_of_request: WeakValueDictionary[str, Pace] = WeakValueDictionary()
_slowed: WeakSet[Pace] = WeakSet()  # those whose messages had to wait


def begin_connection() -> Pace:
    """The pace of the connection that is answered here, from now on."""
    pace = _of_request[request()] = Pace(settings().limits.requests)
    return pace


def asks_too_often() -> str:
    """What to tell the reader of the session whose script runs here; empty for nothing."""
    pace = _of_request.get(request()) if _slowed else None
    if pace is None or not pace.to_be_said():
        return ""
    return (
        f"This page sends more than {settings().limits.requests} requests a second. "
        "The rest wait; none is lost."
    )
