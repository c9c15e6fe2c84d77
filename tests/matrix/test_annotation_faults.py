"""What happens to the store when everything else goes wrong: nothing confirmed is ever lost."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from crfviz.annotations.records import Item
from crfviz.annotations.store import database
from crfviz.annotations.store import store as store_module
from crfviz.annotations.store.database import database_url, transaction
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import ConflictError, LostStoreError, StoreError
from tests.support.saving_worker import OFFSETS, TEXT, correction, work

KILLS = 20
SAFE = "Everything that was confirmed before is safe"
NOBODY = 65534


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/annotations.db"
    return request.getfixturevalue("cluster").create("faults")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "annotations.db"


def filled(url, sentences=1):
    """A new store with one document."""
    store = open_store(url)
    store.add("a", [Item(TEXT, OFFSETS)] * sentences)
    return store


def save_until_refused(store, item):
    """The last annotation that was confirmed, and why the next was not."""
    confirmed = store.annotation(item, "anna")
    for _ in range(10_000):
        revision = 0 if confirmed is None else confirmed.revision
        try:
            confirmed = store.save(replace(correction(item, revision + 1), revision=revision))
        except StoreError as error:
            return confirmed, str(error)
    raise AssertionError("nothing was refused")


@pytest.mark.usefixtures("forks")
def test_store_killed_twenty_times_keeps_everything_confirmed(url):
    context = get_context("forkserver")  # a process starts in milliseconds
    chance = random.Random(7)
    with filled(url) as store:
        (item,) = store.item_ids("a")
    stored, confirmed_in_all = 0, 0
    for number in range(KILLS):
        reader, writer = context.Pipe(duplex=False)
        worker = context.Process(target=work, args=(url, item, writer))
        worker.start()
        writer.close()
        if number % 10:  # else it may die while it opens the store
            assert reader.poll(60)
        time.sleep(chance.uniform(0, 0.03))  # not to wait: the moment of the kill
        worker.kill()
        worker.join()
        worker.close()
        confirmed = stored
        try:
            while True:
                confirmed = reader.recv()
                confirmed_in_all += 1
        except EOFError:
            reader.close()
        if url.startswith("sqlite"):
            check = sqlite3.connect(url.removeprefix("sqlite:///"))
            assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            check.close()
        with open_store(url) as store:
            kept = store.annotation(item, "anna")
        stored = 0 if kept is None else kept.revision
        assert confirmed <= stored
        assert kept is None or kept == replace(
            correction(item, stored), revision=stored, created=kept.created, updated=kept.updated
        )
    assert confirmed_in_all >= KILLS - KILLS // 10  # as many as were waited for


def test_full_disk_loses_nothing(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        with filled(f"sqlite:///{disk}/a.db") as store:
            (item,) = store.item_ids("a")
            confirmed, said = save_until_refused(store, item)
            assert "the disk is full" in said
            assert SAFE in said
            assert store.annotation(item, "anna") == confirmed
            subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
            assert store.save(confirmed).revision == confirmed.revision + 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_file_size_limit_loses_nothing(file):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with filled(f"sqlite:///{file}") as store:
        (item,) = store.item_ids("a")
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
        try:
            confirmed, said = save_until_refused(store, item)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "the disk does not take it" in said
        assert SAFE in said
        assert store.annotation(item, "anna") == confirmed
        assert store.save(confirmed).revision == confirmed.revision + 1


@contextmanager
def as_nobody():
    """Without the rights of root, to whom no file is read-only."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("mode", [0o444, 0o000], ids=["read-only", "unreadable"])
def test_read_only_file_is_reported(mode):
    folder = Path(tempfile.mkdtemp())  # that of pytest is closed to nobody
    try:
        file = folder / "a.db"
        filled(f"sqlite:///{file}").close()
        before = file.read_bytes()
        file.chmod(mode)
        folder.chmod(0o555)
        with as_nobody(), pytest.raises(StoreError, match=rf"{file} failed: .*{SAFE}") as error:
            open_store(f"sqlite:///{file}")
        assert says_one_of(error, "it may only be read", "the file cannot be opened")
        assert file.read_bytes() == before
    finally:
        shutil.rmtree(folder)


