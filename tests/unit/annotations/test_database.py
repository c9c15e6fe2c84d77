"""Where the store is, how it is opened, and how an older one becomes a new one."""

import json
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from crfviz.annotations.files.exporting import SUFFIXES, render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store import database
from crfviz.annotations.store.database import database_url
from crfviz.annotations.store.schema import TABLES, VERSION, VERSION_TABLE
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import LostStoreError, StoreError
from tests.support.paths import FIXTURES

FIXTURES = FIXTURES / "annotations"
DUMP = FIXTURES / "version_1.sql"
OFFSETS = ((0, 4), (5, 6))
BEN = "ben | 50 %"
MODELS = ("upos-en-contextfree", "ner-en")  # of the documents of version 2


@pytest.fixture
def old(tmp_path):
    """A file of version 1."""
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(DUMP.read_text(encoding="utf-8"))
    connection.close()
    return path


def scripts(connection=None):
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "crfviz.annotations.store:migrations")
    return config


def check_old(url):
    """Everything of the first version is there, and can be worked on."""
    with open_store(url) as store:
        first, second = store.items("news.txt")
        assert first == Item(
            "Kim saw Oslo", ((0, 3), (4, 7), (8, 12)), document="news.txt", id=1, position=0
        )
        assert second == Item("Café ☕", OFFSETS, ("NOUN", "SYM"), "news.txt", position=1, id=2)
        found = store.annotation(2, "anna")
        assert found == Annotation(
            2,
            "anna",
            OFFSETS,
            proposed=("NOUN", "X"),
            final=("NOUN", "SYM"),
            pins={1: "SYM"},
            state="done",
            model="upos-en",
            model_version="1f",
            revision=3,
            seconds=0.0,
            created=datetime(2026, 11, 20, 9, 1, tzinfo=UTC),
            updated=datetime(2026, 11, 20, 9, 2, 30, 250_000, tzinfo=UTC),
            past=(),
        )
        assert store.save(found).revision == 4
        (document,) = store.documents()
        assert (document.tags, document.model) == (None, "upos-en")


def test_version_1_store_is_migrated_with_all_rows(old):
    check_old(f"sqlite:///{old}")
    check_old_again = sqlite3.connect(old)
    assert check_old_again.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [
        (VERSION,)
    ]
    check_old_again.close()


@pytest.fixture(params=["version_2", "version_3"])
def version(request):
    """A store that an older crfviz wrote.

    Two documents and one that was removed, two annotators, sentences that are accepted, corrected,
    undone and reopened, entities and words split in another way; tests/fixtures/annotations holds
    its records and exports as they were then.
    """
    return request.param


@pytest.fixture
def labelled(tmp_path, version):
    connection = sqlite3.connect(tmp_path / "labelled.db")
    connection.executescript((FIXTURES / f"{version}.sql").read_text(encoding="utf-8"))
    connection.close()
    with open_store(f"sqlite:///{tmp_path}/labelled.db") as store:
        yield store


def test_records_of_an_older_store_are_read(labelled, version):
    names = [document.name for document in labelled.documents()]
    annotators = labelled.annotators()
    records = {
        "documents": [asdict(document) for document in labelled.documents()],
        "items": {name: [asdict(item) for item in labelled.items(name)] for name in names},
        "annotations": [asdict(annotation) for _, annotation in labelled.annotations()],
        "annotators": annotators,
        "progress": {
            name: {who: asdict(labelled.progress(name, who)) for who in labelled.annotators(name)}
            for name in names
        },
    }
    then = json.loads((FIXTURES / f"{version}.records.json").read_text(encoding="utf-8"))
    if version == "version_2":
        for document, model in zip(then["documents"], MODELS, strict=True):
            document |= {"tags": None, "model": model}
        then["progress"]["news.txt"][BEN]["open"] = 0  # what was undone whole counted as begun
    for document in then["documents"]:
        tags, model = document.pop("tags"), document.pop("model")
        looks = {"keys": {}, "colours": {}, "tokenizer": "", "proposes_gold": False}
        looks["right_names"] = []
        document["settings"] = {"tags": tags, "model": model, **looks}
    for item in (item for items in then["items"].values() for item in items):
        item["settings"] = None
    for annotation in then["annotations"]:
        annotation["curation"] = None
    assert json.loads(json.dumps(records, default=datetime.isoformat)) == then


@pytest.mark.parametrize("file_format", [name for name in SUFFIXES if name != "jsonl"])
def test_exports_of_an_older_store_are_unchanged_byte_by_byte(
    labelled, version, file_format, tmp_path
):
    then = (FIXTURES / f"{version}{SUFFIXES[file_format]}").read_bytes()
    assert render(labelled.annotations(), file_format).encode() == then
    read = read_items(then, "a file")
    assert read.problems == []
    with open_store(f"sqlite:///{tmp_path}/again.db") as again:
        assert keep(again, read) == ["news.txt", "tweets.conll"]
        assert render(again.annotations(), file_format).encode() == then


def test_older_jsonl_export_is_read_and_keeps_its_values(labelled, version, tmp_path):
    then = (FIXTURES / f"{version}.jsonl").read_bytes()
    now = render(labelled.annotations(), "jsonl")
    for before, row in zip(then.split(b"\n")[:-1], now.split("\n")[:-1], strict=True):
        old, new = json.loads(before), json.loads(row)
        pins = {str(position): tag for position, tag in enumerate(new.pop("pins")) if tag}
        assert old.items() <= {**new, "pins": pins}.items()
    read = read_items(then, "a file")
    assert read.problems == []
    with open_store(f"sqlite:///{tmp_path}/again.db") as again:
        assert keep(again, read) == ["news.txt", "tweets.conll"]
        assert render(again.annotations(), "jsonl") == now


