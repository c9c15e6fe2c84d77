"""What whoever runs the server is told: metrics for some, and a log without what was typed."""

import json
import logging
import re
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit import logger as streamlit_logger

from crfviz.annotations.store.store import open_store
from crfviz.exceptions import CrfvizError, FormatError, StoreError
from crfviz.ui.shell import server
from crfviz.ui.watching import logs, meters, requests
from tests.support.loops import run

MARK = "Zanzibar marmalade"
TOKEN = "0123456789abcdef"
HERE = ("127.0.0.1", 50_000)


def ask(path, headers=(), client=HERE, more=()):
    """Status, headers and text of an answer."""
    raw = [(name.lower().encode(), value.encode()) for name, value in dict(headers).items()]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": raw}
    sent = []

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    app = Starlette(
        routes=[*meters.routes(), *more],
        middleware=[Middleware(requests.RequestMiddleware, base="")],
    )
    run(app({**scope, "client": client}, receive, send))
    text = b"".join(message.get("body", b"") for message in sent[1:]).decode()
    return sent[0]["status"], Headers(raw=sent[0]["headers"]), text


def value(name, **labels):
    return meters.REGISTRY.get_sample_value(f"crfviz_{name}", labels) or 0.0


@pytest.mark.parametrize(
    ("said", "headers", "client", "status"),
    [
        ("", {}, HERE, 404),
        ("local", {}, HERE, 200),
        ("local", {}, ("::1", 1), 200),
        ("local", {}, ("192.168.1.7", 1), 404),
        ("local", {"X-Forwarded-For": "127.0.0.1"}, HERE, 404),
        (TOKEN, {}, HERE, 404),
        (TOKEN, {"Authorization": f"Bearer {TOKEN}"}, ("192.168.1.7", 1), 200),
        (TOKEN, {"Authorization": "Bearer é"}, HERE, 404),
    ],
)
def test_metrics_are_served_only_to_allowed_clients(monkeypatch, said, headers, client, status):
    monkeypatch.setenv("CRFVIZ_METRICS", said)
    answered, kept, text = ask("/metrics", headers, client)
    assert answered == status
    assert ("crfviz_requests_total" in text) is (status == 200)
    if status == 200:
        assert kept["content-type"].startswith("text/plain; version=")


def test_short_metrics_token_stops_the_server(monkeypatch):
    monkeypatch.setenv("CRFVIZ_METRICS", TOKEN[1:])
    with pytest.raises(SystemExit, match="CRFVIZ_METRICS: expected local or a token"):
        server.middleware()


def test_requests_are_counted_by_route_and_have_an_id():
    before = value("requests_total", route="follow", status="404")
    _, headers, _ = ask("/follow/NOONE", {"X-Request-ID": "from-the-proxy.1"})
    assert headers["x-request-id"] == "from-the-proxy.1"
    assert value("requests_total", route="follow", status="404") == before + 1
    names = [ask("/", {"X-Request-ID": given})[1]["x-request-id"] for given in ("", "a\"b'<c> d")]
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)
    assert requests.request_kind("/crf/_stcore/stream", "/crf") == "session"
    assert requests.request_kind("/_stcore/healthy") == "machinery"
    assert requests.request_kind(f"/{MARK}") == "page"


def test_store_transactions_are_timed(tmp_path):
    meters.watch_databases()
    meters.watch_databases()
    before = value("store_seconds_count", outcome="stored")
    with open_store(f"sqlite:///{tmp_path}/annotations.db") as store:
        made = value("store_seconds_count", outcome="stored")
        assert made > before
        store.documents()
        assert value("store_seconds_count", outcome="stored") == made + 1


def test_watched_gauge_can_be_replaced():
    for number in (3, 4):
        meters.watch("test_rooms", "Rooms of a test", lambda n=number: n)
    assert value("test_rooms") == 4


@pytest.fixture
def log(monkeypatch, capsys):
    """Begins the log in a form; gives what was written so far."""
    root, ours = logging.getLogger(), logging.getLogger("crfviz")
    before = root.handlers[:], ours.level, logging.getLogRecordFactory()

    def begin(form):
        monkeypatch.setenv("CRFVIZ_LOG", form)
        logs.begin_log()
        return lambda: capsys.readouterr().err

    yield begin
    root.handlers[:] = before[0]
    ours.setLevel(before[1])
    logging.setLogRecordFactory(before[2])
    streamlit_logger.update_formatter()
    for name in logs.WITH_ADDRESSES:
        logging.getLogger(name).filters.clear()


def fail():
    try:
        raise KeyError(MARK)
    except KeyError as error:
        raise FormatError(f"line 1: {MARK}") from error


def go_wrong():
    logging.getLogger("crfviz.ui.widgets").warning("%s: %s", "Why", FormatError(MARK))
    try:
        fail()
    except CrfvizError:
        logging.getLogger("crfviz.ui.widgets").exception("%s failed, log id %s", "Why", "12345678")
        streamlit_logger.get_logger("streamlit.test_watching").exception("Uncaught")
    streamlit_logger.get_logger("uvicorn.access").info("GET /?sentence=%s", MARK)


@pytest.mark.parametrize("form", ["", "json"])
def test_typed_text_is_logged_only_on_request(log, monkeypatch, form):
    written = log(form)
    go_wrong()
    discreet = written()
    assert MARK not in discreet
    assert discreet.count("FormatError (CRFVIZ_LOG_TEXTS=on writes its words)") == 3
    assert discreet.count("raise KeyError(MARK)") == 2  # the line of the program
    monkeypatch.setenv("CRFVIZ_LOG_TEXTS", "on")
    go_wrong()
    assert written().count(MARK) == 5


def test_server_errors_are_logged_with_their_message(log):
    written = log("")
    logging.getLogger("crfviz").warning("waits: %s", StoreError("the disk is full"))
    assert "waits: StoreError: the disk is full" in written()


def test_json_log_lines_name_request_and_session(log, monkeypatch):
    async def begin_session(request):
        return PlainTextResponse(request.headers[requests.HEADER])

    written = log("json")
    name = "abcdefgh-1"
    begun = [Route("/begin", begin_session)]
    assert ask("/begin", {"X-Request-ID": name}, more=begun)[2] == name
    (line,) = map(json.loads, written().splitlines())
    facts = {"route": "page", "method": "GET", "status": 200}
    assert line == line | facts | {"request": name, "level": "info", "message": "answered"}
    assert line["milliseconds"] >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"])
    ask("/metrics")
    assert written() == ""
    for module in (logs, requests):
        monkeypatch.setattr(module, "session_id", lambda: "session 1")
    monkeypatch.setattr(st, "context", SimpleNamespace(headers={requests.HEADER: name}))
    go_wrong()
    lines = [json.loads(line) for line in written().splitlines() if line.startswith("{")]
    for line in lines:
        assert (line["request"], line["session"]) == (name, "session 1")
    assert line["error"] == "FormatError"
