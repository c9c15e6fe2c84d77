"""What the benchmarks share: figures and their table, Chromium, and a page with a clock in it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ViewportSize, sync_playwright
from serving import App, running_app

PACKAGES = ("streamlit", "torch", "playwright")
CLOCK = Path(__file__).with_name("page_clock.js")
WINDOW: ViewportSize = {"width": 1280, "height": 720}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
PATIENCE = 60_000  # milliseconds
SHOWN = "redraws.some((redraw) => redraw.shown)"
SHOWN_BY_PYTHON = "redraws.some((redraw) => redraw.source === 'python' && redraw.shown)"


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    unit: str
    n: int
    p50: float
    p95: float
    target: str  # "≤ p50 / p95", or one bound for the median; empty where none was set
    met: bool | None  # None where no target was set


@dataclass(frozen=True)
class Machine:
    """Where the figures come from, and how busy it was."""

    processor: str
    cores: int
    system: str
    python: str
    chromium: str
    packages: dict[str, str]
    load_before: float  # processes that ran or waited, average of a minute
    load_after: float


def figure(
    what: str, unit: str, values: Sequence[float], *bounds: float, n: int | None = None
) -> Figure:
    """Median and 95th percentile of what was measured, beside what was wanted.

    Args:
        what: was measured, in words.
        unit: of the values.
        values: one per measurement.
        bounds: wanted for the median, and for the 95th percentile.
        n: how many measurements `values` sums up, if not one each.
    """
    ordered = sorted(values)
    middle = statistics.median(ordered)
    high = ordered[round(0.95 * (len(ordered) - 1))]
    target = "≤ " + " / ".join(f"{bound:g}" for bound in bounds) if bounds else ""
    met = all(value <= bound for value, bound in zip((middle, high), bounds, strict=False))
    return Figure(what, unit, n or len(ordered), middle, high, target, met if bounds else None)


def machine(chromium: str, load_before: float) -> Machine:
    """This machine.

    Args:
        chromium: version of the browser.
        load_before: the load average when the measurement began.
    """
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return Machine(
        processor=models[0] if models else platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        system=platform.platform(),
        python=platform.python_version(),
        chromium=chromium,
        packages={name: version(name) for name in PACKAGES},
        load_before=load_before,
        load_after=os.getloadavg()[0],
    )


def table(where: Machine, figures: Sequence[Figure]) -> str:
    """The figures as Markdown."""
    answers = {True: "yes", False: "no", None: ""}
    lines = [
        f"{where.cores} cores of {where.processor}; Python {where.python}, Streamlit "
        f"{where.packages['streamlit']}, Chromium {where.chromium}; load average "
        f"{where.load_before:.1f} before, {where.load_after:.1f} after.",
        "",
        "| what | n | p50 | p95 | target | met |",
        "|---|---:|---:|---:|---|---|",
        *(
            f"| {f.what} ({f.unit}) | {f.n} | {_number(f.p50)} | {_number(f.p95)} | {f.target} "
            f"| {answers[f.met]} |"
            for f in figures
        ),
    ]
    return "\n".join(lines) + "\n"


def saved_table(file: Path, names: Iterable[str] = ()) -> str:
    """The figures in the JSON of a benchmark; if it is run in parts, those of the parts."""
    report = json.loads(file.read_text())
    parts = [each for name in names for each in report["parts"].get(name, [])]
    where = Machine(**{each.name: report[each.name] for each in fields(Machine)})
    return table(where, [Figure(**each) for each in report.get("figures", parts)]).rstrip()


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


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
def app_and_browser(
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[App, Browser]]:
    """A server of the app, whose log is thrown away with it, and a browser to look at it.

    Args:
        environment: variables of the server on top of those of this process.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "server.log", environment) as app,
        chromium() as browser,
    ):
        yield app, browser


class Meter:
    """A page in a browser context of its own, so that its cache is empty at first."""

    def __init__(self, browser: Browser, app: App) -> None:
        self.app = app
        self.bytes_received = 0  # over the websocket
        self.whole_browser = browser.new_browser_cdp_session()
        self.context = browser.new_context(viewport=WINDOW, bypass_csp=True)
        self.context.add_init_script(path=CLOCK)
        self.page = self.context.new_page()
        self.network = self.context.new_cdp_session(self.page)
        self.network.send("Network.enable")
        self.network.on("Network.webSocketFrameReceived", self._received)

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
        self.page.wait_for_function(condition, timeout=PATIENCE)

    def first_picture(self) -> float:
        """Milliseconds from the navigation to the first picture."""
        self.wait(SHOWN)
        first: float = self.page.evaluate("redraws.find((redraw) => redraw.shown).shown")
        return first

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
        self.context.close()

    def _received(self, event: dict[str, Any]) -> None:
        payload = event["response"]["payloadData"]
        text = event["response"]["opcode"] == 1
        self.bytes_received += len(payload) if text else len(payload) * 3 // 4  # base64


def ms(seconds: Sequence[float]) -> list[float]:
    return [1000 * each for each in seconds]
