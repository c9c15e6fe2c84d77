"""Rooms in PostgreSQL: led from one process, followed and answered in another."""

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from psycopg import connect

from crfviz.exceptions import CrfvizError, StoreError
from crfviz.ui.live_room import room_backend, room_store
from crfviz.ui.live_room.room_backend import SharedRooms
from crfviz.ui.live_room.rooms import Question, Rooms
from tests.support.loops import run
from tests.unit.ui.live_room.test_live_room import CLOSED, OPEN, told

PATIENCE = 20.0  # seconds


@pytest.fixture(scope="module")
def url(cluster):
    return cluster.create("rooms")


@pytest.fixture
def two_backends(url, monkeypatch):
    """The rooms of two processes that have one database."""
    monkeypatch.setattr(room_backend, "POLL_INTERVAL", 0.05)
    monkeypatch.setattr(room_backend, "RETRY_DELAY", 0.05)
    monkeypatch.setattr(room_store, "RETRY_DELAY", 0.05)
    both = SharedRooms(url), SharedRooms(url)
    yield both
    for each in both:
        each.end()
    direct(url, "DELETE FROM crfviz_rooms")


def direct(url, what):
    """What the database answers to a statement, if it answers."""
    with connect(url) as connection:
        found = connection.execute(what)
        return found.fetchall() if found.description else None


def until(state):
    end = time.monotonic() + PATIENCE
    while not state():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_room_led_in_one_process_is_followed_in_another(two_backends):
    first, second = two_backends
    led = first.open()
    led.show({"n": 1})
    followed = second.find(f" {led.code.lower()} ")

    async def scene():
        screens = followed.screens()
        assert told(await anext(screens)) == {"n": 1}
        for n in (2, 3):
            await asyncio.to_thread(led.show, {"n": n})
        while told(event := await anext(screens)) != {"n": 3}:
            pass
        assert event.startswith(b"id: 3\n")
        await asyncio.to_thread(until, lambda: led.count_followers() == 1)
        await asyncio.to_thread(first.close, led.code)
        assert (await anext(screens)).startswith(b"event: over")

    run(scene())
    assert second.find(led.code) is None
    assert second.led_by(led.key) is None


def test_leader_can_continue_in_another_process(two_backends):
    first, second = two_backends
    led = first.open()
    led.show({"n": 1}, OPEN)
    taken_over = second.led_by(led.key)
    taken_over.show({"n": 2}, OPEN)
    until(lambda: led.screen == b'{"n":2}')
    led.show({"n": 3}, OPEN)
    until(lambda: taken_over.screen == led.screen == b'{"n":3}')
    assert first.led_by("another") is None
    assert second.find("a\0b") is second.led_by("a\0b") is None


def test_concurrent_answers_are_counted_once_in_every_process(two_backends):
    first, second = two_backends
    led = first.open()
    rooms = led, second.find(led.code)
    led.show({"n": 1}, OPEN)
    chosen = random.Random(5)
    voters = {f"voter {n}": chosen.randrange(3) for n in range(40)}
    answers = [(name, choice) for name, choice in voters.items() for _ in range(3)]
    chosen.shuffle(answers)
    with ThreadPoolExecutor(8) as threads:
        counted = threads.map(lambda a: chosen.choice(rooms).answer("q", *a), answers)
    assert all(counted)
    expected = [list(voters.values()).count(choice) for choice in range(3)]
    assert rooms[1].count_answers("q", 3) == expected
    assert rooms[1].answer("q", "voter 0", (voters["voter 0"] + 1) % 3)
    assert sum(rooms[0].reveal("q", 3)) == len(voters)
    assert not rooms[1].answer("q", "voter 0", 0)  # the other process has heard of nothing yet
    led.show({"n": 2}, CLOSED)
    assert not rooms[1].answer("q", "late", 0)


