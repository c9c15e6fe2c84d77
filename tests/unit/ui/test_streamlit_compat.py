"""What crfviz needs of Streamlit beyond its documentation: a test for each, by its name."""

import ast
import inspect
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import RerunData, script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import SafeSessionState, SessionState

from crfviz.ui import streamlit_compat as compat
from crfviz.ui.session.scheduling import FairLock
from tests.support.paths import ROOT

DOCUMENTED = ("streamlit", "streamlit.components.v2", "streamlit.testing")
SOURCES = [
    path
    for path in [*ROOT.glob("crfviz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    if path != Path(compat.__file__)
]


def imports_of_streamlit(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("streamlit"))
        elif isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "streamlit":
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_only_streamlit_compat_imports_undocumented_names():
    undocumented = {
        (path.name, name)
        for path in SOURCES
        for name in imports_of_streamlit(path)
        if name not in DOCUMENTED
    }
    assert undocumented == set()


def test_only_streamlit_compat_reads_private_attributes():
    private = ("session_state._", "st._", "PagesManager", "context._", "page._")
    found = {
        (path.name, name) for path in SOURCES for name in private if name in path.read_text("utf-8")
    }
    assert found == set()


@pytest.fixture
def context(monkeypatch):
    """The context of a run of a script."""
    state = SafeSessionState(SessionState(), lambda: None)
    made = SimpleNamespace(
        session_id="one",
        session_state=state,
        script_requests=ScriptRequests(),
        fragment_ids_this_run=None,
        is_history_navigation=False,
    )
    monkeypatch.setattr(compat, "get_script_run_ctx", lambda **_: made)
    return made


@pytest.mark.parametrize(
    "name",
    [
        "session_id",
        "session_state",
        "script_requests",
        "fragment_ids_this_run",
        "is_history_navigation",
    ],
)
def test_script_run_context_has_the_attribute(name):
    assert name in {field.name for field in fields(ScriptRunContext)}


def lock():
    floor = FairLock()
    return floor.acquire, floor.release, floor.let_others_first


def test_script_runner_instantiates_script_requests_by_name(monkeypatch):
    monkeypatch.setattr(script_runner, "ScriptRequests", ScriptRequests)
    assert "self._requests = ScriptRequests()" in inspect.getsource(script_runner.ScriptRunner)
    for name in ("on_scriptrunner_ready", "on_scriptrunner_yield"):
        assert callable(getattr(ScriptRequests, name, None)), f"ScriptRequests.{name}"
    assert compat.one_script_at_a_time(*lock())
    assert script_runner.ScriptRequests is not ScriptRequests


def test_without_script_requests_scripts_run_in_parallel(monkeypatch, caplog):
    monkeypatch.setattr(script_runner, "ScriptRequests", object)
    assert not compat.one_script_at_a_time(*lock())
    assert script_runner.ScriptRequests is object
    assert "script_runner has no ScriptRequests" in caplog.text


FRAGMENT = "fragment"


def unsent_messages(status):
    """A queue with a run that has ended before its messages were sent."""
    queue = app_session.ForwardMsgQueue()
    start, page, end = ForwardMsg(), ForwardMsg(), ForwardMsg()
    start.new_session.name = "run"
    page.metadata.delta_path[:] = [0, 1]
    page.delta.fragment_id = FRAGMENT
    page.delta.new_element.heading.body = "Explore"
    end.script_finished = status
    for message in (start, page, end):
        queue.enqueue(message)
    return queue


@pytest.mark.parametrize(
    ("fragments", "status", "sent"),
    [
        ([FRAGMENT], ForwardMsg.FINISHED_SUCCESSFULLY, ["new_session", "delta", "script_finished"]),
        ([FRAGMENT], ForwardMsg.FINISHED_EARLY_FOR_RERUN, ["new_session", "script_finished"]),
        (None, ForwardMsg.FINISHED_SUCCESSFULLY, ["new_session", "script_finished"]),
    ],
)
def test_fragment_run_keeps_unsent_messages_of_a_finished_run(monkeypatch, fragments, status, sent):
    monkeypatch.setattr(app_session, "ForwardMsgQueue", ForwardMsgQueue)
    assert compat.send_whole_runs_completely()
    queue = unsent_messages(status)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    assert [message.WhichOneof("type") for message in queue.flush()] == sent


def test_app_session_instantiates_the_replaced_queue():
    assert "= ForwardMsgQueue()" in inspect.getsource(app_session.AppSession)
    assert hasattr(ForwardMsgQueue(), "_queue"), "ForwardMsgQueue._queue"


def test_without_forward_msg_queue_a_warning_is_logged(monkeypatch, caplog):
    monkeypatch.setattr(app_session, "ForwardMsgQueue", object)
    assert not compat.send_whole_runs_completely()
    assert app_session.ForwardMsgQueue is object
    assert "app_session has no ForwardMsgQueue" in caplog.text


@pytest.mark.usefixtures("context")
def test_hooks_can_be_disabled(monkeypatch):
    monkeypatch.setattr(script_runner, "ScriptRequests", ScriptRequests)
    monkeypatch.setenv("CRFVIZ_STREAMLIT_HOOKS", "off")
    assert not compat.one_script_at_a_time(*lock())
    assert script_runner.ScriptRequests is ScriptRequests
    monkeypatch.setattr(app_session, "ForwardMsgQueue", ForwardMsgQueue)
    assert not compat.send_whole_runs_completely()
    assert app_session.ForwardMsgQueue is ForwardMsgQueue
    assert compat.state_of_run() == (None, None)


def test_session_state_of_a_run_is_accessible(context):
    assert hasattr(context.session_state, "_state"), "SafeSessionState._state"
    run, state = compat.state_of_run()
    assert run is context.session_state
    for name in ("__getitem__", "__setitem__"):
        assert hasattr(state, name), f"SessionState.{name}"
    with pytest.raises(KeyError):
        state["crfviz"]


def test_fragment_run_is_distinguished_from_a_full_run(context):
    assert not compat.is_fragment_run()
    context.fragment_ids_this_run = ["a"]
    assert compat.is_fragment_run()


def test_history_navigation_and_session_id_are_read(context):
    assert not compat.is_history_navigation()
    context.is_history_navigation = True
    assert compat.is_history_navigation()
    assert compat.session_id() == "one"


def test_stop_request_means_the_visitor_has_left(context):
    assert hasattr(context.script_requests, "_state"), "ScriptRequests._state"
    context.script_requests.request_rerun(RerunData())
    assert not compat.visitor_has_left()
    context.script_requests.request_stop()
    assert compat.visitor_has_left()


def test_browser_value_of_a_widget_is_detected(context):
    state = context.session_state._state
    for name in ("get_widget_id_from_key", "_new_widget_state"):
        assert hasattr(state, name), f"SessionState.{name}"
    assert not compat.browser_says("box")
    state._new_widget_state.set_from_value(state.get_widget_id_from_key("box"), 1)
    assert compat.browser_says("box")


def test_browser_message_is_parsed():
    for name in ("rerun_script", "backend_operation_request"):
        assert name in BackMsg.DESCRIPTOR.fields_by_name, f"BackMsg.{name}"
    back = BackMsg()
    back.rerun_script.query_string = "a=1"
    assert compat.read_message(back.SerializeToString()) == ("rerun_script", None)
    assert compat.read_message(b"\xff\xff") == (None, None)


def test_component_manager_accepts_a_manifest():
    for name in ("register_from_manifest", "get_component_asset_root"):
        assert hasattr(BidiComponentManager, name), f"BidiComponentManager.{name}"


def test_static_folder_contains_the_page():
    assert compat.static_folder().joinpath("index.html").is_file()
    assert compat.static_folder().parent == Path(st.__file__).parent


def test_localhost_is_a_listed_host():
    assert compat.host_is_listed("localhost")
