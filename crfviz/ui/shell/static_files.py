"""Scripts and styles: Streamlit's compressed, and those of each component bundled.

A first visit requests a hundred files of Streamlit's page, three megabytes.

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
from starlette.types import ASGIApp, Receive, Scope, Send

from crfviz.ui.session.components import NAMES, OF_UI, PACKAGE, WEB
from crfviz.views.exports.bundle import component


class StaticGzip:
    """ASGI middleware that compresses Streamlit's static files; Streamlit sends them as they are.

    Args:
        app: serves every request.
        base: the path under which the app is served.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app, self._compressed = app, GZipMiddleware(app, compresslevel=LEVEL)
        self._prefix = f"{_under(base)}/static/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; a part of a file stays uncompressed."""
        is_static = scope["type"] == "http" and scope["path"].startswith(self._prefix)
        is_whole = is_static and "range" not in Headers(scope=scope)
        await (self._compressed if is_whole else self._app)(scope, receive, send)


COMPONENTS: Mapping[str, str] = {  # the folder of each component
    "frame": "ui/shell/web",
    **dict.fromkeys(NAMES, WEB),
    **dict.fromkeys(OF_UI[1], OF_UI[0]),
}
TYPE = "text/javascript"
LEVEL = 6  # of compression; 9 takes twice as long for one per cent


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
    """Return the URL that Streamlit's frontend requests."""
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
    """Return the script, the compressed script, and its version."""
    script = component(PACKAGE / COMPONENTS[name] / f"{name}.js").encode()
    return script, compress(script, mtime=0), f'"{sha256(script).hexdigest()[:32]}"'
