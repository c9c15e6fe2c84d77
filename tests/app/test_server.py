"""What the server answers, whom, and which messages of a browser reach Streamlit."""

import ast
import subprocess
import sys
import tomllib

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg

from crfviz.ui.session import permission
from crfviz.ui.shell import server
from crfviz.ui.shell.page_answers import Named
from tests.support.loops import run
from tests.support.paths import ROOT

STARTING = """
import asyncio
import sys
import streamlit
streamlit.App = lambda *_, lifespan, **__: lifespan
import app

async def start():
    async with app.app(None):
        print(*sys.modules)

asyncio.run(start())
"""


async def inner(scope, receive, send):
    """Answers everything, and sends back what reaches it."""
    if scope["type"] == "http":
        await PlainTextResponse("answered")(scope, receive, send)
        return
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": message["bytes"]})


def ask(kind, path, headers, received=(), method="GET"):
    """What the guarded server sends in answer."""
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": method, "path": path, "headers": raw}
    waiting, sent = list(received), []

    async def receive():
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    (options,) = (each.kwargs for each in server.middleware() if each.cls is server.Guard)
    run(server.Guard(inner, **options)(scope, receive, send))
    return sent


def answer(path, host="localhost:8501", method="GET"):
    """Status, headers and text of an answer."""
    start, body = ask("http", path, {"Host": host}, method=method)
    return start["status"], Headers(raw=start["headers"]), body["body"].decode()


def connect(messages=(), **headers):
    """What comes back over a connection; None where it is refused."""
    received = [{"type": "websocket.receive", "bytes": message} for message in messages]
    headers = {"Host": "localhost:8501"} | headers
    sent = ask(
        "websocket", "/_stcore/stream", headers, [*received, {"type": "websocket.disconnect"}]
    )
    if sent[0]["type"] != "websocket.accept":
        assert sent == [{"type": "websocket.close", "code": server.POLICY_VIOLATION, "reason": ""}]
        return None
    return [message["bytes"] for message in sent[1:]]


@pytest.fixture
def option():
    """Sets options of Streamlit, and sets them back."""
    before = {}

    def set_one(name, value):
        before.setdefault(name, config.get_option(name))
        config.set_option(name, value)

    yield set_one
    for name, value in before.items():
        config.set_option(name, value)


def message(kind):
    back = BackMsg()
    if kind == "rerun_script":
        back.rerun_script.query_string = "a=1"
    elif kind in BackendOperationRequest.DESCRIPTOR.fields_by_name:
        getattr(back.backend_operation_request, kind).SetInParent()
    else:
        setattr(back, kind, True)
    return back.SerializeToString()


def test_every_response_has_a_strict_content_policy():
    for path in ("/", "/why", "/media/lattice.html", "/_stcore/metrics"):
        _, headers, _ = answer(path)
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'self'"
        assert policy["frame-ancestors"] == "'self'"
        assert "sha256-" in policy["script-src"]
        assert "'unsafe-inline'" not in policy["script-src"]
        assert not any("http" in allowed or "*" in allowed for allowed in policy.values())
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "metrics",
        "metrics/",
        "/metrics",
        "script-health-check",
        "agent/openapi.json",
        "agent//mcp",
        "agent",
        "./metrics",
        "x/../metrics",
        "../_stcore/metrics",
        "metrics/.",
    ],
)
def test_internal_routes_answer_404(option, path):
    assert answer(f"/_stcore/{path}")[0] == 404
    option("server.baseUrlPath", "/crf")
    assert answer(f"/crf/_stcore/{path}")[0] == 404


@pytest.mark.parametrize("path", ["/", "/why", "/_stcore/health", "/_stcore/host-config"])
def test_pages_and_health_are_served(path):
    assert answer(path)[2] == "answered"


HOSTS = {
    "localhost": True,
    "LOCALHOST:8501": True,
    "127.0.0.1:8501": True,
    "[::1]:8501": True,
    "192.168.1.20:8501": True,
    "evil.example": False,
    "evil.example:8501": False,
    "localhost.evil.example": False,
    "127.0.0.1.evil.example": False,
    "[": False,
    "": False,
}


@pytest.mark.parametrize(("host", "answered"), HOSTS.items())
def test_unknown_host_is_rejected(host, answered):
    assert answer("/", host)[0] == (200 if answered else 421)
    assert (connect(Host=host) is not None) is answered


def test_allowed_host_can_be_configured(option):
    option("server.allowedHosts", ["crf.example.org"])
    assert answer("/", "crf.example.org")[0] == 200
    assert answer("/", "evil.example")[0] == 421
    option("server.allowedHosts", [])
    option("browser.serverAddress", "lab.example.org")
    assert answer("/", "lab.example.org:8501")[0] == 200


ORIGINS = {
    "http://localhost:8501": True,
    "http://localhost:9000": True,
    "https://evil.example": False,
    "null": False,
    "http://[": False,
}


@pytest.mark.parametrize(("origin", "answered"), ORIGINS.items())
def test_websocket_of_another_origin_is_rejected(option, origin, answered):
    assert (connect(Origin=origin) is not None) is answered
    option("server.corsAllowedOrigins", ["https://evil.example"])
    assert (connect(Origin=origin) is not None) is (answered or "evil" in origin)


DISTURBING = (
    "clear_cache", "load_git_info", "set_run_on_save", "install_skills", "dismiss_skills_nudge",
)  # fmt: skip


@pytest.mark.parametrize("kind", DISTURBING)
def test_message_that_affects_other_sessions_is_dropped(kind):
    run = message("rerun_script")
    assert connect([message(kind), run]) == [run]


