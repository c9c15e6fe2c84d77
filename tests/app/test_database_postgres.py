"""PostgreSQL databases: migrations, and encodings that are not UTF-8."""

import pytest
from alembic import command
from sqlalchemy import create_engine

from crfviz.annotations.records import Item
from crfviz.annotations.store.database import database_url
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import StoreError
from tests.unit.annotations.test_database import DUMP, assert_migrated, check_old, scripts


@pytest.fixture
def old_server(cluster):
    """A server's database of version 1, with the rows of the file."""
    url = cluster.create("old")
    engine = create_engine(database_url(url))
    lines = DUMP.read_text("utf-8").splitlines()
    tables = ("documents", "items", "annotations")
    rows = [line for table in tables for line in lines if f'INTO "crfviz_{table}"' in line]
    with engine.begin() as connection:
        command.upgrade(scripts(connection), "1")
        for row in rows:
            connection.exec_driver_sql(row)
    engine.dispose()
    return url


def test_version_1_server_is_migrated_with_all_rows(old_server):
    check_old(old_server)


def test_migrations_create_the_tables_of_the_schema(cluster):
    assert_migrated(cluster.create("migrated"))


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_server_without_utf_8_stores_its_own_letters(cluster, encoding):
    with open_store(cluster.create(encoding.lower(), encoding)) as store:
        store.add("été", [Item("Où est-il ?", ((0, 2), (3, 9), (10, 11)))])
        assert store.documents()[0].name == "été"


def test_letters_outside_the_database_encoding_are_rejected(cluster):
    with open_store(cluster.create("latin", "LATIN1")) as store:
        with pytest.raises(StoreError, match=r"does not have these letters.*ENCODING 'UTF8'"):
            store.add("日本", [Item("日本", ((0, 2),))])
        assert store.documents() == []