def says_one_of(error, *reasons):
    return any(reason in str(error.value) for reason in reasons)


def test_deleted_file_rejects_saves_until_restored(file):
    with filled(f"sqlite:///{file}") as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 0))
        away = file.rename(file.with_name("away"))
        with pytest.raises(LostStoreError, match=f"{file} was deleted or moved: nothing was"):
            store.save(saved)
        with pytest.raises(LostStoreError):
            store.add("b", [Item(TEXT, OFFSETS)])
        assert not file.exists()
        assert store.annotation(item, "anna") == saved  # what is open can be read and exported
        away.rename(file)
        assert store.save(saved).revision == 2


def test_replaced_file_is_not_written(file):
    with filled(f"sqlite:///{file}") as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 0))
        copy = file.with_name("copy")
        shutil.copy(file, copy)
        copy.replace(file)
        with pytest.raises(LostStoreError, match=f"{file} is another file now: nothing was"):
            store.save(saved)
        store.close()  # a new connection would find the other file
        with pytest.raises(LostStoreError):
            store.annotation(item, "anna")


def test_sqlite_uri_is_written(file, monkeypatch):
    monkeypatch.chdir(file.parent)  # the folder is made for what looks like a path
    with filled(f"sqlite:///file:{file}?uri=true") as store:
        (item,) = store.item_ids("a")
        assert store.save(correction(item, 0)).revision == 1


def test_file_that_became_read_only_rejects_saves(file):
    with filled(f"sqlite:///{file}") as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 0))
        file.chmod(0o444)
        with pytest.raises(LostStoreError, match=f"{file} may only be read: .*{SAFE}"):
            store.save(saved)
        file.chmod(0o644)
        assert store.save(saved).revision == 2


LOCKING = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


def test_file_locked_by_another_program_is_readable_and_later_writable(file, monkeypatch):
    monkeypatch.setattr(database, "WAIT", 0.2)
    with filled(f"sqlite:///{file}") as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 0))
        command = [sys.executable, "-c", LOCKING, str(file)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout.readline() == "locked\n"
            with pytest.raises(LostStoreError, match=f"another program keeps it locked .*{SAFE}"):
                store.save(saved)
            assert store.annotation(item, "anna") == saved
        assert store.save(saved).revision == 2


def test_table_locked_by_another_program_is_readable_and_later_writable(cluster, monkeypatch):
    monkeypatch.setattr(database, "WAIT", 1)
    url = cluster.create("locked")
    other = create_engine(database_url(url))
    with filled(url) as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 0))
        with other.begin() as connection:
            connection.execute(text("LOCK TABLE crfviz_annotations IN EXCLUSIVE MODE"))
            with pytest.raises(LostStoreError, match=f"another program keeps it locked .*{SAFE}"):
                store.save(saved)
            assert store.annotation(item, "anna") == saved
        assert store.save(saved).revision == 2
    other.dispose()


class Annotator(Thread):
    """Saves one sentence again and again, through every failure."""

    def __init__(self, store, item):
        super().__init__()
        self.store, self.item = store, item
        self.confirmed = store.save(correction(item, 0))
        self.working = True

    def run(self):
        while self.working:
            try:
                self.confirmed = self.store.save(self.confirmed)
            except ConflictError:  # it was stored, but both answers were lost
                stored = self.store.annotation(self.item, "anna")
                assert stored.revision == self.confirmed.revision + 1
                self.confirmed = stored
            except StoreError:
                time.sleep(0.05)

    def finish(self):
        self.working = False
        self.join()
        return self.confirmed


def wait_for_more(annotators):
    """Until each of them has stored something new."""
    deadline = time.monotonic() + 120
    before = [annotator.confirmed.revision for annotator in annotators]
    for annotator, revision in zip(annotators, before, strict=True):
        while annotator.confirmed.revision == revision:
            assert time.monotonic() < deadline, "an annotator cannot work any more"
            time.sleep(0.01)


