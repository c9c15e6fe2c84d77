"""How fast the next cue of a lecture is on the screen, measured inside a real Chromium.

    python benchmarks/lectures.py [--n 2] [--out benchmarks/lectures.json]

Each cue of two lectures is asked for by its number, in their order, as by a clicker at the end of
the one before. It counts from the time stamp of the key to the last redraw of its picture, when the
page's main thread has finished the frame that shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from dataclasses import asdict
from pathlib import Path

from meter import PATIENCE, SHOWN, SHOWN_BY_PYTHON, Meter, app_and_browser
from playwright.sync_api import Browser
from report import Figure, Machine, figure, machine, table
from serving import ROOT, App

OUT = Path(__file__).with_name("lectures.json")
LECTURES = ("greedy", "viterbi")
BOUND = 300  # milliseconds
SPEAKING = 1000  # milliseconds at a cue before the next one is asked for
REST = 300  # milliseconds in which all redraws of a cue have come


def main() -> None:
    """Measure, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=2, help="how often each lecture is played")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with app_and_browser() as (app, browser):
        times = [
            time for _ in range(options.n) for name in LECTURES for time in cues(browser, app, name)
        ]
        where = machine(browser.version, load_before)
    figures = [figure("next cue → picture", "ms", times, BOUND, BOUND)]
    report = {**asdict(where), "figures": [asdict(line) for line in figures]}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(where, figures))


def printed() -> str:
    """The last run, as it was printed."""
    report = json.loads(OUT.read_text())
    figures = [Figure(**line) for line in report.pop("figures")]
    return table(Machine(**report), figures).rstrip()


def cues(browser: Browser, app: App, name: str) -> list[float]:
    """Play a lecture from its first cue; milliseconds for each of the others."""
    number = len(tomllib.loads((ROOT / "lectures" / f"{name}.toml").read_text("utf-8"))["cue"])
    meter = Meter(browser, app)
    meter.page.goto(f"{app.url}/?lecture={name}")
    meter.wait(SHOWN)
    times = []
    for cue in range(2, number + 1):
        meter.page.wait_for_timeout(SPEAKING)
        meter.page.keyboard.press("g")
        meter.page.keyboard.type(str(cue))
        meter.forget()
        meter.page.keyboard.press("Enter")
        shown = meter.page.locator(f"[data-cue='{cue}']")
        shown.wait_for(state="attached", timeout=PATIENCE)
        meter.wait(SHOWN_BY_PYTHON)
        meter.page.wait_for_timeout(REST)
        times.append(meter.since_input()[-1][1])
    meter.close()
    return times


if __name__ == "__main__":
    main()
