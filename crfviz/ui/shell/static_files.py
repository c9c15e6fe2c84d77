"""Static files: Streamlit's are compressed, and the scripts of each component are bundled.

A first visit requests a hundred of Streamlit's files, three megabytes, which are therefore
compressed. The compressed files stay in memory: compressing them takes the server 0.2 s of CPU.

The modules of a component would take forty requests in seven sequential rounds. Each component is
therefore served as one script that contains all its modules.

`docs/decisions.md` has the gain of both, measured by twenty loads with an empty cache.
"""

from collections.abc import Mapping
from functools import cache
from gzip import compress
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crfviz.ui.session.components import NAMES, OF_UI, WEB
from crfviz.ui.streamlit_compat import PACKAGE
from crfviz.views.exports.bundle import component


class StaticGzip:
    """ASGI middleware that compresses Streamlit's static files; Streamlit does not compress them.

    A compressed file is kept: the files do not change while the server runs.

    Args:
        app: serves every request.
        base: the path under which the app is served.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app, self._compressed = app, GZipMiddleware(app, compresslevel=LEVEL)
        self._prefix = f"{_under(base)}/static/"
        self._kept: dict[str, tuple[Message, ...]] = {}  # responses by path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the response to a range request stays uncompressed."""
        is_static = scope["type"] == "http" and scope["path"].startswith(self._prefix)
        if not is_static or "range" in Headers(scope=scope):
            await self._app(scope, receive, send)
        elif not _wants_file(scope):
            await self._compressed(scope, receive, send)
        elif (path := scope["path"]) in self._kept:
            for message in self._kept[path]:
                await send({**message, "headers": [*message.get("headers", ())]})
        else:
            await self._compressed(scope, receive, self._keeping(path, send))

    def _keeping(self, path: str, send: Send) -> Send:
        """Return a `send` that also keeps the whole response, if it is a compressed file."""
        messages: list[Message] = []

        async def sending(message: Message) -> None:
            messages.append({**message, "headers": [*message.get("headers", ())]})
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                start = messages[0]
                is_packed = "content-encoding" in Headers(raw=start["headers"])
                if start["status"] == 200 and is_packed and len(self._kept) < MAX_KEPT:
                    self._kept[path] = tuple(messages)

        return sending


def _wants_file(scope: Scope) -> bool:
    """Return whether a request is for a whole compressed file, whatever the browser has."""
    headers = Headers(scope=scope)
    conditional = any(name.startswith("if-") for name in headers)
    return (
        scope["method"] == "GET"
        and "gzip" in headers.get("accept-encoding", "")
        and not conditional
        and not scope.get("query_string")
    )


COMPONENTS: Mapping[str, str] = {  # the folder of each component, by name
    "frame": "ui/shell/web",
    **dict.fromkeys(NAMES, WEB),
    **dict.fromkeys(OF_UI[1], OF_UI[0]),
}
TYPE = "text/javascript"
LEVEL = 6  # of compression; 9 takes twice as long for one per cent
MAX_KEPT = 512  # compressed files; Streamlit has some 400


class Bundles:
    """ASGI middleware that serves the bundled scripts of components.

    Args:
        app: serves everything else.
        base: the path under which the app is served.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app = app
        self._names = {f"{_under(base)}/{_place(name)}": name for name in COMPONENTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = self._names.get(scope["path"]) if scope["type"] == "http" else None
        if name is None or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
        else:
            await _answer(name, Headers(scope=scope))(scope, receive, send)


def _under(base: str) -> str:
    return "".join(f"/{part}" for part in base.split("/") if part)


def _place(name: str) -> str:
    """Return the path at which Streamlit's frontend requests the script of a component."""
    return f"_stcore/bidi-components/crfviz.{name}/{name}.js"


def _answer(name: str, request: Headers) -> Response:
    script, packed, tag = _script(name)
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if request.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.get("accept-encoding", ""):
        return Response(packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=TYPE)
    return Response(script, headers=headers, media_type=TYPE)


@cache
def _script(name: str) -> tuple[bytes, bytes, str]:
    """Return the bundled script of a component, the same compressed, and its ETag."""
    script = component(PACKAGE / COMPONENTS[name] / f"{name}.js").encode()
    return script, compress(script, mtime=0), f'"{sha256(script).hexdigest()[:32]}"'
