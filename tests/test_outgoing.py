"""Streamlit's server looks for messages at the sessions that have some, and misses none."""

from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime, websocket_session_manager
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from crfviz.ui.shell.outgoing import OnlyBusy, send_for_busy_sessions_only


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
