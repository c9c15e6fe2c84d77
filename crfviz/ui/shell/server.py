"""What stands between the network and Streamlit's server: whom it answers, what it hands out.

Streamlit trusts whoever reaches it. Here a request for another host than this one, a route that is
nobody's business and a message that would disturb all other visitors end before they reach it, and
every answer tells the browser to load nothing from elsewhere.
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
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from crfviz.exceptions import CrfvizError
from crfviz.settings import settings
from crfviz.ui import cached
from crfviz.ui.live_room.room_backend import rooms
from crfviz.ui.session.permission import login_asked, say_who_labels, uploads_allowed
from crfviz.ui.session.scheduling import FLOOR, TURNS, take_turns
from crfviz.ui.shell.page_answers import SCRIPT, FirstPaint, named
from crfviz.ui.shell.static_files import Assets, Bundles, pack_first
from crfviz.ui.streamlit_compat import (
    host_is_listed,
    read_message,
    send_whole_runs_completely,
    static_folder,
)
from crfviz.ui.watching.logs import begin_log
from crfviz.ui.watching.meters import watch, watch_databases
from crfviz.ui.watching.requests import Pace, Watched, begin_connection, open_sessions

CLOSED = ("_stcore/metrics", "_stcore/script-health-check", "_stcore/agent/")  # without the slash
UPLOADS = "_stcore/upload_file/"
REFUSED = (  # messages: what takes from all others, tells of this machine, or writes files on it
    "clear_cache",
    "load_git_info",
    "set_run_on_save",
    "install_skills",
    "dismiss_skills_nudge",
)
POLICY_VIOLATION = 1008  # of RFC 6455

_SLASHES = re.compile(r"/{2,}")
_INLINE = re.compile(r"<script>(.*?)</script>", flags=re.DOTALL)
_log = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[None]:
    """What `st.App` is to run before it answers: what would keep the first visitor waiting.

    That is what the pages show, imported, and the models, loaded. Two first visitors who import at
    once wait for each other's modules, and Python ends that by handing out half of one.
    """
    import_all()
    cached.warm_up()
    pack_first()
    send_whole_runs_completely()
    take_turns()
    begin_watch()
    yield


def import_all() -> None:
    """Import all that the pages show."""
    package = Path(__file__).parents[2]
    for room in ("views", "ui"):
        for file in sorted((package / room).rglob("*.py")):
            parts = file.relative_to(package.parent).with_suffix("").parts
            import_module(".".join(parts))


def middleware() -> list[Middleware]:
    """What `st.App` is to run around Streamlit's own server.

    Raises:
        SystemExit: a setting has a bad value, or a login is required and its secrets are broken.
    """
    try:
        settings()
        login_asked()
        rooms()
    except CrfvizError as error:
        raise SystemExit(f"crfviz does not start: {error}") from error
    return [
        Middleware(Watched, base=st.get_option("server.baseUrlPath")),
        Middleware(Guard, policy=content_security_policy()),
        *named(),
        Middleware(Assets, base=st.get_option("server.baseUrlPath")),
        Middleware(Bundles, base=st.get_option("server.baseUrlPath")),
        Middleware(FirstPaint),
    ]


def content_security_policy() -> str:
    """What pages may load: files of this server, and nothing from elsewhere.

    The page holds Streamlit's inline script and ours, allowed by their hashes, and styles that
    components write as they are drawn. `eval` stays: programs that drive a browser wait by it, and
    no page hands it what somebody typed.
    """
    page = static_folder().joinpath("index.html").read_text(encoding="utf-8")
    inline = [*_INLINE.findall(page), SCRIPT]
    scripts = [b64encode(sha256(script.encode()).digest()) for script in inline]
    hashes = " ".join(f"'sha256-{script.decode()}'" for script in scripts)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'unsafe-eval' {hashes}".strip(),
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


def host_answered(host: str | None) -> bool:
    """Whether a request's Host header names this server.

    A page elsewhere that lets its own name point here still sends that name. Where
    `server.allowedHosts` is empty, `localhost`, `browser.serverAddress` and bare addresses, which
    need no lookup of a name, are answered.
    """
    if st.get_option("server.allowedHosts"):
        return host_is_listed(host)
    name = _hostname(f"//{host}") if host else None
    known = {"localhost", _hostname(f"//{st.get_option('browser.serverAddress')}")}
    return name is not None and (name in known or _is_address(name))


def origin_answered(origin: str | None, host: str | None) -> bool:
    """Whether a page of this origin may open a connection; only browsers send one.

    Streamlit's own check, which comes after this one, asks a company for the address of this
    machine before it refuses; so what it would refuse is refused here.
    """
    if origin is None or origin.partition("://")[2] == host:
        return True
    if not st.get_option("server.enableCORS"):
        return True
    listed = [_hostname(each) for each in st.get_option("server.corsAllowedOrigins")]
    served = _hostname(f"//{st.get_option('browser.serverAddress')}")
    return _hostname(origin) in {"localhost", "127.0.0.1", served, *listed}


class Guard:
    """ASGI middleware around the whole server.

    Args:
        app: what it guards.
        policy: the Content-Security-Policy of every answer.
    """

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",  # the address holds the sentence and the annotator
        }
        if not settings().frames:  # for old browsers; this header cannot list several sites
            self._headers["X-Frame-Options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request, or one connection."""
        if scope["type"] == "websocket":
            if _connection_refused(Headers(scope=scope)):
                await WebSocketClose(POLICY_VIOLATION)(scope, receive, send)
            else:
                await self._app(scope, _listening(receive, begin_connection()), send)
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
    return not (host_answered(host) and origin_answered(headers.get("origin"), host))


def _refusal(scope: Scope) -> ASGIApp | None:
    """What is said instead of an answer; None where Streamlit may answer."""
    if not host_answered(Headers(scope=scope).get("host")):
        return PlainTextResponse(
            "This server is known by another name; server.allowedHosts lists its names.",
            status_code=421,
        )
    base = st.get_option("server.baseUrlPath").strip("/")
    path = _SLASHES.sub("/", scope["path"]).lstrip("/").removeprefix(base).lstrip("/")
    if f"{path}/".startswith(tuple(f"{closed.rstrip('/')}/" for closed in CLOSED)):
        return PlainTextResponse("Not found", status_code=404)
    if path.startswith(UPLOADS) and not uploads_allowed():
        return PlainTextResponse("This server takes no files.", status_code=403)
    return None


def _listening(receive: Receive, pace: Pace) -> Receive:
    """The messages of one browser at its pace, without those that are refused."""

    async def receiving() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            if wait := pace.wait():
                await asyncio.sleep(wait)
            kind, mended = read_message(message.get("bytes") or b"")
            if kind in REFUSED:
                _log.warning("refused the message %s", kind)
            elif mended is None:
                return message
            else:
                if not pace.forged:
                    _log.warning("dropped values of widgets that are no JSON")
                pace.forged = True
                return {**message, "bytes": mended}

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


def begin_watch() -> None:
    """Write the log as the settings say, and count."""
    begin_log()
    say_who_labels()
    watch_databases()
    watch("sessions", "Sessions that a browser shows", open_sessions)
    watch("runs_waiting", "Runs of scripts that wait for their turn", FLOOR.waiting)
    watch("work_waiting", "Long work that waits for its turn", TURNS.waiting)
    watch("rooms", "Rooms that this process knows", lambda: len(rooms().known()))
    watch("followers", "Who follows a room in this process", _followers)


def _followers() -> float:
    return sum(room.followers for room in rooms().known())
