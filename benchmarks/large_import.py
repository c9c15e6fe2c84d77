"""A large file through the page Annotate in a real Chromium, while somebody else labels."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from annotators import Annotator
from documents import sentences, stored
from meter import PATIENCE, WINDOW
from playwright.sync_api import Browser
from report import Figure, figure
from serving import App

SENTENCES = 50_000
LONGEST = 100  # characters of a sentence, so that all of them fit into the 5 MB of an upload
AT_LEAST = 30  # keys of the other annotator before the file comes
WITHIN = 60  # seconds
STEP = 1000  # milliseconds


def large_import(browser: Browser, app: App) -> Iterator[Figure]:
    """Upload a file, keep it and see its first sentence; another annotator goes on meanwhile."""
    texts = [text for text in sentences(2 * SENTENCES, "n") if len(text) <= LONGEST][:SENTENCES]
    content = "\n".join(texts).encode()
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.set_default_timeout(4 * PATIENCE)
    page.goto(f"{app.url}/annotate?v.part=add&v.by=importer")
    keep = page.get_by_role("button", name="Keep the")
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
    of = f"of {SENTENCES:,} sentences, {len(content) / 1e6:.1f} MB"
    yield figure(f"upload and preview {of}", "s", [read])
    yield figure(f"keeping {of}, to the first one drawn", "s", [kept], WITHIN)
    yield figure("key → answer of another session before", "ms", _ms(other.seconds[:before]))
    yield figure("key → answer of another session, file being read", "ms", _ms(reading))
    yield figure(
        "key → answer of another session, file being stored", "ms", _ms(writing), STEP, STEP
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


def _ms(seconds: list[float]) -> list[float]:
    return [1000 * each for each in seconds]
