"""The database of the store: SQLite or PostgreSQL at the newest schema, and its errors."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from crfviz.annotations.store.schema import VERSION, VERSION_TABLE, from_json, to_json
from crfviz.exceptions import LostStoreError, StoreError
from crfviz.settings import data_folder, settings

SAFE = "Everything that was confirmed before is safe."
LOCKED = (
    "another program keeps it locked",
    "Close that program or wait for it, then try again.",
)
MEANINGS = {  # driver message: meaning, action
    "database is locked": LOCKED,
    "lock timeout": LOCKED,
    "readonly database": (
        "it may only be read",
        "Make the file and its folder writable, then try again.",
    ),
    "disk is full": ("the disk is full", "Free some space, then try again."),
    "No space left on device": ("its disk is full", "Free some space there, then try again."),
    "disk I/O error": (
        "the disk does not take it: full, over a limit, or broken",
        "Free some space or check the disk, then try again.",
    ),
    "unable to open database file": (
        "the file cannot be opened",
        "Check that its folder exists and is writable.",
    ),
    "file is not a database": (
        "the file is no database",
        "Set CRFVIZ_DATABASE_URL to another file, or move this one away.",
    ),
    "malformed": (
        "the file is damaged",
        "Move it away and restore a copy, or `sqlite3 FILE .recover` saves what is readable.",
    ),
    "failed to resolve host": (
        "its server cannot be found",
        "Correct the host in CRFVIZ_DATABASE_URL, or check the network.",
    ),
    "does not exist": (
        "there is no such database, user or table",
        "Create it, or correct CRFVIZ_DATABASE_URL.",
    ),
    "authentication failed": (
        "the server refuses user and password",
        "Correct CRFVIZ_DATABASE_URL.",
    ),
    "permission denied": (
        "the user may not do that",
        "Grant the rights, or name another user in CRFVIZ_DATABASE_URL.",
    ),
    "no equivalent in encoding": (
        "the database does not have these letters",
        "Make one with ENCODING 'UTF8' TEMPLATE template0, and name it in CRFVIZ_DATABASE_URL.",
    ),
    "read-only transaction": ("the server only lets it be read", "Try again when it is writable."),
}
PASSING = (LOCKED[0], "it may only be read", "the server only lets it be read")
LOST = ("the connection is lost", "Check that the server runs, then try again.")
OTHER = ("the database refuses", "Nothing was changed.")

Identity = tuple[int, int]  # device and inode of a file
# access() ignores missing write permission for root
ANY_MAY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
WAIT = 15  # seconds to wait for a server or a lock: longer than an import holds it
AGAIN = 0.02  # seconds between two tries to open a new file
POOL = {"pool_size": 10, "max_overflow": 20}  # connections; threads beyond them wait for one
MIGRATING = 7_246_849  # PostgreSQL's advisory lock: one process migrates at a time
# Serialises the writers of this process: SQLite lets waiting writers sleep longer and longer.
_TURNS: WeakKeyDictionary[Engine, Lock] = WeakKeyDictionary()
_ALEMBIC = Lock()  # Alembic keeps its state in global names
FILE = "crfviz_file"  # connection info: the identity of its open file
WRITES = {"crfviz_writes": True}  # execution option of writing transactions


def database_url(url: str | None = None) -> URL:
    """Return the URL of the store: `url`, CRFVIZ_DATABASE_URL, or a file of the user."""
    given = url or settings().database_url
    given = given or f"sqlite:///{data_folder() / 'crfviz' / 'annotations.db'}"
    try:
        address = make_url(given)
    except ArgumentError as error:
        raise StoreError(
            "expected a database address such as sqlite:////home/me/annotations.db or "
            "postgresql://user@host/name in CRFVIZ_DATABASE_URL, got one that cannot be read"
        ) from error
    kind = address.drivername.partition("+")[0]
    if kind in ("postgresql", "postgres"):
        return address.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise StoreError(f"expected sqlite or postgresql in CRFVIZ_DATABASE_URL, got {kind!r}")
    if address.database in (None, "", ":memory:"):
        raise StoreError("expected a file for the annotations, got a store that lives in memory")
    return address


def connect(url: URL) -> Engine:
    """Return an engine with the tables of `schema`; create or migrate them if needed.

    Raises:
        StoreError: the driver or database is missing, not writable, or has a newer schema.
    """
    place = shown(url)
    if url.get_backend_name() == "sqlite":
        _make_folder(Path(str(url.database)).parent)
    engine = engine_of(url)
    try:
        _to_newest(engine, place)
    except BaseException as error:
        engine.dispose()
        if isinstance(error, SQLAlchemyError):
            raise explained(error, place) from error
        raise
    if engine.name == "sqlite":
        _TURNS[engine] = Lock()
        path, opened = Path(place), _identity(Path(place))
        event.listen(engine, "do_connect", lambda *_: _require_same(path, opened))
    return engine


@contextmanager
def transaction(engine: Engine, *, writes: bool) -> Iterator[Connection]:
    """Yield a connection; commit at the end, or roll back after an error.

    Raises:
        LostStoreError: nothing was committed, because the open file is no longer the one at its
            path, or is read-only.


    """
    with _turn(engine) if writes else nullcontext(), engine.connect() as connection:
        if writes:
            connection = connection.execution_options(**WRITES)
        with connection.begin():
            yield connection
            opened = connection.info.get(FILE)  # None if the URL is not a plain path
            if writes and opened is not None:
                _check_file(Path(str(engine.url.database)), opened)


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """Wait at most `WAIT` seconds for the turn to write; then SQLite reports the lock."""
    lock = _TURNS.get(engine)
    taken = lock is not None and lock.acquire(timeout=WAIT)
    try:
        yield
    finally:
        if lock is not None and taken:
            lock.release()


def shown(url: URL) -> str:
    """Return the URL without its password; for SQLite only the file."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return str(url.set(drivername="postgresql"))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the annotations go to {folder}, which cannot be made: {error.strerror}. "
            "Set CRFVIZ_DATABASE_URL to a place that is writable."
        ) from error


