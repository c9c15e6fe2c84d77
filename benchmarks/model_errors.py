"""How fast the page Model errors answers in a real Chromium, and what a large file takes.

    python benchmarks/model_errors.py --file test.conllu [--model upos-en] [--n 15]
    python benchmarks/model_errors.py --file test.conllu --tokens 1000000

The first measures from the choice of the file to the finished page, and every click from the
pointer's release until the page is drawn and its script has ended. The second writes a file of that
many words, the given one again and again with a number behind every tenth word, and measures
`python -m crfviz evaluate --json --report` on it, by one worker and by two: the peak of memory, and
the time of the processors, which others on the machine do not lengthen as they do the time by the
clock. What two workers would take with two cores of their own is what the process that gives out
the shards takes, and half of the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from meter import WINDOW, chromium
from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as Timeout
from report import Figure, figure, machine, table
from serving import ROOT, App, running_app

OUT = Path(__file__).with_name("model_errors.json")
MEMORY = Path(__file__).with_name("model_errors_memory.json")
PATIENCE = 60_000  # milliseconds
FILES = 5
FINISHED = "[data-testid=stApp][data-test-script-state=notRunning]"
TRIES = 10
CLICK_BOUND, FILE_BOUND, MEMORY_BOUND = 300, 3_000, 600  # milliseconds, milliseconds, MB
MINUTES_BOUND, TIMES_BOUND = 3, 1.8  # of a million words
TABS = ("How sure", "What the CRF buys", "Where", "Why", "Is it the gold?", "How wrong")
WATCH = """({ wanted, patience }) => new Promise((done, failed) => {
  const main = document.querySelector("[data-testid=stMain]");
  const state = () => document.querySelector("[data-testid=stApp]").dataset.testScriptState;
  const shown = () => [...main.querySelectorAll("p")]
    .filter((element) => !element.closest("[data-stale=true]"))
    .map((element) => element.textContent).filter((text) => text.includes(wanted)).join();
  const before = shown();
  addEventListener("pointerup", ({ timeStamp }) => {
    let quiet = 0;
    const look = () => {
      const passed = performance.now() - timeStamp;
      const now = shown();
      quiet = now && now !== before && state() === "notRunning" ? quiet + 1 : 0;
      if (quiet === 2) done(passed);
      else if (passed > patience) failed(new Error(`no other ${wanted} after ${passed} ms`));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { once: true, capture: true });
})"""


def main() -> None:
    """Measure one of the two, print it, write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--model", default="upos-en")
    parser.add_argument("--n", type=int, default=15)
    parser.add_argument("--tokens", type=int, help="measure the memory of the command line instead")
    options = parser.parse_args()
    if options.tokens:
        report = memory(options.file, options.model, options.tokens)
        MEMORY.write_text(json.dumps(report, indent=2) + "\n")
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return
    load_before = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "server.log") as app,
        chromium() as browser,
    ):
        page = browser.new_page(viewport=WINDOW)
        page.set_default_timeout(PATIENCE)
        link = f"{app.url}/model-errors?model={options.model}&v.corpus=file"
        files = variants(options.file, Path(folder))
        figures = list(measured(page, app, link, files, options.n))
        where = machine(browser.version, load_before)
    report = {**asdict(where), "file": options.file.name, "model": options.model}
    OUT.write_text(json.dumps({**report, "figures": list(map(asdict, figures))}, indent=2) + "\n")
    sys.stdout.write(table(where, figures))


def variants(file: Path, folder: Path) -> Iterator[Path]:
    """The file in so many contents that no run has been made of: each lacks a sentence more."""
    sentences = file.read_text("utf-8").split("\n\n")
    for left_out in range(FILES):
        variant = folder / f"{left_out}-{file.name}"
        variant.write_text("\n\n".join(sentences[left_out:]), "utf-8")
        yield variant


