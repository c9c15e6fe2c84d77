"""What the head of the page that Streamlit serves has of ours.

A script that runs before Streamlit's own, see `web/early.js`, and the names of those to come. A
browser gets a cookie with its first page, by which long work counts as one visitor's. Streamlit
serves its page at every path; one without a page of ours is redirected.
"""

from http.cookies import SimpleCookie
from pathlib import Path
from secrets import token_hex

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crfviz.ui.session.turns import VISITOR
from crfviz.ui.shell.joined import named_early
from crfviz.ui.state.missing_pages import page_instead

SCRIPT = Path(__file__).with_name("web").joinpath("early.js").read_text(encoding="utf-8")

_HEAD, _END = b"<head>", b"</head>"
_STREAMLIT = b"<title>Streamlit</title>"  # only Streamlit's own page has it
_TAG = f"<script>{SCRIPT}</script>".encode()


class FirstPaint:
    """ASGI middleware that puts these into the head of every page.

    Args:
        app: what serves the pages.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and _asks_for_page(scope):
            cookie = None if VISITOR in _cookies(scope) else _visitor(scope)
            path = _path(scope)
            instead = page_instead(path, scope.get("query_string", b"").decode("latin-1"))
            sending = _with_head(send, named_early(path.rstrip("/")), cookie, instead)
            await self._app(_uncompressed(scope), receive, sending)
        else:
            await self._app(scope, receive, send)


def _asks_for_page(scope: Scope) -> bool:
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")


def _path(scope: Scope) -> str:
    base: str = st.get_option("server.baseUrlPath").strip("/")
    path: str = scope["path"].lstrip("/")
    return path.removeprefix(base).lstrip("/")


def _uncompressed(scope: Scope) -> Scope:
    """The request without the leave to compress the answer, into which the script is to go."""
    return {
        **scope,
        "headers": [item for item in scope["headers"] if item[0] != b"accept-encoding"],
    }


def _cookies(scope: Scope) -> SimpleCookie:
    return SimpleCookie(Headers(scope=scope).get("cookie", ""))


def _visitor(scope: Scope) -> str:
    """A cookie that tells this browser from others, of one address perhaps, in all its tabs."""
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{VISITOR}={token_hex(16)}; Path=/; HttpOnly; SameSite=Lax{secure}"


def _with_head(
    send: Send, named: str, cookie: str | None = None, instead: str | None = None
) -> Send:
    """Hands on an answer; that of a page as a whole, with the script in it and what is `named`.

    Streamlit's own page becomes a redirect to `instead`, if that is given.
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
                told = [(b"location", instead.encode("ascii")), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 307, "headers": told})
                await send({"type": "http.response.body", "body": b""})
            else:
                page = bytes(body).replace(_HEAD, _HEAD + _TAG, 1)
                page = page.replace(_END, named.encode() + _END, 1)
                headers = MutableHeaders(scope=start[0])
                headers["content-length"] = str(len(page))
                if cookie:
                    headers.append("set-cookie", cookie)
                await send(start[0])
                await send({"type": "http.response.body", "body": page})

    return sending


def _is_page(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")
