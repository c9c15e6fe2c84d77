"""Streamlit's server looks for messages at the sessions that have some, and misses none."""

from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime, app_session, websocket_session_manager
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner import ScriptRunnerEvent

from crfviz.ui.shell.outgoing import OnlyBusy, hand_over_together, send_for_busy_sessions_only


class Session:
    """What a manager asks of a session, and a message that it enqueues."""

    def __init__(self, *, message_enqueued_callback, session_id_override, **_):
        self.id = session_id_override
        self._message_enqueued_callback = message_enqueued_callback

    def enqueue(self):
        self._message_enqueued_callback()

    def __getattr__(self, name):
        return lambda *_: True  # to all questions, and to what is done with it


@pytest.fixture
def woken():
    """How often the server's loop was woken."""
    return []


@pytest.fixture
def manager(monkeypatch, woken):
    monkeypatch.setattr(websocket_session_manager, "AppSession", Session)
    ours = websocket_session_manager.WebsocketSessionManager(
        MemorySessionStorage(),
        SimpleNamespace(remove_session_files=lambda _: None),
        None,
        lambda: woken.append(1),
    )
    monkeypatch.setattr(Runtime, "_instance", SimpleNamespace(_session_mgr=ours))
    assert send_for_busy_sessions_only()
    return ours


def connect(manager, name, **more):
    return manager.connect_session(None, None, {}, session_id_override=name, **more)


def busy(manager):
    return sorted(info.session.id for info in manager.list_active_sessions())


def test_only_sessions_with_messages_are_looked_at(manager, woken):
    for name in "abc":
        connect(manager, name)
    assert busy(manager) == ["a", "b", "c"]  # they may have some from before
    assert busy(manager) == []
    woken.clear()
    manager.get_session_info("b").session.enqueue()
    manager.get_session_info("b").session.enqueue()
    assert len(woken) == 1  # it has not looked yet
    assert busy(manager) == ["b"]
    assert busy(manager) == []
    assert manager.num_active_sessions() == len(manager.list_sessions()) == 3


def test_a_message_while_sessions_are_looked_at_is_not_missed(manager):
    class Meanwhile(set):
        """Hears of a session while it is gone through."""

        def __iter__(self):
            ids = list(super().__iter__())
            self.add("b")
            return iter(ids)

    for name in "ab":
        connect(manager, name)
    manager._busy = Meanwhile("a")
    assert busy(manager) == ["a"]
    assert busy(manager) == ["b"]


def test_a_message_to_who_is_gone_waits_for_the_return(manager):
    for name in "ab":
        connect(manager, name)
    busy(manager)
    session = manager.get_session_info("a").session
    manager.disconnect_session("a")
    session.enqueue()
    assert busy(manager) == []
    assert (manager.num_active_sessions(), len(manager.list_sessions())) == (1, 2)
    manager.connect_session(None, None, {}, existing_session_id="a")
    assert busy(manager) == ["a"]
    session.enqueue()
    assert busy(manager) == ["a"]
    manager.close_session("a")
    session.enqueue()
    assert busy(manager) == []


def test_another_streamlit_looks_at_all(monkeypatch, caplog):
    monkeypatch.setattr(Runtime, "_instance", SimpleNamespace(_session_mgr=object()))
    assert not send_for_busy_sessions_only()
    assert "idle sessions are looked at, too" in caplog.text
    monkeypatch.setattr(Runtime, "_instance", None)
    assert not send_for_busy_sessions_only()


def test_sessions_that_are_there_already_are_left_as_they_are(manager):
    connect(manager, "a")
    manager.__class__ = OnlyBusy.__base__
    assert not send_for_busy_sessions_only()
    assert type(manager) is OnlyBusy.__base__


class Loop:
    """Calls that wait, of an event loop that a test turns by hand."""

    def __init__(self):
        self.soon, self.later = [], []

    def call_soon_threadsafe(self, call):
        self.soon.append(call)

    def call_later(self, seconds, call):
        assert 0 < seconds < 0.1
        self.later.append(call)

    def turn(self, calls):
        due, calls[:] = list(calls), []
        for call in due:
            call()


class Script:
    """A session of Streamlit's, as far as it hears of its script."""

    def __init__(self):
        self._event_loop = Loop()
        self.handled = []

    def _on_scriptrunner_event(self, *_, **__):
        raise AssertionError("each by itself")

    def _handle_scriptrunner_event_on_event_loop(self, _sender, event, forward_msg=None):
        if forward_msg == "broken":
            raise ValueError(forward_msg)
        self.handled.append(forward_msg or event.name)

    def _call_soon_on_event_loop(self, call):
        self._event_loop.call_soon_threadsafe(call)

    def _create_scriptrunner(self, data):
        self.handled.append(data)


@pytest.fixture
def script(monkeypatch):
    own = type("Own", (Script,), dict(vars(Script)))
    monkeypatch.setattr(app_session, "AppSession", own)
    assert hand_over_together()
    assert hand_over_together()  # once is enough
    return own()


def draw(script, *messages):
    for message in messages:
        event = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG
        script._on_scriptrunner_event(None, event=event, forward_msg=message)


def test_what_is_drawn_in_a_moment_wakes_the_sender_once_and_keeps_its_order(script):
    loop = script._event_loop
    draw(script, "a", "b", "c")
    assert len(loop.soon) == 1
    loop.turn(loop.soon)
    assert (script.handled, len(loop.later)) == ([], 1)
    draw(script, "d")
    loop.turn(loop.later)
    assert script.handled == ["a", "b", "c", "d"]
    draw(script, "e")  # nothing waits any longer
    assert len(loop.soon) == 1


def test_the_beginning_and_the_end_of_a_script_take_along_what_was_drawn_before(script):
    loop = script._event_loop
    script._on_scriptrunner_event(None, ScriptRunnerEvent.SCRIPT_STARTED)
    draw(script, "a", "b")
    script._on_scriptrunner_event(None, ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS)
    loop.turn(loop.soon)
    assert script.handled == ["SCRIPT_STARTED", "a", "b", "FRAGMENT_STOPPED_WITH_SUCCESS"]
    loop.turn(loop.later)
    loop.turn(loop.soon)
    assert len(script.handled) == 4


def test_another_script_begins_when_all_of_the_last_one_is_handled(script):
    draw(script, "a", "b")
    script._create_scriptrunner("another")
    assert script.handled == ["a", "b", "another"]


def test_an_element_that_cannot_be_sent_keeps_no_other_back(script, caplog):
    draw(script, "a", "broken", "b")
    script._on_scriptrunner_event(None, ScriptRunnerEvent.SHUTDOWN)
    script._event_loop.turn(script._event_loop.soon)
    assert script.handled == ["a", "b", "SHUTDOWN"]
    assert "could not be handled" in caplog.text


def test_a_streamlit_that_hears_in_another_way_is_left_as_it_is(monkeypatch, caplog):
    monkeypatch.setattr(app_session, "AppSession", object)
    assert not hand_over_together()
    assert "one by one" in caplog.text
