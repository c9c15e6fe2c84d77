"""The scripts and styles of Streamlit's own page: packed, and from memory.

A first visit asks for a hundred of them, three megabytes. Streamlit reads each from the disk in
pieces, by threads, which takes the processor as long as all else while the browser waits, and packs
none of them.
"""

import re
from collections.abc import Iterable
from functools import cache
from gzip import compress
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from crfviz.ui.streamlit_compat import static_folder

TYPES = {".js": "text/javascript", ".css": "text/css"}

_PLACE = "static"
_NAMED = re.compile(r"""\./static/((?:js|css)/[\w.-]+)""")


class Assets:
    """ASGI middleware that answers for these files.

    Args:
        app: what serves everything else, and browsers that take nothing packed.
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
        told = {
            "Cache-Control": "public, immutable, max-age=31536000",  # each has a hash in its name
            "Content-Encoding": "gzip",
            "Vary": "Accept-Encoding",
        }
        answer = Response(_packed(name), headers=told, media_type=TYPES[Path(name).suffix])
        await answer(scope, receive, send)

    def _name(self, scope: Scope) -> str | None:
        """The file that is asked for, if it is one of these."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        name = scope["path"].removeprefix(self._prefix)
        if name == scope["path"] or name not in _names():
            return None
        asked = Headers(scope=scope)
        return None if "range" in asked or "gzip" not in asked.get("accept-encoding", "") else name


def pack_first() -> None:
    """Pack what the page begins with, before anybody waits."""
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
