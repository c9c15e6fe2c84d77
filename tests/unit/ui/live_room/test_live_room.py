"""Rooms: one screen that many follow, and the answers they give."""

import asyncio
import json

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers

from crfviz.exceptions import CrfvizError, StoreError
from crfviz.ui.live_room import rooms, routes
from crfviz.ui.live_room.rooms import Question, Room, Rooms
from crfviz.ui.live_room.routes import CodeRateLimit
from tests.support.loops import run


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


OPEN, CLOSED = Question("q", 3, open=True), Question("q", 3, open=False)


def test_last_answer_of_each_voter_counts_once():
    room = Room("ABCDE")
    room.show({"n": 1}, OPEN)
    for _ in range(3):  # told again, as after a lost connection
        assert room.answer("q", "anna", 1)
    assert room.answer("q", "ben", 1)
    assert room.answer("q", "anna", 2)
    assert room.count_answers("q", 3) == [0, 1, 1]


@pytest.mark.parametrize(
    ("question", "voter", "choice"),
    [("other", "anna", 0), ("q", "anna", 3), ("q", "anna", -1), ("q", "", 0), ("q", "a" * 65, 0)],
)
def test_answers_without_an_open_question_are_ignored(question, voter, choice):
    room = Room("ABCDE")
    assert not room.answer("q", "anna", 0)
    room.show({"n": 1}, OPEN)
    assert not room.answer(question, voter, choice)
    room.show({"n": 2}, CLOSED)
    assert not room.answer("q", "anna", 0)
    assert room.count_answers("q", 3) == [0, 0, 0]


def test_answers_after_the_reveal_are_ignored():
    room = Room("ABCDE")
    room.show({"n": 1}, OPEN)
    assert room.answer("q", "anna", 1)
    assert room.reveal("q", 3) == [0, 1, 0]
    assert not room.answer("q", "ben", 1)  # before the screen with the tally is shown
    assert room.reveal("q", 3) == [0, 1, 0]


