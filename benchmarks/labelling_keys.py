"""From a key of the labeller to the picture of its answer, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from documents import stored
from meter import SHOWN, Meter
from playwright.sync_api import Browser
from report import Figure, figure
from serving import App

MODEL = "upos-en"
SENTENCES = {
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


def keys(browser: Browser, app: App, words: int, n: int) -> Iterator[Figure]:
    """Correct two words of a sentence and accept it, `n` times; the server never saw a sentence.

    Raises:
        RuntimeError: the sentences do not have that many words.
    """
    texts = [SENTENCES[words].format(day=f"day{i}") for i in range(n + 1)]
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
