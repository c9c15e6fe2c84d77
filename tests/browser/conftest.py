"""A real Chromium for tests that need one, and a running app for it to look at."""

import os
import shutil
import tempfile
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from benchmarks.serving import running_app
from tests.support.forked_server import fork
from tests.support.screen import SCRIPT, TITLES, Screen

CHROMIUM_NAMES = (
    "chromium-headless-shell",  # Debian's, which draws no window: a sixth less work
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--font-render-hinting=slight",  # with it the shell draws letters as the full browser does
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # all pages of the app in one process: what it compiled is compiled once
]
PROJECTOR = {"width": 1280, "height": 720}
# How many times slower the pages are; then what the server sends is late, too. What fails so took
# a time for a state.
SLOW = int(os.environ.get("CRFVIZ_SLOW", "1"))
SLOW_SCRIPT = SCRIPT.with_name("slow.js")


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
    with running_app(tmp_path_factory.mktemp("app") / "server.log", start=fork) as running:
        yield running


@pytest.fixture(scope="session")
def shared(chromium):
    """One browser context, so that the app's files are loaded once. Each page is a session."""
    return equip(chromium.contexts[0])


def equip(context):
    """Gives its pages what the tests look with."""
    context.add_init_script(path=SCRIPT)
    if SLOW > 1:
        context.add_init_script(path=SLOW_SCRIPT)
        context.on("page", slow_down)
    return context


def slow_down(page):
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})


@pytest.fixture
def fresh(chromium):
    """Makes browser contexts that know nothing of others."""
    contexts = []

    def make(**options):
        contexts.append(equip(chromium.new_context(**{"viewport": PROJECTOR, **options})))
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


class Watch:
    """Opens screens, and looks afterwards that nothing broke and nothing went elsewhere."""

    def __init__(self, app):
        self.app = app
        self.screens, self._requests, self._errors = [], [], []
        self._log_before = len(app.log())

    def open(self, context, at=None):
        page = context.new_page()
        page.on("request", lambda request: self._requests.append(request.url))
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        self.screens.append(Screen(page, at or self.app))
        return self.screens[-1]

    def assert_quiet(self):
        """Since the last time that this was asked."""
        texts = [screen.text() for screen in self.screens]
        log = self.app.log()
        errors, requests, new_log = self._errors[:], self._requests[:], log[self._log_before :]
        self._errors.clear()
        self._requests.clear()
        self._log_before = len(log)
        assert not errors
        hosts = {urlsplit(url).hostname for url in requests if url.startswith("http")}
        assert hosts <= {"127.0.0.1"}
        assert not any("Traceback" in text or "could not be drawn" in text for text in texts)
        assert "Traceback" not in new_log

    def close(self):
        for screen in self.screens:
            screen.page.close()
        self.screens.clear()


@pytest.fixture
def watch(app, fresh):  # noqa: ARG001 - contexts close after what is in them
    """Opens screens, and looks afterwards that nothing broke and nothing went elsewhere."""
    watch = Watch(app)
    yield watch.open
    try:
        watch.assert_quiet()
    finally:
        watch.close()


@pytest.fixture
def new_screen(watch, shared):
    """A page of its own session; within a test it goes on as `Screen.go` says."""
    return watch(shared)


@pytest.fixture(scope="session")
def kept(app):
    """The page that `screen` hands from test to test."""
    watch = Watch(app)
    yield watch
    watch.close()


@pytest.fixture
def screen(kept, shared, request):
    """A page on the app that tests before may have used, in its session: most of a visit is saved.

    A test that leaves the frame of the page changed is the last one to use it.
    """
    failed = request.session.testsfailed
    screen = kept.screens[0] if kept.screens else kept.open(shared)
    screen.page.bring_to_front()  # what lies behind another tab is drawn twice a second
    yield screen
    try:
        kept.assert_quiet()
    finally:
        if request.session.testsfailed > failed or not screen.as_it_was():
            kept.close()


@pytest.fixture(scope="session")
def walkers(app):
    """The screen that `walk` keeps."""
    watch = Watch(app)
    yield watch
    watch.close()


@pytest.fixture
def walk(walkers, shared, request):
    """Opens a page with a stage for a test that changes nothing: all of a link are one session.

    The first page of a link is opened by its address, the others by the links in it, as a
    reader goes on: a fifth of the work.
    """

    def to(path, scheme="light", **params):
        if walkers.screens and walkers.link == (scheme, params) and walkers.path != path:
            screen = walkers.screens[0]
            screen.page.bring_to_front()
            with screen.redraw():
                screen.follow(TITLES[path])
        else:
            walkers.close()
            screen = walkers.open(shared)
            screen.page.emulate_media(color_scheme=scheme)
            screen.open(path, **params)
        walkers.link, walkers.path = (scheme, params), path
        return screen

    failed = request.session.testsfailed
    yield to
    try:
        walkers.assert_quiet()
    finally:
        if request.session.testsfailed > failed:
            walkers.close()
