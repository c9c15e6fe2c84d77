"""Hypothesis profiles, empty places for models and annotations, and which tests run."""

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from crfviz.settings import settings as crfviz_settings

pytest.register_assert_rewrite("tests.support")  # so that its assertions, too, say what they saw

from tests.support import rotation  # noqa: E402 - after the registration above
from tests.support.forked_server import forking  # noqa: E402 - after the registration above
from tests.support.interrupted import asked_again  # noqa: E402, F401 - a fixture
from tests.support.postgres import Cluster  # noqa: E402 - after the registration above

collect_ignore = ["support"]  # loading all of it to look for doctests takes seconds in every worker

settings.register_profile("fast", max_examples=10, deadline=None)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("mutations", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=200, deadline=None)
settings.register_profile("long", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Tensors of one sentence are so small that threads only wait, and several workers share the cores.
torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # of processes that tests start
os.environ["CRFVIZ_COMPILED"] = "off"  # saves each of them a second; test_compiled.py turns it on

# Set before collection, because some tests are generated for every model there is.
_own = tempfile.TemporaryDirectory()
SHARED_MODELS = Path(_own.name) / "models"
os.environ["CRFVIZ_USER_MODELS"] = str(SHARED_MODELS)
os.environ["CRFVIZ_DATABASE_URL"] = f"sqlite:///{_own.name}/annotations.db"


def pytest_addoption(parser):
    parser.addoption(
        "--matrix",
        default="tenth",
        choices=["tenth", "all", "none"],
        help="how much of tests/matrix runs when no test of it is named (default: a tenth)",
    )
    parser.addoption(
        "--share",
        type=int,
        default=1,
        help="run only one in so many tests, chosen by the commit (default: 1, all)",
    )


def pytest_report_header(config):
    return rotation.header(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector away from all that the imports create."""
    gc.disable()
    result = yield
    gc.enable()
    gc.freeze()
    return result


def pytest_collection_modifyitems(config, items):
    for item in items:
        layer = rotation.layer_of(item.path)
        if layer in ("app", "browser", "matrix"):
            item.add_marker(layer)
    rotation.deselect(config, items)
    # The longest tests start first, so that no worker is left alone with one in the end.
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True)
def no_models_left():
    """A test that trains or brings a model needs a folder of its own, or later tests list it."""
    yield
    left = [path.name for path in SHARED_MODELS.glob("*")]
    shutil.rmtree(SHARED_MODELS, ignore_errors=True)
    assert not left


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL server of our own; skips without its programs, see `tests.support.postgres`."""
    server = Cluster()
    yield server
    server.remove()


class SettingsPatch(pytest.MonkeyPatch):
    """A monkeypatch after whose changes the settings are read from the environment again."""

    def setenv(self, name, value, prepend=None):
        super().setenv(name, value, prepend)
        crfviz_settings.cache_clear()

    def delenv(self, name, raising=True):  # noqa: FBT002 - as in the base class
        super().delenv(name, raising)
        crfviz_settings.cache_clear()

    def undo(self):
        super().undo()
        crfviz_settings.cache_clear()


@pytest.fixture
def monkeypatch():
    patch = SettingsPatch()
    yield patch
    patch.undo()


@pytest.fixture
def forks():
    """See `tests.support.forked_server.forking`."""
    with forking():
        yield
