"""Metrics of the server, and the route `/metrics` for Prometheus.

They contain no user input: all values of labels are constants in the code, and few.
"""

from collections.abc import Callable
from ipaddress import ip_address
from secrets import compare_digest
from time import perf_counter

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from sqlalchemy import Connection, Engine, event
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from crfviz.settings import settings

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # bucket limits
_BEGAN = "crfviz_began"  # key in a connection's `info`: start time of the transaction

# Otherwise each counter would add a second metric, with its creation time.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it
REGISTRY = CollectorRegistry()
_gauges: dict[str, Gauge] = {}
for _collector in (ProcessCollector, PlatformCollector, GCCollector):
    _collector(registry=REGISTRY)
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")  # headers that only proxies add


def _counter(name: str, text: str, *labels: str) -> Counter:
    return Counter(f"crfviz_{name}", text, labels, registry=REGISTRY)


def _timer(name: str, text: str, *labels: str) -> Histogram:
    return Histogram(f"crfviz_{name}_seconds", text, labels, buckets=SECONDS, registry=REGISTRY)


REQUESTS = _counter("requests", "Answers to requests, by route and status", "route", "status")
REQUEST_SECONDS = _timer("request", "From a request to the beginning of its answer", "route")
EDITS = _counter("edits", "Edits of a sentence's scores, tags or pins that arrived")
KEYS = _counter("annotation_keys", "Keys of annotators, by what came of them", "outcome")
RUN_SECONDS = _timer("run", "Runs of a page's script, from their turn to their end")
WAIT_SECONDS = _timer("run_wait", "What a run waited for its turn")
ANSWERS = _counter("follower_answers", "Answers of those who follow a room", "outcome")
STORE_SECONDS = _timer("store", "Transactions of the databases, by how they ended", "outcome")
STORE_ERRORS = _counter("store_errors", "What a database refused or did not answer")
RECORDS = _counter("log_records", "Lines of the log, by level", "level")


def watch(name: str, text: str, value: Callable[[], float]) -> None:
    """Register a gauge; `value` is called at each request of `/metrics`."""
    if name not in _gauges:
        _gauges[name] = Gauge(f"crfviz_{name}", text, registry=REGISTRY)
    _gauges[name].set_function(value)


def watch_databases() -> None:
    """Time the transactions of all databases from now on."""
    for name, listener in (
        ("begin", _begin),
        ("commit", _commit),
        ("rollback", _rollback),
        ("handle_error", _refused),
    ):
        if not event.contains(Engine, name, listener):
            event.listen(Engine, name, listener)


def _begin(connection: Connection) -> None:
    connection.info[_BEGAN] = perf_counter()


def _commit(connection: Connection) -> None:
    _end(connection, "stored")


def _rollback(connection: Connection) -> None:
    _end(connection, "undone")


def _end(connection: Connection, outcome: str) -> None:
    began = connection.info.pop(_BEGAN, None)
    if began is not None:
        STORE_SECONDS.labels(outcome).observe(perf_counter() - began)


def _refused(_: object) -> None:
    STORE_ERRORS.inc()


def routes() -> list[Route]:
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
    """Return whether a request comes from this machine, and not through a proxy."""
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
