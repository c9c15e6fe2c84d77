"""How fast the page Annotate answers: one annotator, twenty at once, and one beside a large import.

    python benchmarks/annotators.py [--n 30] [--out benchmarks/annotators.json]

A key of the one annotator is timed inside a real Chromium, from its time stamp to the frame that
shows the answer (`page_clock.js`); its answer is in the store by then. The twenty speak Streamlit's
protocol without a browser: a key is timed from the message to the data that acknowledges it. Each
waits 0.7 to 1.5 seconds after an answer before the next key, and corrects three of four times, else
accepts or undoes. Afterwards every row of the store is compared with what was confirmed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from measuring import (
    PATIENCE,
    SHOWN,
    WINDOW,
    Figure,
    Meter,
    app_and_browser,
    figure,
    machine,
    saved_table,
)
from playwright.sync_api import Browser
from serving import App, running_app
from visitors import Session

from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.store.store import Store, open_store
from crfviz.taggers.registry import read_excerpt

OUT = Path(__file__).with_name("annotators.json")
MODEL, EXCERPT = "upos-en", "excerpts/ewt-dev.conllu"
ANNOTATORS, SECONDS = 20, 120.0
OWN, SHARED, SHARED_DOCUMENTS = 12, 12, 2  # sentences of a document, and how many all share
PACE = (0.7, 1.5)  # seconds between an answer and the next key, drawn anew for each
UNDO, ACCEPT = 0.1, 0.25  # share of the keys that take one back, and that accept a sentence
STEP = 1000  # milliseconds
TEXTS = {
    12: "The committee will present its report to the board on {day} .",
    40: (
        "When the old man who lived near the {day} heard that his favourite boat had been sold to "
        "a rich stranger from the city , he walked home slowly , closed the door , and wrote a "
        "long letter ."
    ),
}
LETTERS = (("n", 2), ("b", 5))  # NOUN and VERB, and where: how many words from the beginning
BOUNDS = {12: (120, 250), 40: (120, 250)}  # milliseconds, p50 and p95
KIB = 1024  # bytes in the KB of the table
REST = 150  # milliseconds in which everything arrives that a key sends
IMPORTED = 50_000  # sentences
LONGEST = 100  # characters of a sentence, so that all of them fit into the 5 MB of an upload
AT_LEAST = 30  # keys of the other annotator before the file comes
WITHIN = 60  # seconds
Event = dict[str, Any]


def sentences(number: int, mark: str) -> list[str]:
    """Return sentences of about 17 words; the `mark` and a number in each make it like no other."""
    texts = itertools.cycle(" ".join(each.tokens) for each in read_excerpt(EXCERPT))
    return [f"{text} {mark}{n}" for n, text in zip(range(number), texts, strict=False)]


def stored(database: str, name: str, texts: list[str]) -> str:
    """Store sentences as a document; return its name in an address."""
    with open_store(database) as store:
        taken = keep(store, read_items("\n".join(texts).encode(), name))[-1]
        document = next(each for each in store.documents() if each.name == taken)
    return f"{document.created:%Y%m%d%H%M%S%f}"


@dataclass
class Confirmed:
    """What an annotator was shown of one sentence after the last key, or accepted."""

    revision: int
    state: str
    tags: list[str]
    pins: dict[int, str]
    past: list[dict[int, str]] = field(default_factory=list)


class Annotator:
    """Presses keys at random, as fast as a quick person: corrects, takes back, accepts.

    Args:
        url: of the app.
        name: of the annotator.
        documents: what stands for them in an address; labelled one after the other.
    """

    def __init__(self, url: str, name: str, documents: Sequence[str]) -> None:
        self.url, self.name, self.documents = url, name, documents
        self.confirmed: dict[int, Confirmed] = {}  # by sentence
        self.seconds: list[float] = []  # from each key to its answer
        self.problems: list[str] = []
        self._random = random.Random(name)
        self._end = 0.0

    def stop(self) -> None:
        """Press no more keys."""
        self._end = 0.0

    async def visit(self) -> None:
        """Look at the page: the first visitor of a server waits until its models are loaded."""
        async with self._session(self.documents[0]) as session:
            await session.open()

    async def work(self, seconds: float, pace: tuple[float, float] = PACE) -> None:
        """Label until the time is over or everything is done; every key is answered then."""
        self._end = time.monotonic() + seconds
        for key in self.documents:
            async with self._session(key) as session:
                await session.open()
                number = 0
                while session.data is not None and time.monotonic() < self._end:
                    number += 1
                    await asyncio.sleep(self._random.uniform(*pace))
                    await self._press(session, number)

    def _session(self, document: str) -> Session:
        params = {"model": MODEL, "v.by": self.name, "v.doc": document}
        return Session(self.url, "annotate", params)

    async def _press(self, session: Session, number: int) -> None:
        shown: Mapping[str, Any] = session.data or {}
        known = self.confirmed.setdefault(
            shown["item"], Confirmed(0, "open", list(shown["tags"]), {})
        )
        event = self._key(shown, known)
        begin = time.perf_counter()
        await session.send({"seq": number, "seconds": 1.0, **event})
        self.seconds.append(time.perf_counter() - begin)
        self._note(event, known, session.data)

    def _key(self, shown: Mapping[str, Any], known: Confirmed) -> Event:
        of = {"item": shown["item"], "revision": shown["revision"]}
        chance = self._random.random()
        if chance < UNDO and known.past:
            return {"kind": "undo", **of}
        if chance > 1 - ACCEPT:
            return {"kind": "accept", **of}
        word = self._random.randrange(len(shown["words"]))
        tag = self._random.choice(shown["choices"])["name"]
        return {"kind": "correct", "first": word, "last": word, "what": tag, **of}

    def _note(self, event: Event, known: Confirmed, answer: Mapping[str, Any] | None) -> None:
        """What the answer confirms, worked out from the keys alone but for the other tags."""
        known.revision += 1
        if event["kind"] == "accept":
            known.state = "done"
        elif answer is not None:
            pins = dict(known.pins) | {event.get("first", -1): event.get("what", "")}
            if event["kind"] == "undo":
                known.pins = known.past.pop()
            elif pins != known.pins:
                known.past.append(known.pins)
                known.pins = pins
            known.tags = list(answer["tags"])
        if answer is not None and answer["problem"]:
            self.problems.append(answer["problem"])


def differences(store: Store, annotators: Sequence[Annotator]) -> Iterator[str]:
    """Each row that is not as it was confirmed, is missing, twice there, or of nobody."""
    expected = {
        (item, each.name): confirmed
        for each in annotators
        for item, confirmed in each.confirmed.items()
        if confirmed.revision
    }
    rows = [annotation for _, annotation in store.annotations()]
    seen = set()
    for row in rows:
        place = (row.item, row.annotator)
        found = Confirmed(row.revision, row.state, list(row.final), dict(row.pins))
        found.past = [dict(step.pins) for step in row.past]
        if place in seen:
            yield f"{place} is there twice"
        elif found != expected.get(place):
            yield f"{place} is {found}, confirmed was {expected.get(place)}"
        seen.add(place)
    yield from (f"{place} is missing" for place in expected if place not in seen)


async def all_work(
    annotators: Sequence[Annotator], seconds: float, pace: tuple[float, float] = PACE
) -> None:
    """All annotators at once, on a server that has loaded its models."""
    await annotators[0].visit()
    async with asyncio.TaskGroup() as tasks:
        for each in annotators:
            tasks.create_task(each.work(seconds, pace))


def keys(browser: Browser, app: App, words: int, n: int) -> Iterator[Figure]:
    """Correct two words of a sentence and accept it, `n` times; the server never saw a sentence.

    Raises:
        RuntimeError: the sentences do not have that many words.
    """
    texts = [TEXTS[words].format(day=f"day{i}") for i in range(n + 1)]
    document = stored(app.database, f"{words} words", texts)
    meter = Meter(browser, app)
    query = urlencode({"model": MODEL, "v.by": "reader", "v.doc": document})
    meter.page.goto(f"{app.url}/annotate?{query}")
    meter.page.locator("[data-labeller] .chip").nth(words - 1).wait_for()
    found = meter.page.locator("[data-labeller] .chip").count()
    if found != words:
        raise RuntimeError(f"the sentence of {words} words has {found}")
    meter.page.wait_for_timeout(1000)
    letters: list[float] = []
    enters: list[float] = []
    received: list[float] = []
    server_before, browser_before = app.cpu(), meter.cpu()
    for _ in range(n):
        for letter, place in LETTERS:
            meter.page.keyboard.press("Home")
            for _ in range(place):
                meter.page.keyboard.press("ArrowRight")
            letters.append(_pressed(meter, letter, received))
        enters.append(_pressed(meter, "Enter", received))
    steps = n * (len(LETTERS) + 1)
    server = 1000 * (app.cpu() - server_before) / steps
    browser_ = 1000 * (meter.cpu() - browser_before) / steps
    meter.close()
    at = f"at {words} words"
    yield figure(f"tag key → answer drawn {at}", "ms", letters, *BOUNDS[words])
    yield figure(f"Enter → next sentence drawn {at}", "ms", enters)
    yield figure(f"received per key {at}", "KB", received)
    yield figure(f"CPU of the server per key {at}", "ms", [server], n=steps)
    yield figure(f"CPU of the browser per key {at}", "ms", [browser_], n=steps)


def _pressed(meter: Meter, key: str, received: list[float]) -> float:
    """Milliseconds from a key to the picture of its answer; notes what arrived as well."""
    before = meter.bytes_received
    meter.forget()
    meter.page.keyboard.press(key)
    meter.wait(SHOWN)
    meter.page.wait_for_timeout(REST)
    received.append((meter.bytes_received - before) / KIB)
    return meter.since_input()[0][1]


def large_import(browser: Browser, app: App) -> Iterator[Figure]:
    """Upload a file, keep it and see its first sentence; another annotator goes on meanwhile."""
    texts = [text for text in sentences(2 * IMPORTED, "n") if len(text) <= LONGEST][:IMPORTED]
    content = "\n".join(texts).encode()
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.set_default_timeout(4 * PATIENCE)
    page.goto(f"{app.url}/annotate?v.part=add&v.by=importer")
    keep = page.get_by_role("button", name=re.compile(r"^Add [\d,]+"))
    upload = page.locator("input[type=file]")
    upload.wait_for(state="attached")
    with somebody_else(app) as other:
        while len(other.seconds) < AT_LEAST:
            time.sleep(0.1)
        before = len(other.seconds)
        begin = time.monotonic()
        upload.set_input_files([{"name": "large.txt", "mimeType": "text/plain", "buffer": content}])
        keep.wait_for()
        read = time.monotonic() - begin
        reading = other.seconds[before:]
        begin = time.monotonic()
        keep.click()
        page.locator("[data-labeller] .chip").first.wait_for()
        kept = time.monotonic() - begin
        writing = other.seconds[before + len(reading) :]
        context.close()
    of = f"of {IMPORTED:,} sentences, {len(content) / 1e6:.1f} MB"
    yield figure(f"upload and preview {of}", "s", [read])
    yield figure(f"keeping {of}, to the first one drawn", "s", [kept], WITHIN)
    yield figure("key → answer of another session before", "ms", ms(other.seconds[:before]))
    yield figure("key → answer of another session, file being read", "ms", ms(reading))
    yield figure(
        "key → answer of another session, file being stored", "ms", ms(writing), STEP, STEP
    )


@contextmanager
def somebody_else(app: App) -> Iterator[Annotator]:
    """An annotator who labels in a thread until the end."""
    documents = [stored(app.database, "beside the import", sentences(1000, "b"))]
    other = Annotator(app.url, "other", documents)
    thread = threading.Thread(target=lambda: asyncio.run(other.work(4 * PATIENCE, (0.0, 0.1))))
    thread.start()
    try:
        yield other
    finally:
        other.stop()
        thread.join()


def ms(seconds: Sequence[float]) -> list[float]:
    """Seconds in milliseconds."""
    return [1000 * each for each in seconds]


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
    sys.stdout.write(saved_table(OUT))


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


if __name__ == "__main__":
    main()
