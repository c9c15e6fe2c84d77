"""The app in AppTest, and programs that start in a moment."""

import pytest

from crfviz.corpus import worker_process
from crfviz.corpus.shards import workers
from tests.support.app_pages import new_app
from tests.support.forked_server import ForkingSubprocess, forking


@pytest.fixture
def app():
    """The app in AppTest, not run yet."""
    return new_app()


@pytest.fixture
def forked_workers(monkeypatch):
    """Fork worker processes instead of starting Python: two seconds less each."""
    monkeypatch.setattr(worker_process, "subprocess", ForkingSubprocess)
    monkeypatch.setattr(workers, "START_METHOD", "forkserver")
    with forking():
        yield
