"""The app in AppTest, and programs that start in a moment."""

from multiprocessing import get_context

import pytest

from crfviz.corpus.shards import workers
from tests.support.app_pages import new_app


@pytest.fixture
def app():
    """The app in AppTest, not run yet."""
    return new_app()


@pytest.fixture
def forked_workers(forks, monkeypatch):  # noqa: ARG001 - a fixture
    """Fork the processes of `workers.ProcessPool` instead of spawning: two seconds less each."""
    monkeypatch.setattr(workers, "get_context", lambda _: get_context("forkserver"))
