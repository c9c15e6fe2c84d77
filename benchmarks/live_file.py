"""How large a live file is, how fast it opens, and how fast it answers, in a real Chromium.

    python benchmarks/live_file.py [--n 15] [--out benchmarks/live_file.json]

Each opening is a context of its own, from a file: nothing is cached. The first picture is what the
browser has drawn when the stage says that it is done, counted from the beginning of the opening; an
edit is counted from the key that applies it to the next frame with the new numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from meter import WINDOW, chromium
from playwright.sync_api import Browser
from report import figure

import crfviz

OUT = Path(__file__).with_name("live_file.json")
MODEL = "upos-en-contextfree"
SENTENCE = "The committee will present its new report to the whole board soon"
FIRST_PICTURE = 500  # milliseconds that were wanted
LARGEST = 250_000  # bytes that were wanted
WATCH = """
window.firstPicture = new Promise((done) => {
  new MutationObserver((_, observer) => {
    if (!(Number(document.querySelector("[data-stage]")?.dataset.rev) > 0)) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  }).observe(document, { subtree: true, childList: true, attributes: true });
});
"""
EDIT = """
() => new Promise((done) => {
  const stage = document.querySelector("[data-stage]");
  const before = stage.dataset.rev;
  document.querySelector(".matrix [data-cell]").focus();
  const begin = performance.now();
  const key = { key: "ArrowUp", altKey: true, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
  const look = () => stage.dataset.rev === before ? requestAnimationFrame(look)
    : requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
  requestAnimationFrame(look);
})
"""


def main() -> None:
    """Measure, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=15, help="openings of each file")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        rows = [measure(browser, label, path, options.n) for label, path in files(Path(folder))]
    report = {"load_before": before, "load_after": os.getloadavg()[0], "files": rows}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(report) + "\n")


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files, with what is in them."""
    tagger = crfviz.load_tagger(MODEL)
    for words in (12, 40):
        path = folder / f"{words}.html"
        crfviz.export_html(tagger, path, sentence=(SENTENCE.split() * 4)[:words])
        yield f"{words} words, 17 tags", path
    generator = torch.Generator().manual_seed(0)
    scores = [torch.randn(*shape, generator=generator) for shape in ((120, 64), (64, 64))]
    crfviz.export_html(crfviz.Potentials(*scores), folder / "largest.html")
    yield "120 words, 64 tags", folder / "largest.html"


def measure(browser: Browser, label: str, path: Path, n: int) -> dict[str, object]:
    """Bytes, and median and 95th percentile of the first picture and of an edit."""
    pictures, edits = [], []
    for _ in range(n):
        with opened(browser, path) as page:
            pictures.append(page.evaluate("window.firstPicture"))
            page.get_by_role("button", name="Transitions").click()
            edits.append(page.evaluate(EDIT))
    times = {"picture": figure(label, "ms", pictures), "edit": figure(label, "ms", edits)}
    return {"what": label, "bytes": path.stat().st_size, "n": n} | {
        f"{name}_{at}_ms": getattr(time, at)
        for name, time in times.items()
        for at in ("p50", "p95")
    }


@contextmanager
def opened(browser: Browser, path: Path):  # noqa: ANN201 - Playwright's page
    """A page on the file in a context of its own."""
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    yield page
    context.close()


def table(report: dict[str, object]) -> str:
    """The figures as Markdown."""
    lines = [
        f"| a file of | size (kB), ≤ {LARGEST // 1000} | first picture, p50 / p95 (ms), "
        f"≤ {FIRST_PICTURE} | edit to picture, p50 / p95 (ms) | openings |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['what']} | {row['bytes'] / 1000:.0f} "
        f"| {row['picture_p50_ms']:.0f} / {row['picture_p95_ms']:.0f} "
        f"| {row['edit_p50_ms']:.0f} / {row['edit_p95_ms']:.0f} | {row['n']} |"
        for row in report["files"]  # type: ignore[attr-defined]
    ]
    load = f"{report['load_before']:.1f} before, {report['load_after']:.1f} after"
    return "\n".join([*lines, "", f"Load of the machine's two cores: {load}."])


if __name__ == "__main__":
    main()
