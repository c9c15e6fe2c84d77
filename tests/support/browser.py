"""Fixtures for browser tests: Chromium, a running app, and pages on it.

All tests of a process share the browser and the server. Each test has its own page and Streamlit
session, and starts with empty browser storage. `screen` uses one context that caches the files of
the app, which saves a quarter of the time per page; `fresh` creates new contexts.
"""

import os
import shutil
from contextlib import contextmanager
from functools import wraps
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from benchmarks.serving import running_app
from tests.support.forked_server import fork
from tests.support.screen import SCRIPT, Screen

CHROMIUM_NAMES = (
    "chromium-headless-shell",  # Debian's build without windows: a sixth less work
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--font-render-hinting=slight",  # the headless shell then renders text as full Chromium does
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-opt",  # tests are too short for the optimiser to pay off: a sixth less work
]
PROJECTOR = {"width": 1280, "height": 720}
# Slowdown factor of pages; server messages are delayed, too. A test that fails only when slowed
# down waits for a time instead of a state.
SLOW = int(os.environ.get("CRFVIZ_SLOW", "1"))
MEASURES, SLOW_SCRIPT = (SCRIPT.with_name(name) for name in ("measure.js", "slow.js"))


def once_per_session(fixture):
    """Share one value of a session fixture; pytest would create one per importing conftest."""
    values = {}

    @wraps(fixture)
    def shared(*args, **kwargs):
        if "value" in values:
            yield values["value"]
            return
        with contextmanager(fixture)(*args, **kwargs) as values["value"]:
            yield values["value"]
        values.clear()  # it has ended

    return shared


@pytest.fixture(scope="session")
@once_per_session
def chromium():
    """Start headless Chromium; without it, skip the test, or fail if the browser is required."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        reason = "no Chromium on this machine (Debian: apt-get install chromium)"
        if os.environ.get("CRFVIZ_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
@once_per_session
def app(chromium, tmp_path_factory):  # noqa: ARG001 - without Chromium no server either
    """Start one server of the app for all tests."""
    with running_app(tmp_path_factory.mktemp("app") / "server.log", start=fork) as running:
        yield running


def new_context(chromium, **options):
    """Create a context that bypasses the server's content security policy, to evaluate scripts."""
    context = chromium.new_context(**{"viewport": PROJECTOR, "bypass_csp": True, **options})
    context.add_init_script(path=SCRIPT)
    context.add_init_script(path=MEASURES)
    if SLOW > 1:
        context.add_init_script(path=SLOW_SCRIPT)
        context.on("page", slow_down)
    return context


@pytest.fixture
def fresh(chromium):
    """Create browser contexts that share nothing with others; close them after the test."""
    contexts = []

    def make(**options):
        contexts.append(new_context(chromium, **options))
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
@once_per_session
def caching(chromium):
    """Create a context with animations off, which keeps its HTTP cache between tests."""
    context = new_context(chromium, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture
def returning(caching, app):
    """Return the caching context; after each test, close its pages and clear its storage."""
    yield caching
    if not caching.pages:
        return
    own = caching.new_page()
    for page in caching.pages:
        if page is not own:
            page.close()
    kinds = {"origin": app.url, "storageTypes": "cookies,local_storage,indexeddb"}
    caching.new_cdp_session(own).send("Storage.clearDataForOrigin", kinds)
    own.close()


def slow_down(page):
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})


class Watch:
    """Opens screens; asserts at the end that there were no errors and no external requests."""

    def __init__(self, app):
        self._app = app
        self._screens, self._requests, self._errors = [], [], []
        self._log_before = len(app.log())

    def open(self, context, at=None):
        page = context.new_page()
        page.on("request", lambda request: self._requests.append(request.url))
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        self._screens.append(Screen(page, at or self._app))
        return self._screens[-1]

    def assert_quiet(self):
        texts = [screen.text() for screen in self._screens]
        assert not self._errors
        hosts = {urlsplit(url).hostname for url in self._requests if url.startswith("http")}
        assert hosts <= {"127.0.0.1"}
        assert not any("Traceback" in text or "could not be drawn" in text for text in texts)
        assert "Traceback" not in self._app.log()[self._log_before :]


@pytest.fixture
def watch(app, fresh, returning):  # noqa: ARG001 - pages close after the last look at them
    """Open screens in browser contexts; assert afterwards that there were no errors."""
    watch = Watch(app)
    yield watch.open
    watch.assert_quiet()


@pytest.fixture
def screen(watch, returning):
    """Open a page of the app in the caching context, with animations off."""
    return watch(returning)
