"""How fast pages draw, scroll and edit what is too long to be drawn whole, in a real Chromium.

    python benchmarks/long_sentences.py [--n 20] [--only letters]

A sequence of DNA under a shipped chain, and a random chain that is brought. Each page draws 120
words under a strip of all of them. A frame is the time from one to the next while the words in
sight move by 30 pixels in each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from latency import REST, edits_of, first_picture
from measuring import SHOWN_BY_PYTHON, Figure, Meter, app_and_browser, figure, machine, saved_table
from playwright.sync_api import Browser, expect
from serving import App

import crfviz

OUT = Path(__file__).with_suffix(".json")
OPENING, RELOADING, FRAME = 1500, 1000, 33  # milliseconds, for the median
EDITING = (160, 250)  # milliseconds, p50 and p95: those of forty words
SCROLL = """async (box) => {
  const frames = [];
  const frame = () => new Promise(requestAnimationFrame);
  for (let last = await frame(); frames.length < 100; last += frames.at(-1)) {
    box.scrollLeft += 30;
    frames.push((await frame()) - last);
  }
  return frames;
}"""


@dataclass(frozen=True)
class Long:
    """A sentence longer than what is drawn, named as in the table; one of its moves is edited."""

    name: str
    sentence: str
    model: str
    move: str


LETTERS = Long(
    "10,000 letters", "".join(random.Random(0).choices("ACGT", k=10_000)), "textbook/cpg", "C+,G+"
)
WIDE = Long("500 words and 50 tags", " ".join(f"w{t}" for t in range(500)), "random", "T00,T01")
PARTS = {"letters": LETTERS, "wide": WIDE}


def main() -> None:
    """Measure both, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=20, help="repetitions")
    parser.add_argument("--only", choices=list(PARTS), help="measure one, and keep the other")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as models:
        environment = {"CRFVIZ_USER_MODELS": models}
        os.environ.update(environment)
        bring_random(WIDE)
        with app_and_browser(environment) as (app, browser):
            parts = json.loads(OUT.read_text())["parts"] if OUT.exists() else {}
            for name, long in PARTS.items():
                if options.only in (None, name):
                    parts[name] = list(map(asdict, measured(browser, app, long, options.n)))
            where = machine(browser.version, load_before)
    OUT.write_text(json.dumps({**asdict(where), "parts": parts}, indent=2) + "\n")
    sys.stdout.write(saved_table(OUT, PARTS) + "\n")


def bring_random(long: Long, tags: int = 50) -> None:
    """Keep a random chain for a sentence among the models that people brought."""
    words, dice = long.sentence.split(), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.npz"
        np.savez(
            file,
            emissions=2 * dice.normal(size=(len(words), tags)),
            transitions=dice.normal(size=(tags, tags)),
            tags=[f"T{k:02}" for k in range(tags)],
            tokens=words,
        )
        crfviz.bring(file, name=long.model)


def measured(browser: Browser, app: App, long: Long, n: int) -> Iterator[Figure]:
    """Open, load again, scroll, move the window and edit a transition."""
    link = urlencode({"model": long.model, "sentence": long.sentence})
    cold, again = [], []
    for round_ in range(n + 1):
        meter = Meter(browser, app)
        meter.page.goto(f"{app.url}/?{link}")
        opened = first_picture(meter)
        meter.page.reload()
        if round_:  # the first visit loads the model
            cold.append(opened)
            again.append(first_picture(meter))
        meter.close()
    yield figure(f"cold page → picture of {long.name}", "ms", cold, OPENING)
    yield figure(f"reload → picture of {long.name}", "ms", again, RELOADING)
    meter = Meter(browser, app)
    rest(meter, f"{app.url}/?{link}")
    frames = meter.page.locator(".scroller").evaluate(SCROLL)
    yield figure(f"frame while scrolling {long.name}", "ms", frames, FRAME)
    yield figure(f"key → next window of {long.name}", "ms", list(moves(meter, n)), *EDITING)
    rest(meter, f"{app.url}/transitions?{link}")
    yield from edits_of(meter, n, f"[data-cell='{long.move}']", f"at {long.name}", EDITING)
    meter.close()


def rest(meter: Meter, address: str) -> None:
    """Open a page and wait until it is drawn and quiet."""
    meter.page.goto(address)
    meter.wait(SHOWN_BY_PYTHON)
    meter.page.wait_for_timeout(1000)


def moves(meter: Meter, n: int) -> Iterator[float]:
    """Move the window by a key, there and back."""
    slider, place = (meter.page.locator(f".overview {part}") for part in ("input", "span"))
    slider.focus()
    for round_ in range(n):
        before = place.inner_text()
        meter.forget()
        slider.press("ArrowRight" if round_ % 4 < 2 else "ArrowLeft")
        expect(place).not_to_have_text(before)
        meter.page.wait_for_timeout(REST)
        meter.wait("redraws.every((redraw) => redraw.shown)")
        yield meter.since_input()[-1][1]


if __name__ == "__main__":
    main()
