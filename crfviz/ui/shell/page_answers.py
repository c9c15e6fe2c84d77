"""Additions to Streamlit's responses: a script in the head, cookies, redirects.

The script runs before Streamlit's own, see `web/early.js`. The first page sets a cookie that
identifies the visitor in the queue of long jobs. Streamlit serves its page at every path; paths
without a page of this app are redirected.

If several processes serve the app, each has a name, and a cookie tells the proxy which one to use:
a session lives in one process. The IP address does not suffice, because a class may share one.
Followers of a room need no particular process, and get no cookie.
"""

from html import escape
from http.cookies import SimpleCookie
from pathlib import Path
from secrets import token_hex

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crfviz.settings import settings
from crfviz.ui.session.scheduling import VISITOR_COOKIE
from crfviz.ui.state.missing_pages import page_instead
from crfviz.ui.watching.requests import request_kind
from crfviz.views.contents import PAGES

SCRIPT = Path(__file__).with_name("web").joinpath("early.js").read_text(encoding="utf-8")

_HEAD = b"<head>"
_STREAMLIT = b"<title>Streamlit</title>"  # identifies Streamlit's own page


class FirstPaint:
    """ASGI middleware that adds the script to every page, and the visitor's cookie to the first.

    Args:
        app: the inner application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        base, pages = _base(), " ".join(page.path for page in PAGES if page.path)
        place = f"/{base}/" if base else ""
        self._tag = f'<script data-base="{escape(place)}" data-pages="{pages}">{SCRIPT}</script>'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and _asks_for_page(scope):
            cookie = None if VISITOR_COOKIE in _cookies(scope) else _visitor(scope)
            path = _path(scope)
            instead = page_instead(path, scope.get("query_string", b"").decode("latin-1"))
            sending = _with_head(send, self._tag.encode(), cookie, instead)
            await self._app(_uncompressed(scope), receive, sending)
        else:
            await self._app(scope, receive, send)


def _asks_for_page(scope: Scope) -> bool:
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")


def _path(scope: Scope) -> str:
    path: str = scope["path"].lstrip("/")
    return path.removeprefix(_base()).lstrip("/")


def _base() -> str:
    base: str = st.get_option("server.baseUrlPath")
    return base.strip("/")


def _uncompressed(scope: Scope) -> Scope:
    return {
        **scope,
        "headers": [item for item in scope["headers"] if item[0] != b"accept-encoding"],
    }


def _cookies(scope: Scope) -> SimpleCookie:
    return SimpleCookie(Headers(scope=scope).get("cookie", ""))


def _visitor(scope: Scope) -> str:
    """Return the value of `Set-Cookie` that identifies this browser in all its tabs."""
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{VISITOR_COOKIE}={token_hex(16)}; Path=/; HttpOnly; SameSite=Lax{secure}"


def _with_head(
    send: Send, script: bytes, cookie: str | None = None, instead: str | None = None
) -> Send:
    """Return a `send` that inserts the script into pages, and forwards other responses unchanged.

    A page is buffered until it is complete.

    Args:
        send: the server's function.
        script: the element of the script.
        cookie: a value of `Set-Cookie` to add to a page; None adds none.
        instead: a URL; Streamlit's own page is replaced by a redirect to it.
    """
    start: list[Message] = []
    body = bytearray()

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            start.append(message)
        elif not start or message["type"] != "http.response.body":
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            if instead is not None and _STREAMLIT in body:
                redirect = [(b"location", instead.encode("ascii")), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 307, "headers": redirect})
                await send({"type": "http.response.body", "body": b""})
            else:
                page = bytes(body).replace(_HEAD, _HEAD + script, 1)
                headers = MutableHeaders(scope=start[0])
                headers["content-length"] = str(len(page))
                if cookie:
                    headers.append("set-cookie", cookie)
                await send(start[0])
                await send({"type": "http.response.body", "body": page})

    return sending


def _is_page(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")


COOKIE = "crfviz_replica"
ANYWHERE = ("follow", "health", "metrics", "static")  # kinds of requests that any process answers
STARTS = {"http": "http.response.start", "websocket": "websocket.accept"}


def named() -> list[Middleware]:
    """Return the middleware that sets the sticky cookie; empty if this process has no name."""
    name = settings().replica
    return [Middleware(Named, name=name)] if name else []


class Named:
    """ASGI middleware that sends the name of this process as a cookie.

    Args:
        app: the inner application.
        name: the name of the process.
    """

    def __init__(self, app: ASGIApp, name: str) -> None:
        self._app = app
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one connection."""
        if scope["type"] in STARTS and not self._is_known(scope):
            send = self._naming(scope, send)
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        if request_kind(scope["path"]) in ANYWHERE:
            return True
        cookie = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(COOKIE)
        return cookie is not None and cookie.value == self._name

    def _naming(self, scope: Scope, send: Send) -> Send:
        secure = scope.get("scheme") in ("https", "wss")
        # `Partitioned` lets frames in other sites store the cookie
        kept = "SameSite=None; Secure; Partitioned" if secure else "SameSite=Lax"

        async def naming(message: Message) -> None:
            if message["type"] == STARTS[scope["type"]]:
                cookie = f"{COOKIE}={self._name}; Path=/; HttpOnly; {kept}"
                message.setdefault("headers", [])
                MutableHeaders(scope=message).append("Set-Cookie", cookie)
            await send(message)

        return naming
