"""Connections to the annotation store: how many a server holds, and when it closes them."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from benchmarks.serving import running_app
from crfviz.annotations.records import Item
from crfviz.annotations.store.database import POOL
from crfviz.annotations.store.store import close_stores, open_store
from tests.support.forked_server import fork
from tests.support.replicas import Session

SESSIONS, AT_ONCE = 50, 10
CLOSES_WITHIN = 30  # seconds; the server closes after the last session, not at once


def open_files(pid, path):
    """How many descriptors of a process point to a file."""
    number = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            number += link.readlink() == Path(path)
    return number


async def visit(app, document):
    """Open fifty sessions of a document, ten at a time, end them; return the most connections."""
    most = 0
    for _ in range(SESSIONS // AT_ONCE):
        sessions = [
            Session(app.url, "annotate", {"model": "upos-en-contextfree", "v.doc": document})
            for _ in range(AT_ONCE)
        ]
        await asyncio.gather(*(session.__aenter__() for session in sessions))
        await asyncio.gather(*(session.open() for session in sessions))
        most = max(most, open_files(app.pid, app.database.removeprefix("sqlite:///")))
        await asyncio.gather(*(session.__aexit__(None, None, None) for session in sessions))
    return most


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc")
def test_server_has_no_connections_after_fifty_sessions(tmp_path):
    with running_app(tmp_path / "server.log", start=fork) as app:
        file = app.database.removeprefix("sqlite:///")
        with open_store(app.database) as store:
            store.add("dogs", [Item("Dogs run .", ((0, 4), (5, 8), (9, 10)))])
            (document,) = store.documents()
        with ThreadPoolExecutor(1) as thread:  # this one may have Playwright's event loop
            most = thread.submit(asyncio.run, visit(app, document.key)).result()
        assert 0 < most <= POOL["pool_size"] + POOL["max_overflow"]
        end = time.monotonic() + CLOSES_WITHIN
        while (left := open_files(app.pid, file)) and time.monotonic() < end:
            time.sleep(0.05)
        assert left == 0


def test_close_waits_for_a_running_transaction(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/annotations.db")
    began, go_on = Event(), Event()

    def work(connection):
        began.set()
        assert go_on.wait(CLOSES_WITHIN)
        return connection.exec_driver_sql("SELECT 1").scalar()

    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(store._run, work)
        assert began.wait(CLOSES_WITHIN)
        close_stores()
        assert store._engine.pool.checkedout() == 1
        go_on.set()
        assert result.result() == 1
    assert store._engine.pool.checkedin() == 0


def test_closed_store_reconnects(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/annotations.db")
    close_stores()
    assert store.documents() == []
    assert 0 < store._engine.pool.checkedin() <= POOL["pool_size"]
    store.close()
