"""Middleware between the network and Streamlit's server: access checks and headers.

Streamlit trusts every client. This module rejects requests for other hosts, requests for internal
routes, and messages that would disturb other visitors. The headers of each response forbid the
browser to load anything from other sites.
"""

import asyncio
import logging
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from posixpath import normpath
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from crfviz.annotations.store.store import close_stores
from crfviz.exceptions import CrfvizError
from crfviz.settings import settings
from crfviz.ui import cached
from crfviz.ui.live_room.room_backend import rooms
from crfviz.ui.session.permission import is_login_required, log_missing_login, uploads_allowed
from crfviz.ui.session.scheduling import JOB_QUEUE, SCRIPT_LOCK, serialize_scripts
from crfviz.ui.shell.page_answers import SCRIPT, FirstPaint, named
from crfviz.ui.shell.static_files import Bundles, StaticGzip
from crfviz.ui.streamlit_compat import (
    host_is_listed,
    read_message,
    send_whole_runs_completely,
    static_folder,
)
from crfviz.ui.watching.logs import begin_log
from crfviz.ui.watching.meters import watch, watch_databases
from crfviz.ui.watching.requests import (
    RateLimiter,
    RequestMiddleware,
    connection_limiter,
    open_sessions,
)

CLOSED = ("_stcore/metrics/", "_stcore/script-health-check/", "_stcore/agent/")  # internal routes
UPLOADS = "_stcore/upload_file/"
REFUSED = (  # messages that block other visitors, reveal this machine, or write files on it
    "clear_cache",
    "load_git_info",
    "set_run_on_save",
    "install_skills",
    "dismiss_skills_nudge",
)
POLICY_VIOLATION = 1008  # from RFC 6455

_INLINE = re.compile(r"<script>(.*?)</script>", flags=re.DOTALL)
_log = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[None]:
    """Prepare the server before `st.App` answers requests; close its databases when it stops.

    All modules are imported and the models loaded before the first request: if two visitors
    imported a module at the same time, Python could return it half initialised.
    """
    import_all()
    cached.warm_up()
    send_whole_runs_completely()
    serialize_scripts()
    start_metrics()
    try:
        yield
    finally:
        rooms().end()
        close_stores()


def import_all() -> None:
    """Import all modules of `crfviz.views` and `crfviz.ui`."""
    package = Path(__file__).parents[2]
    for room in ("views", "ui"):
        for file in sorted((package / room).rglob("*.py")):
            parts = file.relative_to(package.parent).with_suffix("").parts
            import_module(".".join(parts))


def middleware() -> list[Middleware]:
    """Return the middleware of `st.App`, the outermost first.

    Raises:
        SystemExit: a setting has an invalid value, or a login is required and its secrets are
            broken.
    """
    try:
        settings()
        is_login_required()
        rooms()
    except CrfvizError as error:
        raise SystemExit(f"crfviz does not start: {error}") from error
    return [
        Middleware(
            RequestMiddleware, base=st.get_option("server.baseUrlPath"), on_idle=close_stores
        ),
        Middleware(Guard, policy=content_security_policy()),
        *named(),
        Middleware(StaticGzip, base=st.get_option("server.baseUrlPath")),
        Middleware(Bundles, base=st.get_option("server.baseUrlPath")),
        Middleware(FirstPaint),
    ]


def content_security_policy() -> str:
    """Return the Content-Security-Policy, which allows only files of this server.

    The inline scripts of the page, Streamlit's and ours, are allowed by hash. Inline styles are
    allowed for the components. Vega interprets the expressions of charts, so `eval` stays off.
    """
    page = static_folder().joinpath("index.html").read_text(encoding="utf-8")
    inline = [*_INLINE.findall(page), SCRIPT]
    scripts = [b64encode(sha256(script.encode()).digest()) for script in inline]
    hashes = " ".join(f"'sha256-{script.decode()}'" for script in scripts)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {hashes}".strip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            " ".join(("frame-ancestors 'self'", *settings().frames)),
        )
    )


