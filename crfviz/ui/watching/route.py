"""`/metrics`: what is counted, for Prometheus; nobody else gets it."""

from ipaddress import ip_address
from secrets import compare_digest

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from crfviz.settings import settings
from crfviz.ui.watching.meters import REGISTRY

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def routes() -> list[Route]:
    """What `st.App` is to answer beside Streamlit's own routes."""
    return [Route("/metrics", _metrics, methods=["GET"])]


async def _metrics(request: Request) -> Response:
    if not _may_read(request):
        return PlainTextResponse("Not found", 404)
    headers = {"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE_LATEST}
    return Response(generate_latest(REGISTRY), headers=headers)


def _may_read(request: Request) -> bool:
    allowed = settings().metrics
    if allowed == "local":
        return _is_local(request)
    given = request.headers.get("authorization", "")
    return bool(allowed) and compare_digest(given.encode(), f"Bearer {allowed}".encode())


def _is_local(request: Request) -> bool:
    """Whether a program of this machine asks, and no proxy for somebody else."""
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
