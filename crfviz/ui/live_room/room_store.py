"""Rooms in PostgreSQL: the screen, the answers and the follower count of each room.

NOTIFY announces every change of a screen with the code of the room; each process then reads the
room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection, Engine, TextClause, text
from sqlalchemy.exc import SQLAlchemyError

from crfviz.annotations.store.database import (
    database_url,
    engine_of,
    explained,
    lost_connection,
    shown,
    transaction,
)
from crfviz.exceptions import StoreError
from crfviz.ui.live_room.rooms import (
    MAX_ANSWER_LENGTH,
    MAX_QUESTIONS,
    MAX_VOTER_LENGTH,
    MAX_VOTERS,
    ROOM_LIFETIME,
    Question,
)

if TYPE_CHECKING:
    from psycopg import Connection as Driver

CHANNEL = "crfviz_rooms"
# Rooms have connections of their own, apart from the annotation store. A ping before each use is
# not necessary, because work on a lost connection is repeated.
POOL = {"pool_size": 4, "max_overflow": 0, "pool_pre_ping": False}
RETRY_DELAY = 0.5  # seconds until work on a lost connection is repeated
COUNT_LIFETIME = 60.0  # seconds for which a process's stored number of followers is valid
SCHEMA_LOCK = 7_246_850  # key of an advisory lock: one process at a time creates the tables
Result = TypeVar("Result")

_TABLES = (
    """CREATE TABLE IF NOT EXISTS crfviz_rooms (
        code TEXT PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        used TIMESTAMPTZ NOT NULL DEFAULT now(),
        screen BYTEA NOT NULL,
        version INTEGER NOT NULL DEFAULT 0,
        question TEXT,
        choices INTEGER NOT NULL DEFAULT 0,
        open BOOLEAN NOT NULL DEFAULT false
    )""",
    """CREATE TABLE IF NOT EXISTS crfviz_answers (
        room TEXT REFERENCES crfviz_rooms (code) ON DELETE CASCADE,
        question TEXT,
        voter TEXT,
        choice INTEGER NOT NULL,
        given TIMESTAMPTZ NOT NULL DEFAULT now(),
        PRIMARY KEY (room, question, voter)
    )""",
    # Databases of earlier versions lack this column.
    "ALTER TABLE crfviz_answers ADD COLUMN IF NOT EXISTS text TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE IF NOT EXISTS crfviz_followers (
        room TEXT REFERENCES crfviz_rooms (code) ON DELETE CASCADE,
        process TEXT,
        number INTEGER NOT NULL,
        told TIMESTAMPTZ NOT NULL DEFAULT now(),
        PRIMARY KEY (room, process)
    )""",
)
_ALIVE = f"used > now() - make_interval(secs => {ROOM_LIFETIME})"
_NOTIFY = text(f"SELECT pg_notify('{CHANNEL}', :code)")
_NUMBER_OF_ROOMS = text("SELECT count(*) FROM crfviz_rooms")
_OPEN = text("""
    INSERT INTO crfviz_rooms (code, key, screen) VALUES (:code, :key, '{}') ON CONFLICT DO NOTHING
""")
_FIND = text(f"""
    SELECT *, extract(epoch FROM now() - used) AS age FROM crfviz_rooms
    WHERE (code = :code OR key = :key) AND {_ALIVE}
""")
_SHOW = text(f"""
    UPDATE crfviz_rooms SET screen = :screen, version = version + 1, used = now(),
        question = :question, choices = :choices, open = :open
    WHERE code = :code AND {_ALIVE} RETURNING version
""")
_DROP_OLD_ANSWERS = text("""
    DELETE FROM crfviz_answers WHERE room = :code AND question IN (
        SELECT question FROM crfviz_answers WHERE room = :code
        GROUP BY question ORDER BY max(given) DESC OFFSET :kept
    )
""")
_USE = text(f"UPDATE crfviz_rooms SET used = now() WHERE code = :code AND {_ALIVE}")
_CLOSE = text("DELETE FROM crfviz_rooms WHERE code = :code")
_PRUNE = text(f"DELETE FROM crfviz_rooms WHERE NOT {_ALIVE} RETURNING code")
# FOR SHARE locks the row of the room, so an answer and closing the question wait for each other.
_ANSWER = text(f"""
    INSERT INTO crfviz_answers (room, question, voter, choice, text)
    SELECT code, :question, :voter, :choice, :text FROM crfviz_rooms
    WHERE code = :code AND question = :question AND open AND {_ALIVE}
        AND :choice >= 0 AND :choice < choices
        AND (:voters > (
            SELECT count(*) FROM crfviz_answers WHERE room = :code AND question = :question
        ) OR EXISTS (
            SELECT FROM crfviz_answers WHERE room = :code AND question = :question
            AND voter = :voter
        ))
    FOR SHARE OF crfviz_rooms
    ON CONFLICT (room, question, voter) DO UPDATE SET
        choice = excluded.choice, text = excluded.text
""")
_CLOSE_QUESTION = text("""
    UPDATE crfviz_rooms SET open = false WHERE code = :code AND question = :question AND open
""")
_COUNT_ANSWERS = text("""
    SELECT choice, count(*) FROM crfviz_answers WHERE room = :code AND question = :question
    GROUP BY choice
""")
_COUNT_TEXTS = text("""
    SELECT text, count(*) FROM crfviz_answers WHERE room = :code AND question = :question
    GROUP BY text
""")
_STORE_FOLLOWERS = text("""
    INSERT INTO crfviz_followers (room, process, number)
    SELECT code, :process, :number FROM crfviz_rooms WHERE code = :code
    ON CONFLICT (room, process) DO UPDATE SET number = excluded.number, told = now()
""")
_COUNT_FOLLOWERS = text(f"""
    SELECT coalesce(sum(number), 0) FROM crfviz_followers
    WHERE room = :code AND process != :process
        AND told > now() - make_interval(secs => {COUNT_LIFETIME})
""")


