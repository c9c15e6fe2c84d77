"""Requests: each one gets an id and is counted; a session's messages have a rate limit.

The response and the log lines of the session have the id. Clicking, typing and holding a key down
stay below the limit. Messages above the limit are delayed, none is lost, and the visitor gets a
message.
"""

import asyncio
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
KINDS = {  # the kind of a request, by the start of its path
    "_stcore/stream": "session",
    "_stcore/health": "health",
    "_stcore/upload_file": "upload",
    "_stcore": "machinery",
    "follow": "follow",
    "media": "media",
    "static": "static",
    "metrics": "metrics",
}
TURNOUT = "turnout"  # kind of a request for the number of answers in a room
QUIET = ("health", "metrics", TURNOUT)  # polled, not logged

_NAME = re.compile(r"[A-Za-z0-9._-]{8,64}")
_log = logging.getLogger(__name__)
_request: ContextVar[str] = ContextVar("request", default="")
_open: set[str] = set()  # ids of session connections
BURST = 5.0  # size of a burst that is not delayed, in seconds at the full rate
MESSAGE_INTERVAL = 60.0  # seconds between two messages to a session


def request() -> str:
    """Return the id of the current request, else of the one that began the session, else ""."""
    if _request.get() or not session_id():
        return _request.get()
    return str(st.context.headers.get(HEADER, ""))


def open_sessions() -> int:
    return len(_open)


def request_kind(path: str, base: str = "") -> str:
    """Return the kind of a request by its path: a value of `KINDS`, or "page"."""
    rest = path.strip("/").removeprefix(base.strip("/")).strip("/")
    kinds = (kind for start, kind in KINDS.items() if f"{rest}/".startswith(f"{start}/"))
    return next(kinds, "page")


class RequestMiddleware:
    """ASGI middleware, the outermost one, that gives requests ids, counts and times them.

    Args:
        app: the inner application.
        base: its base path.
        on_idle: called in a thread when the last session has ended.
    """

    def __init__(
        self, app: ASGIApp, base: str = "", on_idle: Callable[[], None] = lambda: None
    ) -> None:
        self._app = app
        self._base = base
        self._on_idle = on_idle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(HEADER, "")
        name = sent if _NAME.fullmatch(sent) else uuid4().hex
        _request.set(name)
        kind, method = request_kind(scope["path"], self._base), scope.get("method", "CONNECT")
        if (kind, method) == ("follow", "GET") and scope["path"].endswith("/answers"):
            kind = TURNOUT
        answer = _Answer(kind, method)
        connection = uuid4().hex if scope["type"] == "websocket" else ""
        if connection:
            _open.add(connection)
        try:
            await self._app(_named(scope, name), receive, answer.sending(send))
        finally:
            _open.discard(connection)
            answer.ended()
            if connection and not _open:
                await asyncio.shield(asyncio.to_thread(self._on_idle))


def _named(scope: Scope, name: str) -> Scope:
    """Return the request with its id as a header, which scripts of the session can read."""
    key = HEADER.lower().encode()
    others = [item for item in scope["headers"] if item[0] != key]
    return {**scope, "headers": [*others, (key, name.encode())]}


class _Answer:
    """Status and duration of one response, for the metrics and the log."""

    def __init__(self, kind: str, method: str) -> None:
        self._kind, self._method = kind, method
        self._began = perf_counter()
        self._status = 500  # the status if an error prevents a response

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
            milliseconds = round(1000 * (perf_counter() - self._began), 1)
            facts = {"route": self._kind, "method": self._method, "status": self._status}
            _log.info("answered", extra={"facts": {**facts, "milliseconds": milliseconds}})


class RateLimiter:
    """Rate limit of one connection, a token bucket.

    Args:
        rate: messages per second.
        clock: returns the time, in seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._left, self._since = BURST * rate, clock()
        self._has_delayed = False
        self.forged = False  # whether the client sent values that no page sends
        self._last_message = -MESSAGE_INTERVAL

    def wait(self) -> float:
        """Count one message, and return the seconds for which it has to wait."""
        now = self._clock()
        refilled = self._left + (now - self._since) * self._rate
        self._left, self._since = min(BURST * self._rate, refilled) - 1, now
        if self._left < 0:
            self._has_delayed = True
            _delayed.add(self)
        return max(0.0, -self._left / self._rate)

    def is_message_due(self) -> bool:
        """Return whether to tell the visitor about delays: at most once a minute."""
        now = self._clock()
        due = self._has_delayed and now - self._last_message >= MESSAGE_INTERVAL
        if due:
            self._has_delayed, self._last_message = False, now
            _delayed.discard(self)
        return due


_of_request: WeakValueDictionary[str, RateLimiter] = WeakValueDictionary()  # by request id
_delayed: WeakSet[RateLimiter] = WeakSet()  # limiters whose visitor was not told yet


def connection_limiter() -> RateLimiter:
    limiter = _of_request[request()] = RateLimiter(settings().limits.requests)
    return limiter


def rate_limit_message() -> str:
    """Return the message about delayed requests of the current session if it is due, else ""."""
    limiter = _of_request.get(request()) if _delayed else None
    if limiter is None or not limiter.is_message_due():
        return ""
    return (
        f"This page sends more than {settings().limits.requests} requests a second. "
        "The rest wait; none is lost."
    )