def engine_of(url: URL, pool: Mapping[str, int] = POOL) -> Engine:
    """Return an engine for a URL, before any query."""
    json = {"json_serializer": to_json, "json_deserializer": from_json}
    if url.get_backend_name() != "sqlite":
        wanted = {
            "connect_timeout": WAIT,
            "options": f"-c lock_timeout={WAIT}s",
            "client_encoding": "utf8",  # otherwise the driver returns bytes from an ASCII server
        }
        own = {name: value for name, value in wanted.items() if name not in url.query}
        try:
            ways = {"pool_pre_ping": True, **json, **pool}
            return create_engine(url, connect_args=own, **ways)
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreError(
                "PostgreSQL needs its driver: install it with `pip install 'crfviz[postgres]'`"
            ) from error
    engine = create_engine(url, connect_args={"timeout": WAIT}, **json, **pool)
    event.listen(engine, "connect", partial(_prepare_file, Path(str(url.database))))
    event.listen(engine, "begin", _begin)
    return engine


def _prepare_file(place: Path, connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
    """Configure a connection: commits are on disk on return, and readers never wait."""
    connection.isolation_level = None  # transactions begin in `_begin`, not in the driver
    _write_ahead(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    record.info[FILE] = _identity(place)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Enable write-ahead logging; before that, SQLite does not wait for locks of other programs.

    If several programs create one store at once, all but one get a lock error, regardless of the
    timeout.
    """
    end = monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > end:
                raise
            sleep(AGAIN)


def _check_file(place: Path, opened: Identity) -> None:
    _require_same(place, opened)
    if not os.access(place, os.W_OK) or not place.stat().st_mode & ANY_MAY_WRITE:
        raise LostStoreError(
            f"The store {place} may only be read: nothing was stored. Make the file writable; what "
            f"waits in the browser is then stored. {SAFE}"
        )


def _require_same(place: Path, opened: Identity | None) -> None:
    if _identity(place) != opened:
        what = "is another file now" if place.exists() else "was deleted or moved"
        raise LostStoreError(
            f"The store {place} {what}: nothing was stored. Put the file back that was there; what "
            f"waits in the browser is then stored. Or export what you see, then start crfviz anew."
        )


def _identity(place: Path) -> Identity | None:
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _begin(connection: Connection) -> None:
    """Begin a transaction; a writer locks at once, because it could not wait after a read."""
    writes = connection.get_execution_options().get("crfviz_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _to_newest(engine: Engine, place: str) -> None:
    with transaction(engine, writes=False) as connection:
        version = _version(connection)
    if version == VERSION:
        return
    with transaction(engine, writes=True) as connection:
        if engine.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
        version = _version(connection)
        if version is not None and (not version.isdecimal() or int(version) > int(VERSION)):
            raise StoreError(
                f"the store {place} was made by a newer crfviz (version {version} of the tables, "
                f"this program knows {VERSION}); nothing was changed. Update crfviz."
            )
        if version != VERSION:
            _migrate(connection)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "crfviz.annotations.store:migrations")
    with _ALEMBIC:
        command.upgrade(config, "head")


def explained(error: SQLAlchemyError, place: str) -> StoreError:
    """Return an error with a message and an action; `place` has no password."""
    what, advice = _meaning(error) or (LOST if lost_connection(error) else OTHER)
    kind = LostStoreError if what in PASSING else StoreError
    return kind(f"The store {place} failed: {what} ({_said(error)}). {advice} {SAFE}")


def lost_connection(error: SQLAlchemyError) -> bool:
    """Return whether the connection was lost; a retry may reach the server again."""
    if not isinstance(error, DBAPIError) or _meaning(error):
        return False
    return error.connection_invalidated or "connection" in _said(error)


def _meaning(error: SQLAlchemyError) -> tuple[str, str] | None:
    said = str(error)
    return next((meaning for words, meaning in MEANINGS.items() if words in said), None)


def _said(error: SQLAlchemyError) -> str:
    """Return the driver's message in one line."""
    return " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
