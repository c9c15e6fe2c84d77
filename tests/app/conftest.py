"""The app in AppTest, and programs that start in a moment."""

from multiprocessing import get_context

import pytest

from crfviz.corpus.shards import crew
from tests.support.app_pages import new_app


@pytest.fixture
def app():
    """The app in AppTest, not run yet."""
    return new_app()


@pytest.fixture
def forked_workers(forks, monkeypatch):  # noqa: ARG001 - a fixture
    """Worker processes of `crew.Processes` that are forked, not spawned: each saves two seconds."""
    monkeypatch.setattr(crew, "get_context", lambda _: get_context("forkserver"))
