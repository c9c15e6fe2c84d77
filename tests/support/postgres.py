"""A throw-away PostgreSQL cluster on loopback; without its programs tests are skipped."""

import os

import pytest

from deploy import postgres


class Cluster(postgres.Cluster):
    """One server with its data in a folder of its own."""

    def __init__(self):
        try:
            super().__init__()
        except FileNotFoundError as error:
            if os.environ.get("CRFVIZ_REQUIRE_POSTGRES"):
                raise
            pytest.skip(str(error))
