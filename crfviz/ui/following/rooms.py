"""Rooms: the screen of one who leads, the many who follow it, and what they answer.

A room is known by a short code and lives in this process alone; `shared` has those of several.
Script threads lead, the server's event loop follows: who follows is given the newest screen, never
those in between, so that a slow telephone holds nobody up and costs a reference to the screen that
all share.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from threading import Lock
from time import monotonic

from crfviz.exceptions import CrfvizError

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without those that are read as another
LONGEST_CODE = 5
HOUR = 3600.0  # seconds without a new screen, after which a room is gone
MOST_ROOMS = 100
MOST_FOLLOWERS = 500  # of a room
MOST_VOTERS = 2000  # of a question
LONGEST_VOTER = 64  # characters
MOST_QUESTIONS = 50  # of a room, whose answers are kept
STILL_HERE = 15.0  # seconds after which a proxy is told that the line is open


@dataclass(frozen=True)
class Question:
    """What is asked now."""

    id: str
    choices: int  # how many there are
    open: bool  # whether answers still count


@dataclass
class Room:
    """One screen that is followed. Its methods may be called from any thread."""

    code: str
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))  # of who leads
    clock: Callable[[], float] = monotonic
    used: float = 0.0  # when it had a new screen
    gone: bool = False
    screen: bytes = b"{}"  # the newest, as JSON
    version: int = 0
    followers: int = 0
    question: Question | None = None
    _answers: dict[str, dict[str, int]] = field(default_factory=dict)  # by question and voter
    _lock: Lock = field(default_factory=Lock)
    _loop: asyncio.AbstractEventLoop | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.used = self.clock()

    def show(self, screen: Mapping[str, object], question: Question | None = None) -> None:
        """Give all who follow another screen; the same one once more is none."""
        told = json.dumps(screen, separators=(",", ":")).encode()
        with self._lock:
            self.used = self.clock()
            self.question = question
            if told == self.screen:
                return
            self.screen = told
            self.version += 1
        self._wake()

    def close(self) -> None:
        """Send everybody home."""
        self.gone = True
        self._wake()

    def answer(self, question: str, voter: str, choice: int) -> bool:
        """Count an answer; another one of the same voter takes its place.

        Returns:
            Whether it counts: the question is the one asked now, open, and has that choice.
        """
        with self._lock:
            asked = self.question
            if asked is None or not asked.open or asked.id != question:
                return False
            if not 0 <= choice < asked.choices or not 0 < len(voter) <= LONGEST_VOTER:
                return False
            given = self._answers.setdefault(question, {})
            if voter not in given and len(given) >= MOST_VOTERS:
                return False
            given[voter] = choice
            while len(self._answers) > MOST_QUESTIONS:
                del self._answers[next(iter(self._answers))]
            return True

    def reveal(self, question: str, choices: int) -> list[int]:
        """How many gave each answer; from now on no other counts."""
        with self._lock:
            if self.question is not None and self.question.id == question:
                self.question = replace(self.question, open=False)
        return self.tally(question, choices)

    def tally(self, question: str, choices: int) -> list[int]:
        """How many gave each answer."""
        with self._lock:
            given = list(self._answers.get(question, {}).values())
        return [given.count(choice) for choice in range(choices)]

    def over(self) -> bool:
        """Whether it is gone, or its hour is over."""
        return self.gone or self.clock() - self.used >= HOUR

    def crowd(self) -> int:
        """How many follow."""
        return self.followers

    async def screens(self) -> AsyncIterator[bytes]:
        """The screen as it is and as it becomes, as events of an event stream, until it is over.

        Raises:
            CrfvizError: too many follow already.
        """
        if self.followers >= MOST_FOLLOWERS:
            raise CrfvizError(f"expected at most {MOST_FOLLOWERS} who follow one room")
        self._loop = asyncio.get_running_loop()
        self.followers += 1
        seen = -1
        try:
            while not self.over():
                changed = self._changed
                if seen != self.version:
                    with self._lock:
                        seen, screen = self.version, self.screen
                    yield b"id: %d\ndata: %b\n\n" % (seen, screen)
                    continue
                try:
                    await asyncio.wait_for(changed.wait(), STILL_HERE)
                except TimeoutError:
                    yield b": still here\n\n"
            yield b"event: over\ndata: {}\n\n"
        finally:
            self.followers -= 1

    def _wake(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Rooms:
    """The rooms of a server."""

    waits = False  # whether what is asked of it and of its rooms may take a while

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._lock = Lock()

    def open(self) -> Room:
        """A new room.

        Raises:
            CrfvizError: there are as many as this server takes.
        """
        with self._lock:
            self._sweep()
            if len(self._rooms) >= MOST_ROOMS:
                raise self._too_many()
            code = new_code()
            while code in self._rooms:
                code = new_code()
            room = self._rooms[code] = Room(code, clock=self._clock)
            return room

    def find(self, code: str) -> Room | None:
        """The room of a code, as somebody types it; None where there is none, or no longer."""
        with self._lock:
            self._sweep()
            return self._rooms.get(code_of(code))

    def led_by(self, key: str) -> Room | None:
        """The room that somebody with this key leads; None where there is none, or no longer."""
        with self._lock:
            self._sweep()
            return next((room for room in self._rooms.values() if room.key == key), None)

    def close(self, code: str) -> None:
        """End a room, if there is one."""
        with self._lock:
            room = self._rooms.pop(code, None)
        if room is not None:
            room.close()

    def here(self) -> list[Room]:
        """Those that this process knows."""
        with self._lock:
            return list(self._rooms.values())

    def _too_many(self) -> CrfvizError:
        return CrfvizError(f"This server already has {MOST_ROOMS} live rooms. Try again later.")

    def _sweep(self) -> None:
        for code in [code for code, room in self._rooms.items() if room.over()]:
            self._rooms.pop(code).close()


def code_of(typed: str) -> str:
    """A code as rooms have it, from what somebody types."""
    return typed.strip().upper()[:LONGEST_CODE]


def new_code() -> str:
    """A code that nobody can guess at the first try."""
    return "".join(secrets.choice(LETTERS) for _ in range(LONGEST_CODE))


def question_id(*parts: object) -> str:
    """A name for a question: the same for the same question, another for any other."""
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]
