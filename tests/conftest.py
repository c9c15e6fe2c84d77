"""Hypothesis profiles shared by all tests, and empty places for models and annotations."""

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.state import session_state_proxy
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

from crfviz.ui.session.kept import KEPT
from tests.app_pages import new_app
from tests.forked_server import forking
from tests.postgres import Cluster

HERE = Path(__file__).resolve().parent
collect_ignore = ["warm.py"]  # to look for examples in it would load all models in every worker

settings.register_profile("fast", max_examples=10, deadline=None)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Tensors of one sentence are so small that threads only wait, and several workers share the cores.
torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # of processes that tests start
os.environ["CRFVIZ_COMPILED"] = "off"  # a second for each of them; test_compiled.py has it on

# While tests are collected, too: some are made for every model there is.
_own = tempfile.TemporaryDirectory()
os.environ["CRFVIZ_USER_MODELS"] = f"{_own.name}/models"
os.environ["CRFVIZ_DATABASE_URL"] = f"sqlite:///{_own.name}/annotations.db"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is there once all is imported stays: the collector looks at what tests leave."""
    gc.disable()
    result = yield
    gc.enable()
    gc.freeze()
    return result


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE and "app" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.app)
    # What takes longest begins first, so that no worker is left alone with it in the end.
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def app():
    """The app in AppTest, not run yet."""
    return new_app()


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL server of our own; skips without its programs, see `tests.postgres`."""
    server = Cluster()
    yield server
    server.remove()


@pytest.fixture
def forks():
    """See `tests.forked_server.forking`."""
    with forking():
        yield


class Interrupted(SessionState):
    """Streamlit's session while the browser asks for another run."""

    asked = True


@pytest.fixture
def asked_again(monkeypatch):
    """A session in which every look-up ends the callback, as another run has been asked for.

    Returns what lies below that, for tests to fill.
    """
    state = Interrupted()
    state[KEPT] = {}

    def end():
        if state.asked:
            raise StopException

    guarded = SafeSessionState(state, yield_callback=end)
    monkeypatch.setattr(session_state_proxy, "get_session_state", lambda: guarded)
    return state


@pytest.fixture(scope="module")
def labelling_benchmark():
    """The modules of `benchmarks/` with annotators and with documents for them."""
    benchmarks = str(HERE.parent / "benchmarks")
    sys.path.insert(0, benchmarks)
    try:
        import annotators
        import documents

        yield annotators, documents
    finally:
        sys.path.remove(benchmarks)