@pytest.mark.parametrize(
    ("question", "voter", "choice"),
    [
        ("other", "anna", 0),
        ("q", "anna", 3),
        ("q", "anna", -1),
        ("q", "", 0),
        ("q", "a" * 65, 0),
        ("q", "a\0", 0),
    ],
)
def test_answers_without_an_open_question_are_ignored(two_backends, question, voter, choice):
    led = two_backends[0].open()
    led.show({"n": 1}, OPEN)
    assert not led.answer(question, voter, choice)
    assert led.count_answers("q", 3) == [0, 0, 0]


def test_number_of_rooms_voters_and_questions_is_limited(two_backends, monkeypatch):
    monkeypatch.setattr(room_backend, "MAX_ROOMS", 2)
    monkeypatch.setattr(room_store, "MAX_VOTERS", 2)
    monkeypatch.setattr(room_store, "MAX_QUESTIONS", 1)
    first, second = two_backends
    led, _ = first.open(), second.open()
    with pytest.raises(CrfvizError, match="live rooms"):
        first.open()
    for name in ("a", "b"):
        led.show({"q": name}, Question(name, 2, open=True))
        assert [led.answer(name, voter, 1) for voter in ("x", "y", "z")] == [True, True, False]
        assert led.answer(name, "x", 0)
    led.show({"q": "c"})
    assert [led.count_answers(name, 2) for name in ("a", "b")] == [[0, 0], [1, 1]]


def test_typed_answers_are_counted_in_all_processes(two_backends):
    first, second = two_backends
    led = first.open()
    led.show({"n": 1}, Question("free", 1, open=True))
    followed = second.find(led.code)
    given = [("anna", "8"), ("ben", "27"), ("ben", "8"), ("cleo", "9")]
    assert all(followed.answer("free", voter, 0, text) for voter, text in given)
    assert not followed.answer("free", "dan", 0, "\0")
    assert led.count_texts("free") == {"8": 2, "9": 1}
    assert led.turnout().answered == 3


def test_room_expires_in_all_processes(two_backends, url):
    first, second = two_backends
    led = first.open()
    led.show({"n": 1}, OPEN)
    followed = second.find(led.code)
    assert followed.answer("q", "anna", 1)
    direct(url, "UPDATE crfviz_rooms SET used = now() - interval '2 hours'")
    assert not followed.answer("q", "ben", 1)
    until(lambda: led.gone and followed.gone)
    assert first.find(led.code) is second.find(led.code) is None
    until(lambda: direct(url, "SELECT count(*) FROM crfviz_answers") == [(0,)])


def test_database_restart_loses_no_answer_and_no_screen(two_backends, cluster):
    first, second = two_backends
    led = first.open()
    led.show({"n": 1}, OPEN)
    followed = second.find(led.code)
    assert followed.answer("q", "anna", 1)
    cluster.stop("immediate")
    try:
        with pytest.raises(StoreError):
            followed.answer("q", "ben", 2)
        led.show({"n": 2}, OPEN)
        assert led.screen == b'{"n":2}'  # who follows here need not wait
        assert second.find(led.code) is followed
        with pytest.raises(StoreError):
            second.find("NOONE")
    finally:
        cluster.start()
    until(lambda: followed.screen == b'{"n":2}')
    assert followed.answer("q", "ben", 2)  # told again
    assert followed.answer("q", "anna", 1)
    assert led.reveal("q", 3) == [0, 1, 1]


def test_settings_select_the_room_backend(url, monkeypatch):
    make = room_backend.rooms.__wrapped__
    assert type(make()) is Rooms  # annotations are in a file
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", url)
    assert type(make()) is SharedRooms
    monkeypatch.setenv("CRFVIZ_ROOMS", "process")
    assert type(make()) is Rooms
    monkeypatch.setenv("CRFVIZ_ROOMS", url)
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", "sqlite:///:memory:")
    assert type(make()) is SharedRooms
    monkeypatch.delenv("CRFVIZ_ROOMS")
    assert type(make()) is Rooms  # labelling says what is wrong