def measured(page: Page, app: App, link: str, files: Iterable[Path], n: int) -> Iterator[Figure]:
    """The files, then every kind of click."""
    taken, processor = zip(*(handed_in(page, app, link, file) for file in files), strict=True)
    yield figure("file → finished page", "ms", taken, FILE_BOUND)
    yield figure("CPU of the server for it", "ms", processor)
    cells = [
        page.locator(f'[aria-label*="gold: {gold};"][aria-label*="predicted: {predicted};"]').last
        for gold, predicted in (("NOUN", "PROPN"), ("PROPN", "NOUN"))
    ]
    names = ("Errors: NOUN as PROPN", "Errors: PROPN as NOUN")
    pairs = list(zip(cells, names, strict=True))
    yield clicks(page, "cell of the confusion matrix", pairs, n)
    tabs = [(page.get_by_role("radio", name=tab), SHOWS[tab]) for tab in TABS]
    yield clicks(page, "tab", tabs, n)
    open_tab(page, "Where")
    parts = [
        (page.get_by_role("radio", name=name).first, f"Parts by {name}")
        for name in ("sentence length", "position")
    ]
    yield clicks(page, "parts by another dimension", parts, n)
    open_tab(page, "Why")
    kinds = [
        (page.get_by_role("option", name=kind, exact=True), "Errors (") for kind in KINDS_OF_ERROR
    ]
    box = page.get_by_role("combobox", name="Kind")
    yield clicks(page, "errors of another kind", kinds, n, first=box)


def handed_in(page: Page, app: App, link: str, file: Path) -> tuple[float, float]:
    """Milliseconds from a file to its finished page, and of the server's processor for it."""
    page.goto(link)
    page.get_by_text("Choose a file").wait_for()
    page.locator(FINISHED).wait_for()
    started, used_before = time.perf_counter(), app.cpu()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Wrong words by gold and predicted tag").wait_for()
    page.locator(FINISHED).wait_for()
    return 1000 * (time.perf_counter() - started), 1000 * (app.cpu() - used_before)


KINDS_OF_ERROR = ("emission", "both", "near tie")
SHOWS = {  # something that only this tab says
    "How sure": "Expected calibration error",
    "What the CRF buys": "Every decoder on the same sentences",
    "Where": "Repair wins",
    "Why": "Errors by what is to blame",
    "Is it the gold?": "Gold to be looked at",
    "How wrong": "Wrong words by gold and predicted tag",
}


def open_tab(page: Page, name: str) -> None:
    """Go to a tab."""
    page.get_by_role("radio", name=name).click()
    page.get_by_text(SHOWS[name]).first.wait_for()


def open_list(page: Page, box: Locator, option: Locator) -> None:
    """Open the list of a select box; a redraw that comes late closes it again."""
    for _ in range(TRIES):
        box.click()
        with suppress(Timeout):
            option.wait_for(timeout=1000)
            return
        page.keyboard.press("Escape")


def clicks(
    page: Page,
    what: str,
    places: list[tuple[Locator, str]],
    n: int,
    first: Locator | None = None,
) -> Figure:
    """Click one after the other, `n` times in all, and wait for what each shows.

    Args:
        page: the page.
        what: is clicked, in words.
        places: what to click, and a text that it shows.
        n: measurements; a round before them loads code.
        first: is clicked before each, and not measured.
    """
    taken = []
    for i in range(n + len(places)):
        place, wanted = places[i % len(places)]
        if first is not None:
            open_list(page, first, place)
        milliseconds = timed(page, place, wanted)
        if i >= len(places):
            taken.append(milliseconds)
    return figure(f"{what} → picture", "ms", taken, CLICK_BOUND)


