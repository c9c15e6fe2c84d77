"""What the head of the page that Streamlit serves has of ours.

A script that runs before Streamlit's own, see `web/early.js`, and the names of those to come.
"""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from crfviz.ui.shell.joined import named_early

SCRIPT = Path(__file__).with_name("web").joinpath("early.js").read_text(encoding="utf-8")

_HEAD, _END = b"<head>", b"</head>"
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
            await self._app(
                _uncompressed(scope), receive, _with_head(send, named_early(_path(scope)))
            )
        else:
            await self._app(scope, receive, send)


def _asks_for_page(scope: Scope) -> bool:
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")


def _path(scope: Scope) -> str:
    base: str = config.get_option("server.baseUrlPath").strip("/")
    path: str = scope["path"].strip("/")
    return path.removeprefix(base).strip("/")


def _uncompressed(scope: Scope) -> Scope:
    """The request without the leave to compress the answer, into which the script is to go."""
    return {
        **scope,
        "headers": [item for item in scope["headers"] if item[0] != b"accept-encoding"],
    }


def _with_head(send: Send, named: str) -> Send:
    """Hands on an answer; that of a page as a whole, with the script in it and what is `named`."""
    start: list[Message] = []
    body = bytearray()

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            start.append(message)
        elif not start or message["type"] != "http.response.body":
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                page = bytes(body).replace(_HEAD, _HEAD + _TAG, 1)
                page = page.replace(_END, named.encode() + _END, 1)
                MutableHeaders(scope=start[0])["content-length"] = str(len(page))
                await send(start[0])
                await send({"type": "http.response.body", "body": page})

    return sending


def _is_page(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")
