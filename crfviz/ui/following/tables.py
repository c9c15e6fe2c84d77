"""Rooms in PostgreSQL, for servers of several processes: what is on the screen, and the answers.

Whatever changes is told to all processes by NOTIFY, with the code of the room; they then read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Engine,
    ForeignKey,
    Integer,
    Interval,
    LargeBinary,
    MetaData,
    Row,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.sql.dml import ReturningInsert

from crfviz.annotations.store.database import database_url, engine_of, shown, transaction
from crfviz.annotations.store.failures import explained, lost_connection
from crfviz.exceptions import StoreError
from crfviz.ui.following.rooms import (
    HOUR,
    LONGEST_VOTER,
    MOST_QUESTIONS,
    MOST_VOTERS,
    Question,
)

if TYPE_CHECKING:
    from psycopg import Connection as Driver

CHANNEL = "crfviz_rooms"
# Connections of a process, beside those of the store. None is tried before it is used: what is lost
# is asked again.
POOL = {"pool_size": 4, "max_overflow": 0, "pool_pre_ping": False}
PAUSE = 0.5  # seconds before a lost server is asked once more
COUNTED = 60.0  # seconds that a process's number of followers holds
MAKING = 7_246_850  # PostgreSQL's advisory lock: one process makes the tables at a time
Result = TypeVar("Result")

TABLES = MetaData()
ROOMS = Table(
    "crfviz_rooms",
    TABLES,
    Column("code", Text, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("used", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("screen", LargeBinary, nullable=False),
    Column("version", Integer, nullable=False, server_default="0"),
    Column("question", Text),
    Column("choices", Integer, nullable=False, server_default="0"),
    Column("open", Boolean, nullable=False, server_default=text("false")),
)
ANSWERS = Table(
    "crfviz_answers",
    TABLES,
    Column("room", ForeignKey(ROOMS.c.code, ondelete="CASCADE"), primary_key=True),
    Column("question", Text, primary_key=True),
    Column("voter", Text, primary_key=True),
    Column("choice", Integer, nullable=False),
    Column("given", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
FOLLOWERS = Table(
    "crfviz_followers",
    TABLES,
    Column("room", ForeignKey(ROOMS.c.code, ondelete="CASCADE"), primary_key=True),
    Column("process", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("told", DateTime(timezone=True), nullable=False, server_default=func.now()),
)


@dataclass(frozen=True)
class Shown:
    """What a room shows."""

    code: str
    key: str
    screen: bytes
    version: int
    question: Question | None
    age: float  # seconds since it was used


class RoomTables:
    """The rooms of all processes that have one database; every method may raise a StoreError.

    Args:
        address: of a PostgreSQL database.
    """

    def __init__(self, address: str) -> None:
        url = database_url(address)
        self._engine: Engine = engine_of(url, POOL)
        self._place = shown(url)
        self._made = False
        self._making = Lock()

    def open(self, code: str, key: str, most: int) -> bool | None:
        """Make a room; False: there is one of that code; None: there are too many."""

        def work(connection: Connection) -> bool | None:
            self._prune(connection)
            if connection.execute(select(func.count()).select_from(ROOMS)).scalar_one() >= most:
                return None
            try:
                with connection.begin_nested():
                    connection.execute(insert(ROOMS).values(code=code, key=key, screen=b"{}"))
            except IntegrityError:
                return False
            return True

        return self._run(work)

    def find(self, *, code: str | None = None, key: str | None = None) -> Shown | None:
        """A room by its code or its key; None where there is none, or no longer."""
        wanted = ROOMS.c.code == code if key is None else ROOMS.c.key == key
        age = func.extract("epoch", func.now() - ROOMS.c.used).label("age")
        query = select(ROOMS, age).where(wanted, _alive())
        row = self._run(lambda c: c.execute(query).first())
        return None if row is None else _shown(row)

    def show(self, code: str, screen: bytes, question: Question | None) -> int | None:
        """Another screen; its version, None where the room is gone."""
        values = {
            "screen": screen,
            "version": ROOMS.c.version + 1,
            "used": func.now(),
            "question": None if question is None else question.id,
            "choices": 0 if question is None else question.choices,
            "open": question is not None and question.open,
        }
        changed = update(ROOMS).where(ROOMS.c.code == code, _alive()).values(values)

        def work(connection: Connection) -> int | None:
            version = connection.execute(changed.returning(ROOMS.c.version)).scalar()
            if version is not None:
                _forget_answers(connection, code)
                _tell(connection, [code])
            return version

        return self._run(work)

    def use(self, code: str) -> None:
        """The room has an hour more."""
        used = update(ROOMS).where(ROOMS.c.code == code, _alive()).values(used=func.now())
        self._run(lambda c: c.execute(used))

    def close(self, code: str) -> None:
        """End a room."""

        def work(connection: Connection) -> None:
            connection.execute(delete(ROOMS).where(ROOMS.c.code == code))
            _tell(connection, [code])

        self._run(work)

    def answer(self, code: str, question: str, voter: str, choice: int) -> bool:
        """Count an answer, see `Room.answer`; when it returns, the answer is on the disk."""
        if "\0" in question + voter or not 0 < len(voter) <= LONGEST_VOTER:
            return False
        given = {"code": code, "asked": question, "by": voter, "chosen": choice}
        return self._run(lambda c: c.execute(_COUNT, given).first() is not None)

    def end_question(self, code: str, question: str) -> None:
        """No answer counts from now on."""
        asked = and_(ROOMS.c.code == code, ROOMS.c.question == question, ROOMS.c.open)
        self._run(lambda c: c.execute(update(ROOMS).where(asked).values(open=False)))

    def tally(self, code: str, question: str) -> dict[int, int]:
        """How many gave each answer that somebody gave."""
        query = (
            select(ANSWERS.c.choice, func.count().label("number"))
            .where(ANSWERS.c.room == code, ANSWERS.c.question == question)
            .group_by(ANSWERS.c.choice)
        )
        return {each.choice: each.number for each in self._run(lambda c: c.execute(query).all())}

    def count_here(self, process: str, followers: Sequence[tuple[str, int]]) -> None:
        """How many follow each room in one process; holds for `COUNTED`."""

        def work(connection: Connection) -> None:
            for code, number in followers:
                there = select(ROOMS.c.code, literal(process), literal(number)).where(
                    ROOMS.c.code == code
                )
                new = insert(FOLLOWERS).from_select(["room", "process", "number"], there)
                connection.execute(
                    new.on_conflict_do_update(
                        index_elements=["room", "process"],
                        set_={"number": new.excluded.number, "told": func.now()},
                    )
                )

        self._run(work)

    def followers(self, code: str, *, but: str) -> int:
        """How many follow a room in other processes than one."""
        query = select(func.coalesce(func.sum(FOLLOWERS.c.number), 0)).where(
            FOLLOWERS.c.room == code,
            FOLLOWERS.c.process != but,
            FOLLOWERS.c.told > func.now() - _seconds(COUNTED),
        )
        return int(self._run(lambda c: c.execute(query).scalar_one()))

    def prune(self) -> None:
        """Take away the rooms whose hour is over."""
        self._run(self._prune)

    @contextmanager
    def listening(self) -> Iterator[Driver]:
        """A connection of the driver's on which codes of changed rooms arrive."""
        with self._explained():
            self._make()
            raw = self._engine.raw_connection()
            driver: Driver = raw.driver_connection  # type: ignore[assignment]
            raw.detach()
            try:
                driver.autocommit = True
                driver.execute(f"LISTEN {CHANNEL}")
                yield driver
            finally:
                driver.close()

    def dispose(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    def _prune(self, connection: Connection) -> None:
        gone = connection.execute(delete(ROOMS).where(not_(_alive())).returning(ROOMS.c.code))
        _tell(connection, gone.scalars().all())

    def _run(self, work: Callable[[Connection], Result], tries: int = 2) -> Result:
        """Do something in a transaction of its own; once more if the server was lost.

        Whatever is done here can be done twice.
        """
        try:
            self._make()
            with transaction(self._engine, writes=True) as connection:
                return work(connection)
        except SQLAlchemyError as error:
            if tries == 1 or not lost_connection(error):
                raise explained(error, self._place) from error
        sleep(PAUSE)
        return self._run(work, tries - 1)

    def _make(self) -> None:
        """Make the tables, where this process is the first that needs them."""
        if self._made:
            return
        with self._making, transaction(self._engine, writes=True) as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MAKING})
            TABLES.create_all(connection)
            self._made = True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        driver = self._engine.dialect.loaded_dbapi.Error
        try:
            yield
        except SQLAlchemyError as error:
            raise explained(error, self._place) from error
        except driver as error:
            raise StoreError(f"The store {self._place} is lost: {str(error)[:80]}") from error