def test_number_of_voters_and_questions_is_limited(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_VOTERS", 2)
    monkeypatch.setattr(rooms, "MAX_QUESTIONS", 2)
    room = Room("ABCDE")
    for name in ("a", "b", "c"):
        room.show({"q": name}, Question(name, 2, open=True))
        assert [room.answer(name, voter, 1) for voter in ("x", "y", "z")] == [True, True, False]
        assert room.answer(name, "x", 0)  # who is known may still change
    assert room.count_answers("a", 2) == [0, 0]
    assert room.count_answers("c", 2) == [1, 1]


def test_room_expires_after_its_lifetime_or_when_closed():
    clock = Clock()
    every = Rooms(clock)
    used, left = every.open(), every.open()
    assert every.led_by(left.key) is left
    clock.now = rooms.ROOM_LIFETIME - 1
    used.show({"n": 1})
    clock.now = rooms.ROOM_LIFETIME
    assert every.find(f" {used.code.lower()} ") is used
    assert every.find(left.code) is None
    assert every.led_by(left.key) is None
    assert left.gone
    every.close(used.code)
    every.close(used.code)
    assert used.gone
    assert every.find(used.code) is None


def test_number_of_rooms_is_limited(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_ROOMS", 2)
    every = Rooms()
    codes = {every.open().code, every.open().code}
    assert len(codes) == 2
    with pytest.raises(CrfvizError, match="already has 2 live rooms"):
        every.open()


def told(event):
    (data,) = (line for line in event.decode().splitlines() if line.startswith("data:"))
    return json.loads(data.removeprefix("data:"))


def test_follower_gets_only_the_newest_screen():
    async def scene():
        room = Room("ABCDE")
        room.show({"n": 1})
        screens = room.screens()
        assert told(await anext(screens)) == {"n": 1}
        assert room.followers == 1
        for n in (2, 3, 3):
            await asyncio.to_thread(room.show, {"n": n})
        assert told(await anext(screens)) == {"n": 3}
        waits = asyncio.ensure_future(anext(screens))
        await asyncio.sleep(0)
        before = room.version
        await asyncio.to_thread(room.show, {"n": 3})  # the same is no news
        assert room.version == before
        await asyncio.sleep(0)
        assert not waits.done()
        await asyncio.to_thread(room.show, {"n": 4, "word": "a\nb\ud800"})
        assert told(await waits) == {"n": 4, "word": "a\nb\ud800"}
        room.close()
        assert (await anext(screens)).startswith(b"event: over")
        with pytest.raises(StopAsyncIteration):
            await anext(screens)
        assert room.followers == 0

    run(scene())


def test_idle_connection_gets_keep_alive_messages(monkeypatch):
    monkeypatch.setattr(rooms, "KEEP_ALIVE", 0.0)

    async def scene():
        screens = Room("ABCDE").screens()
        await anext(screens)
        assert (await anext(screens)).startswith(b":")
        await screens.aclose()

    run(scene())


def test_followers_are_notified_when_the_room_expires(monkeypatch):
    monkeypatch.setattr(rooms, "KEEP_ALIVE", 0.0)

    async def scene():
        clock = Clock()
        screens = Room("ABCDE", clock=clock).screens()
        await anext(screens)
        clock.now = rooms.ROOM_LIFETIME
        while not (event := await anext(screens)).startswith(b"event: over"):
            assert event.startswith(b":")

    run(scene())


def test_full_room_rejects_followers(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_FOLLOWERS", 0)
    with pytest.raises(CrfvizError, match="at most 0"):
        run(anext(Room("ABCDE").screens()))


def ask(path, body=None, address="192.168.1.7"):
    """Status, headers and text of the answer of our routes."""
    path, _, query = path.partition("?")
    method = "GET" if body is None else "POST"
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
    scope["client"] = (address, 50_000)
    sent = []

    async def receive():
        return {"type": "http.request", "body": body or b""}

    async def send(message):
        sent.append(message)

    app = Starlette(routes=routes.routes())
    run(app({**scope, "headers": []}, receive, send))
    text = b"".join(message.get("body", b"") for message in sent[1:]).decode()
    return sent[0]["status"], Headers(raw=sent[0]["headers"]), text


@pytest.fixture
def room(monkeypatch):
    every = Rooms()
    monkeypatch.setattr(routes, "rooms", lambda: every)
    monkeypatch.setattr(routes, "CODE_LIMIT", CodeRateLimit())
    opened = every.open()
    opened.show({"n": 1}, OPEN)
    return opened


def test_follow_page_and_its_files_are_served(room):
    status, headers, page = ask(f"/follow/{room.code.lower()}")
    assert (status, headers["cache-control"]) == (200, "no-store")
    for name in ("stage.js", "stage.css"):
        (address,) = [part for part in page.split('"') if part.startswith(f"{name}?")]
        _, kept, text = ask(f"/follow/{address}")
        assert "immutable" in kept["cache-control"]
        _, old, same = ask(f"/follow/{name}?v=old")
        assert (old["cache-control"], same) == ("no-store", text)
        assert len(text) < 250_000
    assert ask("/follow/NOONE")[0] == 404
    assert ask("/follow/NOONE/screens")[0] == 204  # or a browser asks again


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"question": "q", "voter": "anna", "choice": 1}', 204),
        (b'{"question": "p", "voter": "anna", "choice": 1}', 409),
        (b'{"question": "q", "voter": "anna", "choice": true}', 400),
        (b'{"question": "q", "voter": 3, "choice": 1}', 400),
        (b"[" * 999, 400),
        (b"[1]", 400),
        (b"\xff", 400),
        (b"x" * 1001, 413),
    ],
)
def test_answers_are_accepted_or_rejected_with_a_message(room, body, status):
    answered, _, text = ask(f"/follow/{room.code}/answers", body)
    assert answered == status
    assert sum(room.count_answers("q", 3)) == (status == 204)
    assert status == 204 or json.loads(text)["message"]
    assert ask("/follow/NOONE/answers", body)[0] == 404


def test_unavailable_store_answers_503(monkeypatch, room):
    def away(*_):
        raise StoreError("gone")

    monkeypatch.setattr(Room, "answer", away)
    monkeypatch.setattr(Rooms, "blocking", True)
    body = b'{"question": "q", "voter": "anna", "choice": 1}'
    assert ask(f"/follow/{room.code}/answers", body)[0] == 503
    monkeypatch.setattr(Rooms, "find", away)
    assert ask(f"/follow/{room.code}/screens")[0] == 503


