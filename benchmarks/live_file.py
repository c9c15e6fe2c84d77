"""How large a live file is, how fast it opens, and how fast it answers, in a real Chromium.

    python benchmarks/live_file.py [--n 15] [--out benchmarks/live_file.json]

Each opening is a context of its own, from a file: nothing is cached. The first picture is painted
when the words in sight are, counted from the beginning of the opening; all of it is there when the
stage says that it is done. An edit is counted from the key that applies it to the next frame with
the new numbers. A file and a site with `upos-en` are opened n / 3 times, and sentences with a new
word each are typed into them: counted from Enter to the frame with the words in sight. The same
sentences are split, scored and decoded by a second tagger on the page.
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
from typing import Any

import torch
from meter import WINDOW, chromium
from playwright.sync_api import Browser, Page
from report import figure, in_markdown
from serving import ROOT

import crfviz
from crfviz.views.exports import bundle
from crfviz.views.site.folder import INDEX, write_site
from crfviz.views.site.packing import tagger_payload

OUT = Path(__file__).with_name("live_file.json")
MODEL, TAGGER = "upos-en-contextfree", "upos-en"
SENTENCE = "The committee will present its new report to the whole board soon"
FIRST_PICTURE = 500  # milliseconds that were wanted
LARGEST = 250_000  # bytes that were wanted
TYPED = 100  # milliseconds that were wanted
LENGTHS, WARM = (12, 40), 6  # words of what is typed, and sentences of each length
WATCH = """
window.inSight = new Promise((done) => {
  const look = () => document.querySelector("[data-node]")
    ? setTimeout(() => done(performance.now())) : requestAnimationFrame(look);
  requestAnimationFrame(look);
});
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
TYPE = """
(sentence) => new Promise((done) => {
  const drawn = () => document.querySelector("[data-stage]");
  const [stage, rev] = [drawn(), drawn().dataset.rev];
  const box = document.querySelector("[aria-label=Sentence]");
  box.value = sentence;
  const begin = performance.now();
  box.form.requestSubmit();
  const painted = (act) => scheduler.postTask(
    () => act(performance.now() - begin), { priority: "user-blocking" });  // before what follows
  const when = (is, act) => requestAnimationFrame(() => is() ? painted(act) : when(is, act));
  const [word] = /unheard[0-9]+/.exec(sentence);
  const inSight = new Promise((seen) => when(() => drawn().textContent.includes(word), seen));
  when(() => drawn().dataset.rev !== (drawn() === stage ? rev : "0"), async (whole) => {
    done({ seen: await inSight, whole });
  });
})
"""
VIEWS = ROOT / "crfviz" / "views"
ENTRY = f"""
import {{ viterbi }} from "{VIEWS / "stage/web/recursions.js"}";
import {{ readTagger }} from "{VIEWS / "site/web/tagger.js"}";
globalThis.read = async (payload) => {{
  globalThis.tagger = await readTagger(payload);
}};
globalThis.score = (sentence) => {{
  const begin = performance.now();
  viterbi(tagger.score(tagger.split(sentence)));
  return performance.now() - begin;
}};
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
        typed = [typing(browser, *each, options.n) for each in tagging(Path(folder))]
    load = {"load_before": before, "load_after": os.getloadavg()[0]}
    report = {**load, "files": rows, "tagging": typed}
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
    pictures, whole, edits = [], [], []
    for _ in range(n):
        with opened(browser, path) as page:
            pictures.append(page.evaluate("window.inSight"))
            whole.append(page.evaluate("window.firstPicture"))
            page.get_by_role("button", name="Transitions").click()
            edits.append(page.evaluate(EDIT))
    times = {"picture": pictures, "whole": whole, "edit": edits}
    return {"what": label, "bytes": path.stat().st_size, "n": n} | summed(times)


def summed(times: dict[str, list[float]]) -> dict[str, float]:
    """Median and 95th percentile of each list of milliseconds, by name."""
    figures = {name: figure(name, "ms", values) for name, values in times.items()}
    return {
        f"{name}_{at}_ms": getattr(time, at)
        for name, time in figures.items()
        for at in ("p50", "p95")
    }


def tagging(folder: Path) -> Iterator[tuple[str, Path, int]]:
    """A file and a site with the tagger: what it is, what is opened, and the bytes read for it."""
    tagger = crfviz.load_tagger(TAGGER)
    file, site = folder / "tagging.html", folder / "site"
    crfviz.export_html(tagger, file, sentence=SENTENCE, with_model=True)
    yield f"a file with `{TAGGER}`", file, file.stat().st_size
    write_site(site, [tagger])
    read = [site / INDEX, site / "models" / f"{TAGGER}.js"]
    yield f"a site with `{TAGGER}`", site / INDEX, sum(path.stat().st_size for path in read)


def typing(browser: Browser, label: str, path: Path, size: int, n: int) -> dict[str, object]:
    """The first picture, and typed sentences: the very first one, and others of each length."""
    times: dict[str, list[float]] = {}
    for opening in range(max(1, n // 3)):
        with opened(browser, path) as page:
            times.setdefault("picture", []).append(page.evaluate("window.inSight"))
            page.evaluate("window.firstPicture")
            twin(page)
            first = page.evaluate(TYPE, sentence(LENGTHS[0], 99))
            times.setdefault("first", []).append(first["seen"])
            for length in LENGTHS:
                for number in range(WARM):
                    typed = sentence(length, WARM * opening + number)
                    scored = page.evaluate("score", typed)
                    times.setdefault(f"scored_{length}", []).append(scored)
                    for what, taken in page.evaluate(TYPE, typed).items():
                        times.setdefault(f"{what}_{length}", []).append(taken)
    counts = {"n": len(times["picture"]), "sentences": len(times["whole_40"])}
    return {"what": label, "bytes": size, **counts, **summed(times)}


def twin(page: Page) -> None:
    """Another tagger on the page, that can be asked for scores alone."""
    with tempfile.TemporaryDirectory() as folder:
        entry = Path(folder) / "entry.js"
        entry.write_text(ENTRY)
        page.evaluate(f"() => {{ {bundle.bundled(entry)} }}")
    page.evaluate("read", tagger_payload(crfviz.load_tagger(TAGGER)))
    page.evaluate("score", sentence(LENGTHS[0], 99))


def sentence(length: int, number: int) -> str:
    """One of that many words; another number is another word in it."""
    words = (SENTENCE.split() * 4)[:length]
    words[5 + number % 4] = f"unheard{number}"
    return " ".join(words)


@contextmanager
def opened(browser: Browser, path: Path):  # noqa: ANN201 - Playwright's page
    """A page on the file in a context of its own."""
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    yield page
    context.close()


def table(report: dict[str, Any]) -> str:
    """The figures as Markdown."""

    def pair(row: dict[str, float], name: str) -> str:
        return f"{row[f'{name}_p50_ms']:.0f} / {row[f'{name}_p95_ms']:.0f}"

    files = [
        [row["what"], f"{row['bytes'] / 1000:.0f}"]
        + [pair(row, name) for name in ("picture", "whole", "edit")]
        + [str(row["n"])]
        for row in report["files"]
    ]
    scores = ["scored_12", "seen_12", "scored_40", "seen_40", "whole_40", "first"]
    tagged = [
        [row["what"], f"{row['bytes'] / 1e6:.1f}"]
        + [pair(row, name) for name in ("picture", *scores)]
        + [f"{row['n']}, {row['sentences']}"]
        for row in report["tagging"]
    ]
    lines = [
        in_markdown(
            ["a file of"],
            [
                f"size (kB), ≤ {LARGEST // 1000}",
                f"first picture, p50 / p95 (ms), ≤ {FIRST_PICTURE}",
                "all of it",
                "edit to picture",
                "openings",
            ],
            files,
        ),
        "",
        in_markdown(
            ["what"],
            [
                "size (MB)",
                f"first picture, p50 / p95 (ms), ≤ {FIRST_PICTURE}",
                "12 words typed: scored",
                "on the page",
                "40 words typed: scored",
                f"on the page, ≤ {TYPED}",
                "all of it",
                "the very first, 12 words",
                "openings, sentences",
            ],
            tagged,
        ),
        "",
        f"Load of the machine's two cores: {report['load_before']:.1f} before, "
        f"{report['load_after']:.1f} after.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