def is_allowed_host(host: str | None) -> bool:
    """Return whether a Host header names this server.

    This prevents DNS rebinding. If `server.allowedHosts` is empty, `localhost`,
    `browser.serverAddress` and IP addresses, which need no name lookup, are allowed.
    """
    if st.get_option("server.allowedHosts"):
        return host_is_listed(host)
    name = _hostname(f"//{host}") if host else None
    known = {"localhost", _hostname(f"//{st.get_option('browser.serverAddress')}")}
    return name is not None and (name in known or _is_address(name))


def is_allowed_origin(origin: str | None, host: str | None) -> bool:
    """Return whether a page of this origin may open a WebSocket; True without an Origin header.

    Streamlit's own check comes later. Before it rejects an origin, it asks an external service for
    the address of this machine. This function avoids that by rejecting the same origins first.
    """
    if origin is None or origin.partition("://")[2] == host:
        return True
    if not st.get_option("server.enableCORS"):
        return True
    listed = [_hostname(each) for each in st.get_option("server.corsAllowedOrigins")]
    served = _hostname(f"//{st.get_option('browser.serverAddress')}")
    return _hostname(origin) in {"localhost", "127.0.0.1", served, *listed}


class Guard:
    """ASGI middleware that rejects invalid requests, and adds security headers to responses.

    Args:
        app: the inner application.
        policy: the Content-Security-Policy of every response.
    """

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",  # the URL holds the sentence and the annotator
        }
        if not settings().frames:  # an older header, which cannot list several sites
            self._headers["X-Frame-Options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject one request, or one connection."""
        if scope["type"] == "websocket":
            if _connection_refused(Headers(scope=scope)):
                await WebSocketClose(POLICY_VIOLATION)(scope, receive, send)
            else:
                await self._app(scope, _listening(receive, connection_limiter()), send)
        elif scope["type"] == "http":
            answer = _refusal(scope) or self._app
            await answer(scope, receive, self._with_headers(send))
        else:
            await self._app(scope, receive, send)

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        return sending


def _connection_refused(headers: Headers) -> bool:
    host = headers.get("host")
    return not (is_allowed_host(host) and is_allowed_origin(headers.get("origin"), host))


def _refusal(scope: Scope) -> ASGIApp | None:
    if not is_allowed_host(Headers(scope=scope).get("host")):
        return PlainTextResponse(
            "This server is known by another name; server.allowedHosts lists its names.",
            status_code=421,
        )
    base = st.get_option("server.baseUrlPath").strip("/")
    path = normpath(f"/{scope['path']}").lstrip("/").removeprefix(base).lstrip("/") + "/"
    if path.startswith(CLOSED):
        return PlainTextResponse("Not found", status_code=404)
    if path.startswith(UPLOADS) and not uploads_allowed():
        return PlainTextResponse("This server takes no files.", status_code=403)
    return None


def _listening(receive: Receive, limiter: RateLimiter) -> Receive:
    """Return a `receive` that delays messages above the rate limit, and drops rejected ones.

    Widget values that are not JSON are removed from a message.
    """

    async def receiving() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            if wait := limiter.wait():
                await asyncio.sleep(wait)
            kind, repaired = read_message(message.get("bytes") or b"")
            if kind in REFUSED:
                _log.warning("refused the message %s", kind)
            elif repaired is None:
                return message
            else:
                if not limiter.forged:
                    _log.warning("dropped values of widgets that are no JSON")
                limiter.forged = True
                return {**message, "bytes": repaired}

    return receiving


def _hostname(address: str) -> str | None:
    try:
        name = urlsplit(address).hostname
    except ValueError:
        return None
    return name.rstrip(".") if name else None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def start_metrics() -> None:
    """Configure the log, and register the metrics of the server."""
    begin_log()
    log_missing_login()
    watch_databases()
    watch("sessions", "Sessions that a browser shows", open_sessions)
    watch("runs_waiting", "Runs of scripts that wait for their turn", SCRIPT_LOCK.waiting)
    watch("work_waiting", "Long work that waits for its turn", JOB_QUEUE.waiting)
    watch("rooms", "Rooms that this process knows", lambda: len(rooms().known()))
    watch("followers", "Who follows a room in this process", _followers)


def _followers() -> float:
    return sum(room.followers for room in rooms().known())
