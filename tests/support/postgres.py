"""A temporary PostgreSQL cluster on loopback; tests are skipped if PostgreSQL is missing."""

import os
from itertools import count

import pytest
from psycopg import connect

from deploy import postgres

ALONE = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""


class Cluster(postgres.Cluster):
    """One server with a temporary data folder, deleted with all databases at the end."""

    def __init__(self):
        self._numbers, self._emptied = count(), None
        try:
            super().__init__()
        except FileNotFoundError as error:
            if os.environ.get("CRFVIZ_REQUIRE_POSTGRES"):
                raise
            pytest.skip(str(error))

    def create(self, database, encoding="UTF8"):
        """Create a database with a unique name; return its URL."""
        return super().create(f"{database}_{next(self._numbers)}", encoding)

    def empty(self):
        """Return the URL of a database without tables; reused, because dropping one is slow."""
        if self._emptied is None:
            self._emptied = self.create("emptied")
        with connect(self._emptied, autocommit=True) as connection:
            connection.execute(ALONE)
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        return self._emptied
