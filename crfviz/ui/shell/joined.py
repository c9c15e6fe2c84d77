"""Our live components, each as one script: its modules would be asked for one layer after another.

With an empty cache these are forty requests in seven rounds, each of which waits for the one
before. The modules stay where they are; what a component begins with holds all of them, and the
head of a page that shows it names it, so that it is there before Streamlit asks for it.
"""

from collections.abc import Mapping
from functools import cache
from gzip import compress
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from crfviz.ui.session.components import PACKAGE, WEB
from crfviz.views.contents import ENTRIES
from crfviz.views.exports.bundle import component

COMPONENTS: Mapping[str, str] = {"frame": "ui/shell/web", "labeller": WEB, "stage": WEB}
OF_PICTURES = ("frame", "stage")  # those that each page with a sentence shows
TYPE = "text/javascript"


class Joined:
    """ASGI middleware that answers for the scripts with which these components begin.

    Args:
        app: what serves everything else.
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


def named_early(path: str) -> str:
    """What the head of the page at a path, without slashes, says of them: empty without a picture.

    It names none but those that are answered for here: Streamlit knows a component only when it has
    been drawn, and a browser does not ask again for a module that was not there.
    """
    if not any(page.path == path and page.sentence for page in ENTRIES):
        return ""
    links = (f'<link rel="modulepreload" href="./{_place(name)}">' for name in OF_PICTURES)
    return "".join(links)


def _place(name: str) -> str:
    """Where Streamlit's browser asks for it."""
    return f"_stcore/bidi-components/crfviz.{name}/{name}.js"


def _answer(name: str, asked: Headers) -> Response:
    script, packed, tag = _script(name)
    told = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if asked.get("if-none-match") == tag:
        return Response(status_code=304, headers=told)
    if "gzip" in asked.get("accept-encoding", ""):
        return Response(packed, headers=told | {"Content-Encoding": "gzip"}, media_type=TYPE)
    return Response(script, headers=told, media_type=TYPE)


@cache
def _script(name: str) -> tuple[bytes, bytes, str]:
    """The script, the same packed, and what tells it from others."""
    script = component(PACKAGE / COMPONENTS[name] / f"{name}.js").encode()
    return script, compress(script, mtime=0), f'"{sha256(script).hexdigest()[:32]}"'