@dataclass(frozen=True)
class StoredRoom:
    """A room as stored in the database."""

    code: str
    key: str
    screen: bytes
    version: int
    question: Question | None
    age: float  # seconds since the last use


class RoomStore:
    """The database of rooms; every method may raise a StoreError.

    Args:
        address: URL of a PostgreSQL database.
    """

    def __init__(self, address: str) -> None:
        url = database_url(address)
        self._engine: Engine = engine_of(url, POOL)
        self._place = shown(url)
        self._created = False
        self._creating = Lock()

    def open(self, code: str, key: str, most: int) -> bool | None:
        """Create a room.

        Returns:
            False if the code is taken, None if there are `most` rooms already.
        """

        def work(connection: Connection) -> bool | None:
            _prune(connection)
            if connection.execute(_NUMBER_OF_ROOMS).scalar_one() >= most:
                return None
            return connection.execute(_OPEN, {"code": code, "key": key}).rowcount == 1

        return self._run(work)

    def find(self, *, code: str | None = None, key: str | None = None) -> StoredRoom | None:
        """Return a room by its code or its key; None if there is none."""
        row = self._run(lambda c: c.execute(_FIND, {"code": code, "key": key}).mappings().first())
        if row is None:
            return None
        name = row["question"]
        question = None if name is None else Question(name, row["choices"], open=row["open"])
        screen, age = bytes(row["screen"]), float(row["age"])
        return StoredRoom(row["code"], row["key"], screen, row["version"], question, age)

    def show(self, code: str, screen: bytes, question: Question | None) -> int | None:
        """Replace the screen of a room; return its new version, None if the room is gone."""
        values = {
            "code": code,
            "screen": screen,
            "question": None if question is None else question.id,
            "choices": 0 if question is None else question.choices,
            "open": question is not None and question.open,
        }

        def work(connection: Connection) -> int | None:
            version: int | None = connection.execute(_SHOW, values).scalar()
            if version is not None:
                connection.execute(_DROP_OLD_ANSWERS, {"code": code, "kept": MAX_QUESTIONS})
                connection.execute(_NOTIFY, {"code": code})
            return version

        return self._run(work)

    def use(self, code: str) -> None:
        self._execute(_USE, code=code)

    def close(self, code: str) -> None:
        """Delete a room."""

        def work(connection: Connection) -> None:
            connection.execute(_CLOSE, {"code": code})
            connection.execute(_NOTIFY, {"code": code})

        self._run(work)

    def answer(self, code: str, question: str, voter: str, choice: int, typed: str = "") -> bool:
        """Store an answer, see `Room.answer`; it is committed on return."""
        if "\0" in question + voter + typed or not 0 < len(voter) <= MAX_VOTER_LENGTH:
            return False
        if len(typed) > MAX_ANSWER_LENGTH:
            return False
        values = {"code": code, "question": question, "voter": voter, "choice": choice}
        values |= {"text": typed}
        return self._run(lambda c: c.execute(_ANSWER, values | {"voters": MAX_VOTERS}).rowcount) > 0

    def close_question(self, code: str, question: str) -> None:
        """Close a question: further answers to it do not count."""
        self._execute(_CLOSE_QUESTION, code=code, question=question)

    def count_answers(self, code: str, question: str) -> dict[int, int]:
        """Return the number of answers by choice; choices without answers are missing."""
        values = {"code": code, "question": question}
        rows = self._run(lambda c: c.execute(_COUNT_ANSWERS, values).all())
        return dict(map(tuple, rows))

    def count_texts(self, code: str, question: str) -> dict[str, int]:
        """Return the number of answers by typed text."""
        values = {"code": code, "question": question}
        rows = self._run(lambda c: c.execute(_COUNT_TEXTS, values).all())
        return dict(map(tuple, rows))

    def store_followers(self, process: str, followers: Sequence[tuple[str, int]]) -> None:
        """Store a process's number of followers by room, valid for `COUNT_LIFETIME`."""
        values = [{"process": process, "code": code, "number": n} for code, n in followers]
        if values:
            self._run(lambda c: c.execute(_STORE_FOLLOWERS, values))

    def count_followers(self, code: str, *, without: str) -> int:
        values = {"code": code, "process": without}
        return int(self._run(lambda c: c.execute(_COUNT_FOLLOWERS, values).scalar_one()))

    def prune(self) -> None:
        self._run(_prune)

    @contextmanager
    def listening(self) -> Iterator[Driver]:
        """Open a connection of the driver that receives the codes of changed rooms."""
        driver_error = self._engine.dialect.loaded_dbapi.Error
        try:
            self._create_tables()
            raw = self._engine.raw_connection()
            # mypy: SQLAlchemy knows no driver
            driver: Driver = raw.driver_connection  # type: ignore[assignment]
            raw.detach()
            try:
                driver.autocommit = True
                driver.execute(f"LISTEN {CHANNEL}")
                yield driver
            finally:
                driver.close()
        except SQLAlchemyError as error:
            raise explained(error, self._place) from error
        except driver_error as error:
            raise StoreError(f"The store {self._place} is lost: {str(error)[:80]}") from error

    def dispose(self) -> None:
        self._engine.dispose()

    def _execute(self, statement: TextClause, **values: object) -> None:
        self._run(lambda c: c.execute(statement, values))

    def _run(self, work: Callable[[Connection], Result], tries: int = 2) -> Result:
        """Run `work` in a transaction; repeat it once if the connection was lost.

        All work in this class may therefore run twice without harm.
        """
        try:
            self._create_tables()
            with transaction(self._engine, writes=True) as connection:
                return work(connection)
        except SQLAlchemyError as error:
            if tries == 1 or not lost_connection(error):
                raise explained(error, self._place) from error
        sleep(RETRY_DELAY)
        return self._run(work, tries - 1)

    def _create_tables(self) -> None:
        if self._created:
            return
        with self._creating, transaction(self._engine, writes=True) as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SCHEMA_LOCK})
            for table in _TABLES:
                connection.execute(text(table))
            self._created = True


def _prune(connection: Connection) -> None:
    for code in connection.execute(_PRUNE).scalars().all():
        connection.execute(_NOTIFY, {"code": code})
