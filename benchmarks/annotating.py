"""How fast the page Annotate answers: one annotator, twenty at once, and one beside a large import.

    python benchmarks/annotating.py [--n 30] [--out benchmarks/annotating.json]

A key of the one annotator is timed inside a real Chromium, from its time stamp to the frame that
shows the answer (`page_clock.js`); its answer is in the store by then. The twenty speak Streamlit's
protocol without a browser, because twenty browsers on one machine would measure the browsers: a key
is timed from the message to the data that acknowledges it. Each waits 0.7 to 1.5 seconds after an
answer before the next key, corrects three of four times, else accepts or takes back, on sentences
of its own and on documents that all share. Afterwards every row of the store is compared with
what was confirmed to its annotator.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from annotators import Annotator, all_work, differences
from documents import sentences, stored
from labelling_keys import keys
from large_import import large_import
from meter import app_and_browser
from report import Figure, Machine, figure, machine, table
from serving import App, running_app

from crfviz.annotations.store.store import open_store

OUT = Path(__file__).with_name("annotating.json")
ANNOTATORS = 20
SECONDS = 120.0
OWN, SHARED, SHARED_DOCUMENTS = 12, 12, 2  # sentences of a document, and how many all share
STEP = 1000  # milliseconds


def main() -> None:
    """Measure everything, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=30, help="sentences; 30 are the least to report")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with app_and_browser() as (app, browser):
        figures = [
            *keys(browser, app, 12, options.n),
            *keys(browser, app, 40, options.n),
            *large_import(browser, app),
        ]
        where = machine(browser.version, load_before)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "server.log") as app,
    ):
        figures += many(app, SECONDS)
    report = {**asdict(where), "n": options.n, "figures": [asdict(line) for line in figures]}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(printed())


def many(app: App, seconds: float) -> Iterator[Figure]:
    """Many annotators at once; what they were told is compared with the store."""
    shared = [
        stored(app.database, f"shared {d}", sentences(SHARED, f"s{d}x"))
        for d in range(SHARED_DOCUMENTS)
    ]
    annotators = []
    for number in range(ANNOTATORS):
        own = stored(app.database, f"own {number}", sentences(OWN, f"o{number}x"))
        turn = number % (SHARED_DOCUMENTS + 1)
        documents = [own, *shared]
        documents = documents[turn:] + documents[:turn]
        annotators.append(Annotator(app.url, f"annotator {number}", documents))
    asyncio.run(annotators[0].visit())  # loads the models
    before = app.cpu()
    asyncio.run(all_work(annotators, seconds))
    used = app.cpu() - before
    steps = [1000 * each for annotator in annotators for each in annotator.seconds]
    with open_store(app.database) as store:
        wrong = list(differences(store, annotators))
        rows = len(store.annotations())
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    refused = sum(len(annotator.problems) for annotator in annotators)
    at_once = f"{ANNOTATORS} annotators at once for {seconds:.0f} s"
    yield figure(f"key → answer, {at_once}", "ms", steps, STEP, STEP)
    yield figure(
        f"CPU of the server per key, {at_once}", "ms", [1000 * used / len(steps)], n=len(steps)
    )
    yield figure(f"keys refused, {at_once}", "keys", [refused], 0, n=len(steps))
    yield figure(
        f"rows lost, doubled or not as confirmed, {at_once}", "rows", [len(wrong)], 0, n=rows
    )


def printed() -> str:
    """The last run, as a table."""
    report = json.loads(OUT.read_text())
    figures = [Figure(**line) for line in report.pop("figures")]
    report.pop("n")
    return table(Machine(**report), figures).rstrip()


if __name__ == "__main__":
    main()