def test_older_store_can_be_edited_after_migration(labelled):
    _, begun = labelled.annotations(state="open")[0]
    assert labelled.save(begun).revision == begun.revision + 1
    assert labelled.add("gone.txt", [Item("Back", ((0, 4),))]) == "gone.txt"
    ids = [number for name in ("news.txt", "tweets.conll") for number in labelled.item_ids(name)]
    assert labelled.item_ids("gone.txt")[0] > max(ids)


def test_failed_migration_keeps_the_old_version(old, monkeypatch):
    before = dump(old)
    monkeypatch.setattr("alembic.op.add_column", fail)
    with pytest.raises(OSError, match="pulled"):
        open_store(f"sqlite:///{old}")
    assert dump(old) == before
    monkeypatch.undo()
    check_old(f"sqlite:///{old}")


def fail(*_):
    raise OSError("the plug is pulled")


def dump(path):
    connection = sqlite3.connect(path)
    lines = list(connection.iterdump())
    connection.close()
    return lines


def assert_migrated(url):
    """The migrations make the tables of the schema."""
    assert ScriptDirectory.from_config(scripts()).get_heads() == [VERSION]
    open_store(url).close()
    engine = create_engine(database_url(url))
    with engine.connect() as connection:
        options = {"compare_type": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, TABLES) == []
    engine.dispose()


def test_migrations_create_the_tables_of_the_schema(tmp_path):
    assert_migrated(f"sqlite:///{tmp_path}/new.db")


@pytest.mark.parametrize("version", ["7", "12", "later"])
def test_store_of_a_newer_version_is_rejected_unchanged(tmp_path, version):
    url = f"sqlite:///{tmp_path}/new.db"
    open_store(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'"))
    engine.dispose()
    with pytest.raises(StoreError, match=f"newer crfviz .version {version} .*Update crfviz"):
        open_store(url)


def test_sqlite_settings_survive_a_power_loss(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/a.db") as store, store._engine.connect() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,  # FULL
        "foreign_keys": 1,
        "busy_timeout": 15_000,
    }


def test_store_location_is_read_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("CRFVIZ_DATABASE_URL", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with open_store() as store:
        assert store.place == str(tmp_path / "data" / "crfviz" / "annotations.db")
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    with open_store() as store:
        assert store.place == str(tmp_path / "other.db")
    monkeypatch.delenv("CRFVIZ_DATABASE_URL")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/kim")
    assert database_url().database == "/home/kim/.local/share/crfviz/annotations.db"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert database_url().database == "/home/kim/.local/share/crfviz/annotations.db"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("annotations.db", "expected a database address such as"),
        ("mysql://host/name", "expected sqlite or postgresql in CRFVIZ_DATABASE_URL, got 'mysql'"),
        ("sqlite://", "expected a file for the annotations"),
        ("sqlite:///:memory:", "expected a file for the annotations"),
        ("sqlite:////dev/null/a.db", "the annotations go to /dev/null, which cannot be made"),
    ],
)
def test_invalid_database_url_is_rejected(url, message):
    with pytest.raises(StoreError, match=message):
        open_store(url)


def test_password_is_hidden_in_errors():
    with pytest.raises(StoreError, match=r"postgresql://kim:\*\*\*@127.0.0.1:1/x failed") as error:
        open_store("postgres://kim:secret@127.0.0.1:1/x")
    assert "secret" not in str(error.value)


def test_missing_driver_is_named_in_the_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'crfviz\[postgres\]'"):
        open_store("postgresql://kim@127.0.0.1:1/x")


def test_stores_can_be_created_concurrently(tmp_path):
    def make(number):
        with open_store(f"sqlite:///{tmp_path}/{number}.db") as store:
            return store.documents()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(make, range(24))) == [[]] * 24


class Made:
    """A connection to a file that another program is making: locked for so many tries."""

    def __init__(self, tries, code=sqlite3.SQLITE_BUSY):
        self.tries, self.code, self.done = tries, code, []

    def execute(self, statement):
        if self.tries:
            self.tries -= 1
            error = sqlite3.OperationalError("not now")
            error.sqlite_errorcode = self.code
            raise error
        self.done.append(statement)


def test_locked_new_file_is_retried(monkeypatch):
    monkeypatch.setattr(database, "AGAIN", 0.0)
    made = Made(3)
    database._write_ahead(made)
    assert made.done == ["PRAGMA journal_mode=WAL"]
    with pytest.raises(sqlite3.OperationalError):
        database._write_ahead(Made(1, sqlite3.SQLITE_CORRUPT))
    monkeypatch.setattr(database, "WAIT", -1)
    with pytest.raises(sqlite3.OperationalError):
        database._write_ahead(Made(1))


def test_store_locked_by_another_program_raises_after_the_timeout(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "WAIT", 0.05)
    file = tmp_path / "annotations.db"
    with open_store(f"sqlite:///{file}") as store:
        store.add("news", [Item("Kim", ((0, 3),))])
        (item,) = store.item_ids("news")
        said = Annotation(item, "anna", ((0, 3),), ("X",), ("X",))
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LostStoreError, match="another program keeps it locked"):
            store.save(said)
        other.execute("ROLLBACK")
        other.close()
        assert store.save(said).revision == 1
