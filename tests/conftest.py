"""Hypothesis profiles shared by all tests, and empty places for models and annotations."""

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

from crfviz.ui.session import KEPT
from tests.postgres import Cluster

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Tensors of one sentence are so small that threads only wait, and several workers share the cores.
torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # of processes that tests start

# While tests are collected, too: some are made for every model there is.
_own = tempfile.TemporaryDirectory()
os.environ["CRFVIZ_USER_MODELS"] = f"{_own.name}/models"
os.environ["CRFVIZ_DATABASE_URL"] = f"sqlite:///{_own.name}/annotations.db"


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL server of our own; skips without its programs, see `tests.postgres`."""
    server = Cluster()
    yield server
    server.remove()


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
    benchmarks = str(Path(__file__).resolve().parents[1] / "benchmarks")
    sys.path.insert(0, benchmarks)
    try:
        import annotators
        import documents

        yield annotators, documents
    finally:
        sys.path.remove(benchmarks)
