"""Scripts and styles served compressed from memory: Streamlit's and those of our components.

A first visit requests a hundred files of Streamlit's page, three megabytes. Streamlit reads each
file in chunks in threads, which takes as long as all other work of the server, and does not
compress them.

The modules of a component would take forty requests in seven sequential rounds. Each component is
therefore served as one script that contains all its modules.

`docs/decisions.md` has the gain of both, measured by twenty loads with an empty cache.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from gzip import compress
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from crfviz.ui.session.components import NAMES, OF_UI, PACKAGE, WEB
from crfviz.ui.streamlit_compat import static_folder
from crfviz.views.exports.bundle import component

TYPES = {".js": "text/javascript", ".css": "text/css"}

_PLACE = "static"
_NAMED = re.compile(r"""\./static/((?:js|css)/[\w.-]+)""")


class Assets:
    """ASGI middleware that serves Streamlit's static files.

    Args:
        app: serves everything else, and clients without gzip.
        base: the path under which the app is served.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app = app
        under = "".join(f"/{part}" for part in base.split("/") if part)
        self._prefix = f"{under}/{_PLACE}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = self._name(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        headers = {
            # each file name contains a hash
            "Cache-Control": "public, immutable, max-age=31536000",
            "Content-Encoding": "gzip",
            "Vary": "Accept-Encoding",
        }
        answer = Response(_packed(name), headers=headers, media_type=TYPES[Path(name).suffix])
        await answer(scope, receive, send)

    def _name(self, scope: Scope) -> str | None:
        """Return the requested file, if it is one of Streamlit's."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        name = scope["path"].removeprefix(self._prefix)
        if name == scope["path"] or name not in _names():
            return None
        headers = Headers(scope=scope)
        return (
            None if "range" in headers or "gzip" not in headers.get("accept-encoding", "") else name
        )


def pack_first() -> None:
    """Compress the first files of the page at startup."""
    page = (_folder().parent / "index.html").read_text(encoding="utf-8")
    for name in _names().intersection(_NAMED.findall(page)):
        _packed(name)


@cache
def _packed(name: str) -> bytes:
    return compress((_folder() / name).read_bytes(), mtime=0)


@cache
def _names() -> frozenset[str]:
    every: Iterable[Path] = _folder().glob("*/*")
    return frozenset(
        file.relative_to(_folder()).as_posix() for file in every if file.suffix in TYPES
    )


def _folder() -> Path:
    return static_folder() / _PLACE


COMPONENTS: Mapping[str, str] = {  # the folder of each component
    "frame": "ui/shell/web",
    **dict.fromkeys(NAMES, WEB),
    **dict.fromkeys(OF_UI[1], OF_UI[0]),
}
TYPE = "text/javascript"


class Bundles:
    """ASGI middleware that serves the bundled scripts of components.

    Args:
        app: serves everything else.
        base: the path under which the app is served.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app = app
        under = "".join(f"/{part}" for part in base.split("/") if part)
        self._names = {f"{under}/{_place(name)}": name for name in COMPONENTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = self._names.get(scope["path"]) if scope["type"] == "http" else None
        if name is None or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
        else:
            await _answer(name, Headers(scope=scope))(scope, receive, send)


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
