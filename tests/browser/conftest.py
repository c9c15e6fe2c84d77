"""A real Chromium for tests that need one, and a running app for it to look at."""

import os
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from benchmarks.serving import running_app
from tests.browser.screen import SCRIPT, Screen

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # all pages of the app in one process: what it compiled is compiled once
]
PROJECTOR = {"width": 1280, "height": 720}


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium; without one the test is skipped, or fails where one is required."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        reason = "no Chromium on this machine (Debian: apt-get install chromium)"
        if os.environ.get("CRFVIZ_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    # Its own context lies in a folder, where compiled scripts are kept: half the work of a visit.
    with tempfile.TemporaryDirectory(prefix="crfviz-chromium-") as profile, sync_playwright() as on:
        context = on.chromium.launch_persistent_context(
            profile,
            executable_path=path,
            args=CHROMIUM_OPTIONS,
            viewport=PROJECTOR,
            color_scheme="light",
        )
        yield context.browser
        context.close()


@pytest.fixture(scope="session")
def app(chromium, tmp_path_factory):  # noqa: ARG001 - without Chromium no server either
    """A server of the app, shared by all tests."""
    with running_app(tmp_path_factory.mktemp("app") / "server.log") as running:
        yield running


@pytest.fixture(scope="session")
def shared(chromium):
    """One browser context, so that the app's files are loaded once. Each page is a session."""
    context = chromium.contexts[0]
    context.add_init_script(path=SCRIPT)
    return context


@pytest.fixture
def fresh(chromium):
    """Makes browser contexts that know nothing of others."""
    contexts = []

    def make(**options):
        context = chromium.new_context(**{"viewport": PROJECTOR, **options})
        context.add_init_script(path=SCRIPT)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def watch(app, fresh):  # noqa: ARG001 - contexts close after what is in them
    """Opens screens, and looks afterwards that nothing broke and nothing went elsewhere."""
    screens, requests, errors = [], [], []
    log_before = len(app.log())

    def open_screen(context, at=app):
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        screens.append(Screen(page, at))
        return screens[-1]

    yield open_screen
    texts = [screen.text() for screen in screens]
    for screen in screens:
        screen.page.close()
    assert not errors
    assert {urlsplit(url).hostname for url in requests if url.startswith("http")} <= {"127.0.0.1"}
    assert not any("Traceback" in text or "could not be drawn" in text for text in texts)
    assert "Traceback" not in app.log()[log_before:]


@pytest.fixture
def screen(watch, shared):
    """A page of its own session in the shared context."""
    return watch(shared)
