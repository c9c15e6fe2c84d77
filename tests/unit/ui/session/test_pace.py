"""How often a session may ask, and how much long work waits: limits that hold."""

from types import SimpleNamespace

import pytest

from crfviz.ui.session.scheduling import BusyError, JobQueue, Ticket
from crfviz.ui.shell import server
from crfviz.ui.watching import requests as module
from crfviz.ui.watching.requests import BURST, MESSAGE_INTERVAL, RateLimiter
from tests.support.loops import run

RATE = 10


@pytest.fixture
def clock():
    """A clock that tests turn."""
    return SimpleNamespace(now=100.0)


@pytest.fixture
def pace(clock):
    return RateLimiter(RATE, lambda: clock.now)


def flood(pace, clock, messages):
    """Messages without end: each is here when the one before it went on."""
    waits = [pace.wait()]
    for _ in range(messages - 1):
        clock.now += waits[-1]
        waits.append(pace.wait())
    return waits


def test_messages_above_the_rate_are_delayed_and_none_is_lost(pace, clock):
    waits = flood(pace, clock, 1000)
    assert waits[: int(BURST * RATE)] == [0.0] * int(BURST * RATE)
    assert waits[int(BURST * RATE) :] == pytest.approx([1 / RATE] * (1000 - int(BURST * RATE)))


def test_idle_session_may_send_a_burst_of_five_seconds(pace, clock):
    clock.now += 3600
    waits = flood(pace, clock, 60)
    assert waits == pytest.approx([0.0] * 5 * RATE + [1 / RATE] * 10)


def test_messages_below_the_rate_are_never_delayed(pace, clock):
    for _ in range(1000):
        clock.now += 1 / RATE
        assert pace.wait() == 0.0
    assert not pace.is_message_due()


def test_rate_limit_message_is_shown_once_per_interval(pace, clock):
    flood(pace, clock, 100)
    assert pace.is_message_due()
    flood(pace, clock, 100)
    assert not pace.is_message_due()
    clock.now += MESSAGE_INTERVAL
    assert pace.is_message_due()
    assert not pace.is_message_due()


def test_server_delays_messages_above_the_rate(monkeypatch):
    """The last message is here only after it waited, and none is lost."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(server.asyncio, "sleep", sleep)
    given = [{"type": "websocket.receive", "bytes": b""} for _ in range(3)]
    waiting = [*given, {"type": "websocket.disconnect"}]

    async def receive():
        return waiting.pop(0)

    async def listen():
        listening = server._listening(
            receive, SimpleNamespace(wait=iter([0.0, 0.5, 0.25]).__next__)
        )
        return [await listening() for _ in range(4)]

    assert run(listen()) == [*given, {"type": "websocket.disconnect"}]
    assert slept == [0.5, 0.25]


def test_delayed_session_gets_a_rate_limit_message(monkeypatch):
    monkeypatch.setenv("CRFVIZ_LIMITS", "requests=1")
    monkeypatch.setattr(module, "request", lambda: "asks much")
    assert module.rate_limit_message() == ""
    own = module.connection_limiter()
    assert module.rate_limit_message() == ""
    while not own.wait():
        pass
    assert "more than 1 requests a second" in module.rate_limit_message()
    assert module.rate_limit_message() == ""


def test_jobs_are_limited_per_visitor_and_in_total(monkeypatch):
    monkeypatch.setenv("CRFVIZ_LIMITS", "jobs=2 line=3")
    turns = JobQueue()
    with turns.turn("first", pytest.fail):
        turns._queue.append(Ticket("first", before=1))
        with pytest.raises(BusyError, match="You have 2 long runs"):
            turns.turn("first", pytest.fail).__enter__()
        turns._queue.append(Ticket("second", before=0))
        with pytest.raises(BusyError, match=r"queue of this server is full \(3 long runs\)"):
            turns.turn("third", pytest.fail).__enter__()
    assert [each.visitor for each in turns._queue] == ["first", "second"]