@pytest.mark.parametrize("how", ["fast", "immediate"])  # asked to stop, and killed
def test_server_restart_loses_nothing(cluster, how):
    url = cluster.create("restarted")
    with filled(url, sentences=3) as store:
        annotators = [Annotator(store, item) for item in store.item_ids("a")]
        for annotator in annotators:
            annotator.start()
        for _ in range(3):
            wait_for_more(annotators)
            cluster.stop(how)
            cluster.start()
        wait_for_more(annotators)
        for annotator in annotators:
            confirmed = annotator.finish()
            assert store.annotation(annotator.item, "anna") == confirmed


def test_stopped_server_is_reported_and_reconnected(cluster, monkeypatch):
    monkeypatch.setattr(store_module, "PAUSE", 0)
    url = cluster.create("gone")
    with filled(url) as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 0))
        cluster.stop()
        try:
            with pytest.raises(StoreError, match=f"the connection is lost .*{SAFE}"):
                store.save(saved)
        finally:
            cluster.start()
        assert store.save(saved).revision == 2
    with pytest.raises(StoreError, match="there is no such database"):
        open_store(cluster.url("nowhere"))


def test_commit_with_a_lost_response_is_neither_repeated_nor_a_conflict(url, monkeypatch):
    lost = iter([True, False, True, False])

    @contextmanager
    def losing(engine, *, writes):
        with transaction(engine, writes=writes) as connection:
            yield connection
        if writes and next(lost):
            raise OperationalError("COMMIT", {}, OSError("connection lost"))

    with filled(url) as store:
        (item,) = store.item_ids("a")
        monkeypatch.setattr(database, "transaction", losing)
        monkeypatch.setattr(store_module, "PAUSE", 0)
        first = store.save(correction(item, 0))
        second = store.save(first)
        assert (first.revision, second.revision) == (1, 2)
        assert store.annotation(item, "anna") == second
        assert list(lost) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Dear diary, " * 1000, "the file is no database"),
        (None, "the file cannot be opened"),
    ],
    ids=["text", "folder"],
)
def test_file_that_is_not_a_database_is_left_unchanged(file, content, message):
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(StoreError, match=message):
        open_store(f"sqlite:///{file}")
    assert file.is_dir() or file.read_bytes() == content


def test_damaged_file_is_reported(file):
    filled(f"sqlite:///{file}", sentences=1000).close()
    content = file.read_bytes()
    file.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with (
        pytest.raises(StoreError, match=r"the file is damaged .*restore a copy"),
        open_store(f"sqlite:///{file}") as store,
    ):
        store.items("a")


@pytest.mark.parametrize(
    ("table", "column", "cell"),
    [
        ("crfviz_annotations", "pins", '{"%s": "X"}' % ("1" * 5000)),
        ("crfviz_annotations", "offsets", "[[0]]"),
        ("crfviz_annotations", "state", "gone"),
        ("crfviz_items", "gold", "[7]"),
        ("crfviz_documents", "tags", "5"),
        ("crfviz_documents", "tags", "[5]"),
        ("crfviz_documents", "tags", "["),
    ],
)
def test_cell_damaged_by_another_program_is_reported(file, table, column, cell):
    with filled(f"sqlite:///{file}") as store:
        (item,) = store.item_ids("a")
        saved = store.save(correction(item, 1))
        with closing(sqlite3.connect(file)) as other, other:
            other.execute(f"UPDATE {table} SET {column} = ?", [cell])
        readers = [lambda: list(store.annotations())]
        if table == "crfviz_documents":
            readers = [store.documents, lambda: store.save(saved, ["X"])]
        for read in readers:
            with pytest.raises(StoreError, match=rf"damaged by another program: its {column}"):
                read()


def test_empty_file_becomes_a_store(file):
    file.touch()
    with filled(f"sqlite:///{file}") as store:
        assert [d.sentences for d in store.documents()] == [1]
