"""Rooms that several server processes share, so that who follows may sit on any of them.

Each process keeps of every room that it was asked for a `Room` of its own, in which its followers
sit. What changes is written to the database, which tells all processes; a thread of each listens.
While the database is away, a screen is shown to those who follow in the same process, and written
when it is back; an answer is refused, and the telephone tells it again.
"""

import json
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic

from crfviz.exceptions import StoreError
from crfviz.ui.following.rooms import HOUR, MOST_ROOMS, Question, Room, Rooms, code_of, new_code
from crfviz.ui.following.tables import COUNTED, RoomTables, Shown

TICK = 5.0  # seconds between two looks after hours that are over and followers to be counted
AGAIN = 1.0  # seconds until a lost database is asked again
USED = 60.0  # seconds after which a room that shows the same is said to be used

_log = logging.getLogger(__name__)


@dataclass
class SharedRoom(Room):
    """What one process has of a room."""

    tables: RoomTables = field(kw_only=True)
    process: str = field(kw_only=True)
    unsent: bool = False  # whether others have still to be told of the screen
    _said: float = 0.0  # when it was last said to be used
    _sending: Lock = field(default_factory=Lock)

    def show(self, screen: Mapping[str, object], question: Question | None = None) -> None:
        """Give all who follow another screen, in all processes."""
        told = json.dumps(screen, separators=(",", ":")).encode()
        with self._lock:
            same = told == self.screen and question == self.question
            self.used = self.clock()
        if not same:
            with self._lock:
                self.screen, self.question, self.unsent = told, question, True
                self.version += 1
            self._wake()
        if self.unsent or self.clock() - self._said >= USED:
            self.send()

    def send(self) -> None:
        """Tell the others what is on the screen, if they can be told."""
        with self._sending:  # or an older screen could be written last
            with self._lock:
                screen, question, unsent = self.screen, self.question, self.unsent
            try:
                if unsent:
                    version = self.tables.show(self.code, screen, question)
                    self._sent(screen, question, version)
                else:
                    self.tables.use(self.code)
            except StoreError as error:
                _log.warning("a screen waits for the database: %s", error)
            else:
                self._said = self.clock()

    def _sent(self, screen: bytes, question: Question | None, version: int | None) -> None:
        with self._lock:
            if (screen, question) == (self.screen, self.question):
                self.unsent = False
                self.version = self.version if version is None else version

    def take(self, shown: Shown) -> None:
        """What another process shows; its own screen that nobody knows yet is newer."""
        with self._lock:
            if self.unsent or shown.version < self.version:
                return
            news = shown.version > self.version
            self.key, self.used = shown.key, self.clock() - shown.age
            self.screen, self.version = shown.screen, shown.version
            self.question = shown.question
        if news:
            self._wake()

    def answer(self, question: str, voter: str, choice: int) -> bool:
        """Count an answer; when it returns, the answer is stored.

        Raises:
            StoreError: the database is away: it is to be told again.
        """
        return self.tables.answer(self.code, question, voter, choice)

    def reveal(self, question: str, choices: int) -> list[int]:
        """How many gave each answer; from now on no other counts."""
        self.tables.end_question(self.code, question)
        return self.tally(question, choices)

    def tally(self, question: str, choices: int) -> list[int]:
        """How many gave each answer, wherever they follow."""
        given = self.tables.tally(self.code, question)
        return [given.get(choice, 0) for choice in range(choices)]

    def over(self) -> bool:
        """Whether it is gone; the database alone knows when it was last used."""
        return self.gone

    def crowd(self) -> int:
        """How many follow, here and elsewhere."""
        try:
            return self.followers + self.tables.followers(self.code, but=self.process)
        except StoreError:
            return self.followers


