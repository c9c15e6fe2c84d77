"""Live rooms: the screen of a speaker, its followers and their answers.

A room has a short code, and lives in the memory of this process; `room_backend` shares rooms
between processes. Script threads write screens, and the server's event loop sends them. A follower
gets only the newest screen, so a slow phone delays nobody.
"""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from threading import Lock
from time import monotonic

from crfviz.exceptions import CrfvizError

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # of codes, without similar ones such as 0 and O
CODE_LENGTH = 5
ROOM_LIFETIME = 3600.0  # seconds without use after which a room is closed
MAX_ROOMS = 100
MAX_FOLLOWERS = 500  # per room
MAX_VOTERS = 2000  # per question
MAX_VOTER_LENGTH = 64  # characters of a voter's id
MAX_QUESTIONS = 50  # questions per room whose answers are stored
MAX_ANSWER_LENGTH = 80  # characters of a typed answer
KEEP_ALIVE = 15.0  # seconds between two comments that keep a proxy from closing the stream


@dataclass(frozen=True)
class Question:
    """The question on the screen of a room."""

    id: str
    choices: int  # number of choices; 1 if the answer is typed
    open: bool  # whether answers count


@dataclass(frozen=True)
class Turnout:
    """How many followers have answered a question."""

    question: Question | None  # on the screen
    answered: int
    of: int  # followers, or answers if some followers have left


@dataclass
class Room:
    """One screen with its followers. Its methods are thread-safe."""

    code: str
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))  # the speaker's secret
    clock: Callable[[], float] = monotonic
    used: float = 0.0  # time of the last screen, changed or not
    gone: bool = False  # whether the room was closed
    screen: bytes = b"{}"  # JSON
    version: int = 0  # number of changes of the screen
    followers: int = 0  # number of open streams in this process
    question: Question | None = None
    # by question and voter: the choice, and the typed text
    _answers: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _loop: asyncio.AbstractEventLoop | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.used = self.clock()

    def show(self, screen: Mapping[str, object], question: Question | None = None) -> None:
        """Set the question, and send a screen to all followers if it differs from the last one."""
        message = encoded(screen)
        with self._lock:
            self.used = self.clock()
            self.question = question
            if message == self.screen:
                return
            self.screen = message
            self.version += 1
        self._wake()

    def close(self) -> None:
        self.gone = True
        self._wake()

    def answer(self, question: str, voter: str, choice: int, text: str = "") -> bool:
        """Count an answer; it replaces an earlier one of the same voter.

        Args:
            question: its id.
            voter: a name that only this voter has.
            choice: index of the choice; 0 if the answer is typed.
            text: the typed answer.

        Returns:
            Whether the answer counts: its question is on the screen, open, and has that choice, and
        the limit of voters is not reached.
        """
        with self._lock:
            current = self.question
            if current is None or not current.open or current.id != question:
                return False
            if not 0 <= choice < current.choices or not 0 < len(voter) <= MAX_VOTER_LENGTH:
                return False
            if len(text) > MAX_ANSWER_LENGTH:
                return False
            answers = self._answers.setdefault(question, {})
            if voter not in answers and len(answers) >= MAX_VOTERS:
                return False
            answers[voter] = choice, text
            while len(self._answers) > MAX_QUESTIONS:
                del self._answers[next(iter(self._answers))]
            return True

    def reveal(self, question: str, choices: int) -> list[int]:
        """Close a question, and return the number of answers by choice."""
        with self._lock:
            if self.question is not None and self.question.id == question:
                self.question = replace(self.question, open=False)
        return self.count_answers(question, choices)

    def count_answers(self, question: str, choices: int) -> list[int]:
        """Return the number of answers by choice."""
        with self._lock:
            answers = [choice for choice, _ in self._answers.get(question, {}).values()]
        return [answers.count(choice) for choice in range(choices)]

    def count_texts(self, question: str) -> dict[str, int]:
        with self._lock:
            return Counter(text for _, text in self._answers.get(question, {}).values())

    def turnout(self) -> Turnout:
        """Return how many followers have answered the question on the screen."""
        with self._lock:
            question = self.question
        answered = sum(self.count_answers(question.id, question.choices)) if question else 0
        return Turnout(question, answered, max(answered, self.count_followers()))

    def is_over(self) -> bool:
        return self.gone or self.clock() - self.used >= ROOM_LIFETIME

    def count_followers(self) -> int:
        return self.followers

    async def screens(self) -> AsyncIterator[bytes]:
        """Yield the current and later screens as server-sent events, until the room is over.

        Raises:
            CrfvizError: the room is full.
        """
        if self.followers >= MAX_FOLLOWERS:
            raise CrfvizError(f"expected at most {MAX_FOLLOWERS} followers of a room")
        self._loop = asyncio.get_running_loop()
        self.followers += 1
        seen = -1
        try:
            while not self.is_over():
                changed = self._changed
                if seen != self.version:
                    with self._lock:
                        seen, screen = self.version, self.screen
                    yield b"id: %d\ndata: %b\n\n" % (seen, screen)
                    continue
                try:
                    await asyncio.wait_for(changed.wait(), KEEP_ALIVE)
                except TimeoutError:
                    yield b": still here\n\n"
            yield b"event: over\ndata: {}\n\n"
        finally:
            self.followers -= 1

    def _wake(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set_changed)

    def _set_changed(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Rooms:
    """The rooms of one process."""

    blocking = False  # whether calls may wait for a database

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._lock = Lock()

    def end(self) -> None:
        """Release the resources of the rooms when the server stops."""

    def open(self) -> Room:
        """Open a room.

        Raises:
            CrfvizError: there are too many rooms.
        """
        with self._lock:
            self._sweep()
            if len(self._rooms) >= MAX_ROOMS:
                raise too_many_rooms()
            code = new_code()
            while code in self._rooms:
                code = new_code()
            room = self._rooms[code] = Room(code, clock=self._clock)
            return room

    def find(self, code: str) -> Room | None:
        """Return the room with this typed code; None if there is none."""
        with self._lock:
            self._sweep()
            return self._rooms.get(normalise_code(code))

    def led_by(self, key: str) -> Room | None:
        """Return the room with this speaker's key; None if there is none."""
        with self._lock:
            self._sweep()
            return next((room for room in self._rooms.values() if room.key == key), None)

    def close(self, code: str) -> None:
        """Close a room, if there is one."""
        with self._lock:
            room = self._rooms.pop(code, None)
        if room is not None:
            room.close()

    def known(self) -> list[Room]:
        with self._lock:
            return list(self._rooms.values())

    def _sweep(self) -> None:
        for code in [code for code, room in self._rooms.items() if room.is_over()]:
            self._rooms.pop(code).close()


def encoded(screen: Mapping[str, object]) -> bytes:
    return json.dumps(screen, separators=(",", ":")).encode()


def too_many_rooms() -> CrfvizError:
    return CrfvizError(f"This server already has {MAX_ROOMS} live rooms. Try again later.")


def normalise_code(typed: str) -> str:
    """Return a typed code stripped, in upper case, and cut to `CODE_LENGTH`."""
    return typed.strip().upper()[:CODE_LENGTH]


def new_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def question_id(*parts: object) -> str:
    """Return a digest that identifies a question."""
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]
