"""The room backend: the memory of this process, or PostgreSQL shared by several processes.

With PostgreSQL, each process has a `SharedRoom` for every room that it was asked for, with the
followers that are connected to the process. Changes are written to the database, which notifies a
listening thread of each process.

While the database is unavailable, a screen is sent to the followers of the same process, and
written later. Answers are rejected, and the phone sends them again.
"""

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from threading import Event, Lock, Thread

from crfviz.annotations.store.database import database_url
from crfviz.exceptions import StoreError
from crfviz.settings import settings
from crfviz.ui.live_room.room_store import COUNT_LIFETIME, RoomStore, StoredRoom
from crfviz.ui.live_room.rooms import (
    MAX_ROOMS,
    ROOM_LIFETIME,
    Question,
    Room,
    Rooms,
    encoded,
    new_code,
    normalise_code,
    too_many_rooms,
)

POLL_INTERVAL = 5.0  # seconds between two checks for expired rooms and changed followers
RETRY_DELAY = 1.0  # seconds until the next attempt to reach the database
USE_INTERVAL = 60.0  # seconds after which a room with an unchanged screen is marked as used

_log = logging.getLogger(__name__)


@cache
def rooms() -> Rooms:
    """Return the room backend that the settings select.

    The default is the database of the annotations if that is PostgreSQL, else the memory of this
    process.

    Raises:
        StoreError: the database of the rooms cannot be used.
    """
    place, address = settings().rooms, settings().database_url
    if place:
        return Rooms() if place == "process" else SharedRooms(place)
    try:
        if address and database_url(address).get_backend_name() == "postgresql":
            return SharedRooms(address)
    except StoreError as error:  # labelling reports it; rooms do not need the store
        _log.warning("rooms are kept in this process alone: %s", error)
    return Rooms()


@dataclass
class SharedRoom(Room):
    """The copy of a shared room in one process, with the followers of that process."""

    store: RoomStore = field(kw_only=True)
    process: str = field(kw_only=True)
    unsent: bool = False  # whether the screen is not in the database yet
    _marked: float = 0.0  # time of the last write to the database, which marks the room as used
    _sending: Lock = field(default_factory=Lock)

    def show(self, screen: Mapping[str, object], question: Question | None = None) -> None:
        """Send a screen to the followers in all processes."""
        message = encoded(screen)
        with self._lock:
            same = message == self.screen and question == self.question
            self.used = self.clock()
            if not same:
                self.screen, self.question, self.unsent = message, question, True
                self.version += 1
        if not same:
            self._wake()
        if self.unsent or self.clock() - self._marked >= USE_INTERVAL:
            self.send()

    def send(self) -> None:
        """Write the screen to the database; if that fails, the screen stays marked as unsent."""
        with self._sending:  # otherwise an older screen could be written last
            with self._lock:
                screen, question, unsent = self.screen, self.question, self.unsent
            try:
                if unsent:
                    version = self.store.show(self.code, screen, question)
                    self._sent(screen, question, version)
                else:
                    self.store.use(self.code)
            except StoreError as error:
                _log.warning("a screen waits for the database: %s", error)
            else:
                self._marked = self.clock()

    def _sent(self, screen: bytes, question: Question | None, version: int | None) -> None:
        with self._lock:
            if (screen, question) == (self.screen, self.question):
                self.unsent = False
                self.version = self.version if version is None else version

    def take(self, stored: StoredRoom) -> None:
        """Apply the state of the database, unless this process has a newer screen."""
        with self._lock:
            if self.unsent or stored.version < self.version:
                return
            is_new = stored.version > self.version
            self.key, self.used = stored.key, self.clock() - stored.age
            self.screen, self.version = stored.screen, stored.version
            self.question = stored.question
        if is_new:
            self._wake()

    def answer(self, question: str, voter: str, choice: int, text: str = "") -> bool:
        """Count an answer, as `Room.answer` does; it is stored when this returns.

        Raises:
            StoreError: the database is unavailable; send the answer again.
        """
        return self.store.answer(self.code, question, voter, choice, text)

    def reveal(self, question: str, choices: int) -> list[int]:
        self.store.close_question(self.code, question)
        return self.count_answers(question, choices)

    def count_answers(self, question: str, choices: int) -> list[int]:
        answers = self.store.count_answers(self.code, question)
        return [answers.get(choice, 0) for choice in range(choices)]

    def count_texts(self, question: str) -> dict[str, int]:
        return self.store.count_texts(self.code, question)

    def is_over(self) -> bool:
        return self.gone

    def count_followers(self) -> int:
        """Return the number of followers in all processes."""
        try:
            return self.followers + self.store.count_followers(self.code, without=self.process)
        except StoreError:
            return self.followers


