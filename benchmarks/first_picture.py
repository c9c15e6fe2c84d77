"""How long a cold page takes to its picture, in turn with a stock Streamlit app, `stock_app.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from measuring import Figure, Meter, figure
from playwright.sync_api import Browser
from serving import App, running_app

PAGES = {"Explore": "", "Transitions": "transitions", "Viterbi": "viterbi"}
RATE = {"downloadThroughput": 20e6 / 8, "uploadThroughput": 20e6 / 8}  # bytes a second
LINES = {"no throttle": None, "40 ms, 20 Mbit/s": {"offline": False, "latency": 40, **RATE}}
BOUND = 1.25  # times the stock app


def first_pictures(browser: Browser, ours: App, n: int) -> Iterator[Figure]:
    """Visit each page of both apps `n` times over each line, with an empty cache."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "log", script="benchmarks/stock_app.py") as stock,
    ):
        for app in (ours, stock):
            visit(browser, app, "", "no throttle")  # the first visit of a server does not count
        for line in LINES:
            for title, path in PAGES.items():
                pairs = [
                    [visit(browser, app, path, line) for app in (ours, stock)] for _ in range(n)
                ]
                mine, others = zip(*pairs, strict=True)
                what = f"cold page → picture, {title}, {line}"
                yield figure(what, "ms", mine)
                yield figure(f"{what}: stock app", "ms", others)
                yield figure(f"{what}: ratio", "times", [median(mine) / median(others)], BOUND, n=n)


def visit(browser: Browser, app: App, path: str, line: str) -> float:
    """Return the milliseconds from the navigation to the first picture."""
    meter = Meter(browser, app)
    if conditions := LINES[line]:
        meter.network.send("Network.emulateNetworkConditions", conditions)
    meter.page.goto(f"{app.url}/{path}")
    first = meter.first_picture()
    meter.close()
    return first