def timed(page: Page, place: Locator, wanted: str) -> float:
    """Milliseconds from the release of the pointer to the picture.

    Raises:
        RuntimeError: the place is not on the screen.
    """
    place.evaluate("(element) => element.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(400)
    box = place.bounding_box()
    if box is None:
        raise RuntimeError(f"what shows {wanted} is not on the screen")
    watched = page.evaluate_handle(
        f"(asked) => ({{ promise: ({WATCH})(asked) }})", {"wanted": wanted, "patience": PATIENCE}
    )
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return float(watched.evaluate("({ promise }) => promise"))


def memory(file: Path, model: str, tokens: int) -> dict[str, object]:
    """Peaks and times of `evaluate` on a file of so many words, by one worker and by two."""
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.conllu"
        words = enlarged(file, large, tokens)
        by_workers = {}
        written = set()
        for workers in (1, 2):
            out = [f"{folder}/out.json", f"{folder}/out.html"]
            command = ["evaluate", str(large), "--model", model, "--workers", str(workers)]
            by_workers[str(workers)] = used([*command, "--json", out[0], "--report", out[1]])
            written.add(tuple(Path(path).read_bytes() for path in out))
        record = json.loads(Path(out[0]).read_text())
        one, two = by_workers["1"], by_workers["2"]
        shared = two["cpu_of_the_first"] + (two["cpu"] - two["cpu_of_the_first"]) / 2
        return {
            "model": model,
            "words": words,
            "megabytes_of_file": round(large.stat().st_size / 1e6, 1),
            "bound_megabytes": MEMORY_BOUND,
            "bound_minutes": MINUTES_BOUND,
            "workers": by_workers,
            "times_as_fast": round(one["cpu"] / shared, 2),
            "bound_times": TIMES_BOUND,
            "same_bytes": len(written) == 1,
            "errors": record["errors"]["total"],
            "errors_listed": record["errors"]["listed"],
            "report_megabytes": round(Path(out[1]).stat().st_size / 1e6, 1),
        }


def used(command: list[str]) -> dict[str, float]:
    """Seconds and megabytes of the program with all its processes; `first` is the one started.

    Raises:
        RuntimeError: it failed.
    """
    started = time.perf_counter()
    program = [sys.executable, "-m", "crfviz", *command]
    process = subprocess.Popen(
        program, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    of_first = 0.0
    ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    while not ended:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        of_first = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(0.1)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "cpu": round(usage.ru_utime + usage.ru_stime, 1),
        "cpu_of_the_first": round(of_first, 1),
        "peak_megabytes": round(usage.ru_maxrss / 1024, 1),
    }


def memory_text(report: Mapping[str, Any]) -> str:
    """What `memory` measured, in some sentences."""
    one, two = report["workers"]["1"], report["workers"]["2"]
    minutes = [f"{each[name] / 60:.1f}" for each in (one, two) for name in ("cpu", "seconds")]
    return (
        f"`python -m crfviz evaluate --json --report` with `{report['model']}` on "
        f"{report['words']:,} words ({report['megabytes_of_file']:.0f} MB): one worker takes "
        f"{minutes[0]} minutes of one core (wanted: {report['bound_minutes']}) and at most "
        f"{one['peak_megabytes']:.0f} MB of memory (wanted: {report['bound_megabytes']:,}). Of "
        f"{report['errors']:,} errors {report['errors_listed']:,} are listed.\n"
        f"Two workers take {minutes[2]} minutes of two cores, {two['cpu_of_the_first']:.0f} "
        f"seconds of that in the process that gives out the shards: with two cores of their own "
        f"they are {report['times_as_fast']:.2f} times as fast (wanted: {report['bound_times']}), "
        f"and take at most {two['peak_megabytes']:.0f} MB each. By the clock, with others at work "
        f"on the machine, it was {minutes[1]} and {minutes[3]} minutes. Both write "
        f"{'the same bytes' if report['same_bytes'] else 'DIFFERENT bytes'}."
    )


def enlarged(file: Path, large: Path, tokens: int) -> int:
    """Write the file again and again, with changes, until it has so many words; how many it has."""
    lines = file.read_text(encoding="utf-8").split("\n")
    words = copy = 0
    with large.open("w", encoding="utf-8") as out:
        while words < tokens:
            copy += 1
            for line in lines:
                cells = line.split("\t")
                if len(cells) == 10 and cells[0].isdecimal():
                    words += 1
                    if words % 10 == 0:
                        cells[1] += str(copy)
                out.write("\t".join(cells) + "\n")
                if words >= tokens and not line:
                    break
    return words


if __name__ == "__main__":
    main()