def test_wrong_codes_are_rate_limited(room):
    wrong = [f"{first}{second}XYZ" for first in "ABCDEFGH" for second in "ABCDEFGH"]
    answered = [ask(f"/follow/{code}")[0] for code in wrong]
    assert answered == [404] * routes.MAX_WRONG_CODES + [429] * (
        len(wrong) - routes.MAX_WRONG_CODES
    )
    status, headers, text = ask(f"/follow/{room.code}/answers", b"[1]")
    assert (status, headers["retry-after"]) == (429, "10")
    assert "Wait a minute" in json.loads(text)["message"]
    assert ask(f"/follow/{room.code}", address="192.168.1.8")[0] == 200


def test_rate_limit_does_not_block_known_rooms(room):
    assert ask(f"/follow/{room.code}")[0] == 200
    for _ in range(routes.MAX_WRONG_CODES + 1):
        ask("/follow/NOONE")
    assert ask("/follow/NOONE")[0] == 429
    assert ask(f"/follow/{room.code.lower()}")[0] == 200


def test_rate_limit_resets_and_forgets_old_addresses(monkeypatch):
    monkeypatch.setattr(routes, "MAX_ADDRESSES", 2)
    clock = Clock()
    every = CodeRateLimit(clock)
    for _ in range(routes.MAX_WRONG_CODES):
        every.record("2001:db8::1", "NOONE", right=False)
    assert not every.allows("2001:db8::2", "NOONE")  # the same household
    assert every.allows("2001:db8:0:1::1", "NOONE")
    clock.now = routes.RETRY_DELAY
    assert every.allows("2001:db8::1", "NOONE")
    every.record("2001:db8::1", "NOONE", right=False)
    assert not every.allows("2001:db8::1", "NOONE")
    for address in ("10.0.0.1", "::ffff:10.0.0.2"):
        every.record(address, "NOONE", right=False)
    assert every.allows("2001:db8::1", "NOONE")


def test_box_for_a_code_opens_the_room(room):
    for address in ("/follow", "/follow/"):
        status, _, page = ask(address)
        assert (status, 'name="code"' in page) == (200, True)
    typed = f"%20{room.code[:2].lower()}-{room.code[2:].lower()}"
    status, headers, _ = ask(f"/follow?code={typed}")
    assert (status, headers["location"]) == (303, f"follow/{room.code}")
    _, headers, _ = ask(f"/follow/?code={room.code}")
    assert headers["location"] == f"../follow/{room.code}"


@pytest.mark.usefixtures("room")
def test_wrong_code_stays_in_the_box_with_a_message():
    for address in ("/follow?code=noo%3Cne", "/follow/NOONE"):
        status, _, page = ask(address)
        assert status == 404
        assert 'value="NOONE"' in page
        assert "There is no room with this code." in page
    status, _, page = ask("/follow/%3Cb%3E")
    assert (status, "<b>" in page.lower()) == (404, False)
    for _ in range(routes.MAX_WRONG_CODES):
        status, headers, page = ask("/follow?code=NOONE")
    assert (status, headers["retry-after"], "Wait a minute" in page) == (429, "10", True)


def test_turnout_counts_voters_and_followers(room):
    address = f"/follow/{room.code}/answers"
    room.followers = 3
    assert json.loads(ask(address)[2]) == {"question": "q", "answered": 0, "followers": 3}
    for voter, choice in (("anna", 0), ("ben", 1), ("anna", 2)):
        room.answer("q", voter, choice)
    assert json.loads(ask(address)[2]) == {"question": "q", "answered": 2, "followers": 3}
    room.followers = 1  # one has left
    assert json.loads(ask(address)[2])["followers"] == 2
    room.show({})
    assert json.loads(ask(address)[2]) == {"question": None, "answered": 0, "followers": 1}
    assert ask("/follow/NOONE/answers")[0] == 404


def test_typed_answers_are_counted_by_text(room):
    room.show({}, Question("free", 1, open=True))
    given = [("anna", "8"), ("ben", "27"), ("cleo", "8"), ("ben", "9")]
    assert all(room.answer("free", voter, 0, text) for voter, text in given)
    assert room.count_texts("free") == {"8": 2, "9": 1}
    assert not room.answer("free", "dan", 0, "x" * 81)
    body = b'{"question": "free", "voter": "eve", "choice": 0, "text": 3}'
    assert ask(f"/follow/{room.code}/answers", body)[0] == 400