@pytest.mark.parametrize("kind", ["stop_script", "app_heartbeat", "dataframe_chunk"])
def test_page_messages_are_forwarded(kind):
    assert connect([message(kind)]) == [message(kind)]


def test_undecodable_message_is_forwarded_to_streamlit():
    assert connect([b"\xff\xff"]) == [b"\xff\xff"]


def widget(number, **value):
    back = BackMsg()
    back.rerun_script.widget_states.widgets.add(id=f"widget {number}", **value)
    return back.SerializeToString()


@pytest.mark.parametrize("broken", ["[" * 100_000, "{", "nonsense", '{"a": NaN'])
def test_invalid_json_values_are_dropped_and_logged_once(caplog, broken):
    fine = widget(0, json_value="{}")
    forged = [widget(number, json_value=broken) for number in range(3)]
    trigger = widget(3, json_trigger_value=broken)
    empty = BackMsg()
    empty.rerun_script.widget_states.SetInParent()
    arrived = connect([fine, *forged, trigger])
    assert arrived == [fine, *[empty.SerializeToString()] * 4]
    assert caplog.text.count("no JSON") == 1
    assert broken not in caplog.text


def test_upload_is_rejected_if_uploads_are_off(monkeypatch):
    path = "/_stcore/upload_file/session/file"
    assert answer(path, method="PUT")[0] == 200
    monkeypatch.setenv("CRFVIZ_UPLOADS", "off")
    assert answer(path, method="PUT")[0] == 403
    assert answer("/")[0] == 200


def test_server_with_a_broken_login_does_not_start(monkeypatch):
    def broken():
        raise permission.LoginError("lacks client_id")

    monkeypatch.setattr(server, "is_login_required", broken)
    with pytest.raises(SystemExit, match="does not start: lacks client_id"):
        server.middleware()


@pytest.mark.parametrize("left", ["${COOKIE_SECRET:?}", "a${COOKIE_SECRET-x}b"])
def test_unfilled_placeholder_setting_stops_the_server(monkeypatch, left):
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", left)
    said = r"STREAMLIT_SERVER_COOKIE_SECRET contains the placeholder \$\{COOKIE_SECRET\}: put"
    with pytest.raises(SystemExit, match=said):
        server.middleware()


def test_app_uses_the_middleware_and_listens_on_localhost():
    source = (ROOT / "app.py").read_text("utf-8")
    calls = [
        ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
    ]
    (served,) = [call for call in calls if call.startswith("st.App(")]
    assert "middleware=server.middleware(), lifespan=server.lifespan)" in served
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
    assert settings["server"]["address"] == "localhost"
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["client"]["toolbarMode"] == "minimal"
    assert settings["server"].get("enableAgentApi", False) is False


def cookies(kind="http", path="/", scheme="http", **headers):
    """Cookies that a process with a name gives."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "GET", "path": path, "scheme": scheme, "headers": raw}
    sent = []

    async def receive():
        return {"type": "websocket.disconnect"}

    async def send(message):
        sent.append(message)

    (options,) = (each.kwargs for each in server.middleware() if each.cls is Named)
    run(Named(inner, **options)(scope, receive, send))
    return Headers(raw=sent[0].get("headers", [])).getlist("set-cookie")


def test_replica_name_is_sent_as_a_cookie(monkeypatch):
    monkeypatch.setenv("CRFVIZ_REPLICA", "two")
    named = "crfviz_replica=two; Path=/; HttpOnly; "
    assert cookies() == cookies("websocket", "/_stcore/stream") == [f"{named}SameSite=Lax"]
    assert cookies(scheme="https") == [f"{named}SameSite=None; Secure; Partitioned"]
    assert cookies(cookie="a=b; crfviz_replica=two") == []
    assert cookies(cookie="crfviz_replica=three") == [f"{named}SameSite=Lax"]
    assert cookies(path="/follow/ABCDE") == cookies(path="/static/js/a.js") == []
    monkeypatch.setenv("CRFVIZ_REPLICA", "a;b")
    with pytest.raises(SystemExit, match="CRFVIZ_REPLICA"):
        server.middleware()


@pytest.mark.rotating
def test_all_modules_are_imported_before_the_first_visitor():
    """Two sessions that import at once can end with half a module."""
    loaded = subprocess.run(
        [sys.executable, "-c", STARTING], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    wanted = {
        node.module
        for script in [ROOT / "app.py", *ROOT.glob("pages/*.py")]
        for node in ast.walk(ast.parse(script.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("crfviz")
    }
    assert len(wanted) > 20
    assert wanted <= set(loaded)


def test_frames_of_configured_sites_are_allowed(monkeypatch):
    monkeypatch.setenv("CRFVIZ_FRAMES", "https://slides.example http://*.school.example:8080")
    start, *_ = ask("http", "/", {"host": "localhost"})
    headers = Headers(raw=start["headers"])
    policy = headers["content-security-policy"]
    assert policy.endswith(
        "frame-ancestors 'self' https://slides.example http://*.school.example:8080"
    )
    assert "x-frame-options" not in headers


@pytest.mark.parametrize("origin", ["*", "slides.example", "https://a;script-src", "'none'"])
def test_invalid_frame_origin_stops_the_server(monkeypatch, origin):
    monkeypatch.setenv("CRFVIZ_FRAMES", origin)
    with pytest.raises(SystemExit, match="CRFVIZ_FRAMES: expected origins"):
        server.middleware()