class SharedRooms(Rooms):
    """The rooms of all processes with one database.

    Args:
        address: of the PostgreSQL database.
    """

    waits = True

    def __init__(self, address: str, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(clock)
        self._tables = RoomTables(address)
        self._process = secrets.token_urlsafe(9)
        self._here: dict[str, SharedRoom] = {}
        self._guard = Lock()
        self._listener: Thread | None = None
        self._ended = Event()
        self._counted: dict[str, int] = {}
        self._counted_at = -COUNTED

    def open(self) -> Room:
        """A new room.

        Raises:
            CrfvizError: there are as many as these servers take.
            StoreError: the database is away.
        """
        made: bool | None = False
        code = key = ""
        while made is False:
            code, key = new_code(), secrets.token_urlsafe(16)
            made = self._tables.open(code, key, MOST_ROOMS)
        room = self._known(code) if made else None
        if room is None:
            raise self._too_many()
        return room

    def find(self, code: str) -> Room | None:
        """The room of a code; None where there is none, or no longer.

        Raises:
            StoreError: the database is away, and this process does not know the room.
        """
        name = code_of(code)
        if not name.isalnum():
            return None
        with self._guard:
            here = self._here.get(name)
        if here is not None and self._clock() - here.used < HOUR:
            return here
        return self._known(name)

    def led_by(self, key: str) -> Room | None:
        """The room that somebody with this key leads; None where there is none, or no longer.

        Raises:
            StoreError: the database is away.
        """
        if "\0" in key:
            return None
        found = self._tables.find(key=key)
        return None if found is None else self._known(found.code)

    def close(self, code: str) -> None:
        """End a room, if there is one, for all processes."""
        self._tables.close(code)
        self._drop(code)

    def end(self) -> None:
        """Listen no more, and give all connections back."""
        self._ended.set()
        if self._listener is not None:
            self._listener.join()
        self._tables.dispose()

    def _known(self, code: str) -> SharedRoom | None:
        """A room as the database has it now, kept from now on."""
        shown = self._tables.find(code=code)
        if shown is None:
            self._drop(code)
            return None
        with self._guard:
            known = code in self._here
            if not known:
                self._here[code] = SharedRoom(
                    code, shown.key, self._clock, tables=self._tables, process=self._process
                )
            room = self._here[code]
            if self._listener is None:
                self._listener = Thread(target=self._listen, name="rooms", daemon=True)
                self._listener.start()
        room.take(shown)
        if not known:  # what was told between the look and now was told to nobody here
            self._refresh(code)
        return room

    def _drop(self, code: str) -> None:
        with self._guard:
            room = self._here.pop(code, None)
        if room is not None:
            room.close()

    def _refresh(self, code: str) -> None:
        with self._guard:
            room = self._here.get(code)
        if room is None:
            return
        shown = self._tables.find(code=code)
        if shown is None:
            self._drop(code)
        else:
            room.take(shown)

    def _listen(self) -> None:
        """Hear of changes, until the end; look after what was missed when the database is back."""
        while not self._ended.is_set():
            try:
                with self._tables.listening() as driver:
                    for room in self.here():
                        self._refresh(room.code)
                    while not self._ended.is_set():
                        for told in driver.notifies(timeout=TICK):
                            self._refresh(told.payload)
                            if self._ended.is_set():
                                break
                        self._tick()
            except StoreError as error:
                _log.warning("rooms wait for their database: %s", error)
                self._ended.wait(AGAIN)

    def _tick(self) -> None:
        """What is to be done now and then."""
        old = self._clock() - HOUR
        with self._guard:
            rooms = list(self._here.values())
        for room in rooms:
            if room.unsent:
                room.send()
            elif room.used <= old:
                self._refresh(room.code)
        self._tables.prune()
        self._count(rooms)

    def _count(self, rooms: list[SharedRoom]) -> None:
        followers = {room.code: room.followers for room in rooms}
        due = self._clock() - self._counted_at >= COUNTED / 2 and any(followers.values())
        if due or followers != self._counted:
            self._tables.count_here(self._process, sorted(followers.items()))
            self._counted, self._counted_at = followers, self._clock()

    def here(self) -> list[Room]:
        """Those that this process knows."""
        with self._guard:
            return list(self._here.values())
