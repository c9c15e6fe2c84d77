"""A page of the app with a clock in it: when it redraws, what it costs, what it receives."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ViewportSize, sync_playwright
from serving import App, running_app

CLOCK = Path(__file__).with_name("page_clock.js")
WINDOW: ViewportSize = {"width": 1280, "height": 720}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
PATIENCE = 60_000  # milliseconds
SHOWN = "redraws.some((redraw) => redraw.shown)"
SHOWN_BY_PYTHON = "redraws.some((redraw) => redraw.source === 'python' && redraw.shown)"


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium of this machine.

    Raises:
        RuntimeError: there is none.
    """
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise RuntimeError("no Chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


@contextmanager
def app_and_browser() -> Iterator[tuple[App, Browser]]:
    """A server of the app, whose log is thrown away with it, and a browser to look at it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "server.log") as app,
        chromium() as browser,
    ):
        yield app, browser


class Meter:
    """A page in a browser context of its own, so that its cache is empty at first."""

    def __init__(self, browser: Browser, app: App) -> None:
        self.app = app
        self.bytes_received = 0  # over the websocket
        self.whole_browser = browser.new_browser_cdp_session()
        self.context = browser.new_context(viewport=WINDOW)
        self.context.add_init_script(path=CLOCK)
        self.page = self.context.new_page()
        network = self.context.new_cdp_session(self.page)
        network.send("Network.enable")
        network.on("Network.webSocketFrameReceived", self._received)

    def open(self, path: str, sentence: str, tokens: int, model: str = "") -> None:
        """Go to a page with a sentence and a model, wait until it is drawn and the page is quiet.

        Raises:
            RuntimeError: the sentence does not have that many tokens.
        """
        self.page.goto(f"{self.app.url}/{path}" + (f"?model={model}" if model else ""))
        self.wait(SHOWN)
        box = self.page.locator(".st-key-sentence input")
        box.fill(sentence)
        box.press("Enter")
        self.page.locator(f"[data-row=viterbi][data-t='{tokens - 1}']").wait_for(timeout=PATIENCE)
        count = self.page.locator("[data-row=viterbi]").count()
        if count != tokens:
            raise RuntimeError(f"the sentence of {tokens} tokens has {count}")
        self.page.wait_for_timeout(1000)

    def wait(self, condition: str) -> None:
        """Until a condition on `redraws` holds."""
        self.page.wait_for_function(condition, timeout=PATIENCE)

    def forget(self) -> None:
        """Start with no redraws and no inputs."""
        self.page.evaluate("redraws.length = 0, inputs.length = 0")

    def since_input(self) -> list[tuple[str, float]]:
        """Whose numbers each redraw shows, and when: milliseconds after the last key or click."""
        redraws: list[tuple[str, float]] = self.page.evaluate(
            """() => {
              const start = inputs.findLast(({ kind }) => kind !== "pointermove").at;
              return redraws.map(({ source, shown }) => [source, shown - start]);
            }"""
        )
        return redraws

    def cpu(self) -> float:
        """Seconds of CPU that the browser has used, in all its processes."""
        processes = self.whole_browser.send("SystemInfo.getProcessInfo")["processInfo"]
        seconds: float = sum(process["cpuTime"] for process in processes)
        return seconds

    def close(self) -> None:
        """Close the page and forget its cache."""
        self.context.close()

    def _received(self, event: dict[str, Any]) -> None:
        payload = event["response"]["payloadData"]
        text = event["response"]["opcode"] == 1
        self.bytes_received += len(payload) if text else len(payload) * 3 // 4  # base64