def _seconds(number: float) -> ColumnElement[object]:
    return func.make_interval(0, 0, 0, 0, 0, 0, number, type_=Interval)


def _alive() -> ColumnElement[bool]:
    return ROOMS.c.used > func.now() - _seconds(HOUR)


def _shown(row: Row[tuple[object, ...]]) -> Shown:
    cells = row._mapping
    asked = cells["question"]
    question = None if asked is None else Question(asked, cells["choices"], open=cells["open"])
    screen, version = bytes(cells["screen"]), cells["version"]
    return Shown(cells["code"], cells["key"], screen, version, question, float(cells["age"]))


def _forget_answers(connection: Connection, code: str) -> None:
    """Keep those of the newest questions."""
    here = ANSWERS.c.room == code
    newest = (
        select(ANSWERS.c.question)
        .where(here)
        .group_by(ANSWERS.c.question)
        .order_by(func.max(ANSWERS.c.given).desc())
        .offset(MOST_QUESTIONS)
    )
    connection.execute(delete(ANSWERS).where(here, ANSWERS.c.question.in_(newest)))


def _tell(connection: Connection, codes: Sequence[str]) -> None:
    for code in codes:
        connection.execute(select(func.pg_notify(CHANNEL, code)))


def _counted() -> ReturningInsert[str]:
    """The statement that counts an answer; made once, as that takes longer than to send it.

    It holds the row of the room: who ends the question waits, or is waited for.
    """
    code, asked, voter = (bindparam(name, type_=Text) for name in ("code", "asked", "by"))
    choice = bindparam("chosen", type_=Integer)
    of = and_(ANSWERS.c.room == code, ANSWERS.c.question == asked)
    number = select(func.count()).select_from(ANSWERS).where(of).scalar_subquery()
    known = exists().where(of, ANSWERS.c.voter == voter)
    taken = (
        select(ROOMS.c.code, asked, voter, choice)
        .where(
            ROOMS.c.code == code,
            ROOMS.c.question == asked,
            ROOMS.c.open,
            _alive(),
            ROOMS.c.choices > choice,
            choice >= 0,
            or_(known, number < bindparam("most", callable_=lambda: MOST_VOTERS, type_=Integer)),
        )
        .with_for_update(read=True, of=ROOMS)
    )
    new = insert(ANSWERS).from_select(["room", "question", "voter", "choice"], taken)
    return new.on_conflict_do_update(
        index_elements=["room", "question", "voter"], set_={"choice": new.excluded.choice}
    ).returning(ANSWERS.c.voter)


_COUNT = _counted()
