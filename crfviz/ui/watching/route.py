"""`/metrics`: what is counted, for Prometheus; nobody else gets it."""

import os
from ipaddress import ip_address
from secrets import compare_digest

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from crfviz.exceptions import CrfvizError
from crfviz.ui.watching.meters import REGISTRY

VARIABLE = "CRFVIZ_METRICS"  # "local", or a token
LOCAL = "local"
SHORTEST_TOKEN = 16  # characters
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def routes() -> list[Route]:
    """What `st.App` is to answer beside Streamlit's own routes."""
    return [Route("/metrics", _metrics, methods=["GET"])]


def check() -> None:
    """Look whether the settings say who may read.

    Raises:
        CrfvizError: they say neither that nor nothing.
    """
    said = _said()
    if said and said != LOCAL and len(said) < SHORTEST_TOKEN:
        raise CrfvizError(
            f"expected {LOCAL!r} or a token of at least {SHORTEST_TOKEN} characters in {VARIABLE}, "
            f"got {len(said)} characters"
        )


async def _metrics(request: Request) -> Response:
    if not _may_read(request):
        return PlainTextResponse("Not found", 404)
    headers = {"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE_LATEST}
    return Response(generate_latest(REGISTRY), headers=headers)


def _may_read(request: Request) -> bool:
    said = _said()
    if said == LOCAL:
        return _is_local(request)
    given = request.headers.get("authorization", "")
    return bool(said) and compare_digest(given.encode(), f"Bearer {said}".encode())


def _is_local(request: Request) -> bool:
    """Whether a program of this machine asks, and no proxy for somebody else."""
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _said() -> str:
    return os.environ.get(VARIABLE, "").strip()