class SharedRooms(Rooms):
    """The rooms that all processes with the same PostgreSQL database share."""

    blocking = True

    def __init__(self, address: str) -> None:
        super().__init__()
        self._store = RoomStore(address)
        self._process = secrets.token_urlsafe(9)
        self._shared: dict[str, SharedRoom] = {}
        self._listener: Thread | None = None
        self._ended = Event()
        self._stored_followers: dict[str, int] = {}
        self._stored_at = -COUNT_LIFETIME

    def open(self) -> Room:
        """Open a room.

        Raises:
            CrfvizError: there are too many rooms.
            StoreError: the database is unavailable.
        """
        created: bool | None = False
        code = ""
        while created is False:
            code = new_code()
            created = self._store.open(code, secrets.token_urlsafe(16), MAX_ROOMS)
        room = self._load(code) if created else None
        if room is None:
            raise too_many_rooms()
        return room

    def find(self, code: str) -> Room | None:
        """Return the room of a typed code; None if there is none.

        Raises:
            StoreError: the database is unavailable, and this process does not know the room.
        """
        name = normalise_code(code)
        if not name.isalnum():
            return None
        with self._lock:
            room = self._shared.get(name)
        if room is not None and self._clock() - room.used < ROOM_LIFETIME:
            return room
        return self._load(name)

    def led_by(self, key: str) -> Room | None:
        """Return the room of a speaker's key; None if there is none.

        Raises:
            StoreError: the database is unavailable.
        """
        stored = None if "\0" in key else self._store.find(key=key)
        return None if stored is None else self._load(stored.code)

    def close(self, code: str) -> None:
        self._store.close(code)
        self._drop(code)

    def end(self) -> None:
        """Stop listening, and close all connections."""
        self._ended.set()
        if self._listener is not None:
            self._listener.join()
        self._store.dispose()

    def known(self) -> list[Room]:
        with self._lock:
            return list(self._shared.values())

    def _load(self, code: str) -> SharedRoom | None:
        """Return the room with the state in the database; None if the database has none."""
        stored = self._store.find(code=code)
        if stored is None:
            self._drop(code)
            return None
        with self._lock:
            is_new = code not in self._shared
            if is_new:
                self._shared[code] = SharedRoom(
                    code, stored.key, self._clock, store=self._store, process=self._process
                )
            room = self._shared[code]
            if self._listener is None:
                self._listener = Thread(target=self._listen, name="rooms", daemon=True)
                self._listener.start()
        room.take(stored)
        if is_new:  # read again: a change before this process listened was not notified
            self._refresh(code)
        return room

    def _drop(self, code: str) -> None:
        with self._lock:
            room = self._shared.pop(code, None)
        if room is not None:
            room.close()

    def _refresh(self, code: str) -> None:
        if code in self._shared:
            self._load(code)

    def _listen(self) -> None:
        """Apply notified changes until `end`; after a lost connection read all rooms again."""
        while not self._ended.is_set():
            try:
                with self._store.listening() as driver:
                    for room in self.known():
                        self._refresh(room.code)
                    while not self._ended.is_set():
                        for notice in driver.notifies(timeout=POLL_INTERVAL):
                            self._refresh(notice.payload)
                            if self._ended.is_set():
                                break
                        self._poll()
            except StoreError as error:
                _log.warning("rooms wait for their database: %s", error)
                self._ended.wait(RETRY_DELAY)

    def _poll(self) -> None:
        """Send waiting screens, drop expired rooms, and store the numbers of followers."""
        expired = self._clock() - ROOM_LIFETIME
        with self._lock:
            rooms = list(self._shared.values())
        for room in rooms:
            if room.unsent:
                room.send()
            elif room.used <= expired:
                self._refresh(room.code)
        self._store.prune()
        followers = {room.code: room.followers for room in rooms}
        is_due = self._clock() - self._stored_at >= COUNT_LIFETIME / 2 and any(followers.values())
        if is_due or followers != self._stored_followers:
            self._store.store_followers(self._process, sorted(followers.items()))
            self._stored_followers, self._stored_at = followers, self._clock()
