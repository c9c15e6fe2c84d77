"""Which of several server processes a visitor is at: a cookie says so to the proxy before them.

A session lives in one process, so a browser has to come back to it. Its address does not tell it
from others: a class shares one. Who follows a room needs no process of their own, and no cookie.
"""

from http.cookies import SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crfviz.settings import settings
from crfviz.ui.watching.requests import kind_of

COOKIE = "crfviz_replica"
ANYWHERE = ("follow", "health", "metrics", "static")  # kinds of requests that any process answers
STARTS = {"http": "http.response.start", "websocket": "websocket.accept"}


def named() -> list[Middleware]:
    """Return the middleware that sets the sticky cookie; empty if this process has no name."""
    name = settings().replica
    return [Middleware(Named, name=name)] if name else []


class Named:
    """ASGI middleware that gives every visitor the name of this process.

    Args:
        app: what answers.
        name: of the process.
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
        if kind_of(scope["path"]) in ANYWHERE:
            return True
        cookie = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(COOKIE)
        return cookie is not None and cookie.value == self._name

    def _naming(self, scope: Scope, send: Send) -> Send:
        secure = scope.get("scheme") in ("https", "wss")
        kept = "SameSite=None; Secure; Partitioned" if secure else "SameSite=Lax"  # in frames, too

        async def naming(message: Message) -> None:
            if message["type"] == STARTS[scope["type"]]:
                cookie = f"{COOKIE}={self._name}; Path=/; HttpOnly; {kept}"
                message.setdefault("headers", [])
                MutableHeaders(scope=message).append("Set-Cookie", cookie)
            await send(message)

        return naming
