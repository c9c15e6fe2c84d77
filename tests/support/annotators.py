"""Simulated annotators, without browsers: they label at random and record the server's replies."""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.visitors import Session
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.store.store import Store, open_store
from crfviz.taggers.registry import read_excerpt

MODEL, EXCERPT = "upos-en", "excerpts/ewt-dev.conllu"
PACE = (0.7, 1.5)  # seconds between a reply and the next key: a range to draw from
UNDO, ACCEPT = 0.1, 0.25  # share of keys that undo, and that accept a sentence
Event = dict[str, Any]


def sentences(number: int, mark: str) -> list[str]:
    """Return sentences of about 17 words; each ends in `mark` and a number, so all differ."""
    texts = itertools.cycle(" ".join(each.tokens) for each in read_excerpt(EXCERPT))
    return [f"{text} {mark}{n}" for n, text in zip(range(number), texts, strict=False)]


def stored(database: str, name: str, texts: list[str]) -> str:
    """Store sentences as a document; return the document's key for URLs."""
    with open_store(database) as store:
        taken = keep(store, read_items("\n".join(texts).encode(), name))[-1]
        document = next(each for each in store.documents() if each.name == taken)
    return f"{document.created:%Y%m%d%H%M%S%f}"


@dataclass
class Confirmed:
    """The expected annotation of one sentence, according to the server's replies so far."""

    revision: int
    state: str
    tags: list[str]
    pins: dict[int, str]
    past: list[dict[int, str]] = field(default_factory=list)


class Annotator:
    """Presses random keys as fast as a quick person: correct, undo, accept.

    Args:
        url: the app's URL.
        name: the annotator's name.
        documents: keys of the documents in URLs; labelled in this order.
    """

    def __init__(self, url: str, name: str, documents: Sequence[str]) -> None:
        self.url, self.name, self.documents = url, name, documents
        self.confirmed: dict[int, Confirmed] = {}  # by sentence
        self.seconds: list[float] = []  # from each key to its reply
        self.problems: list[str] = []
        self._random = random.Random(name)
        self._end = 0.0

    def stop(self) -> None:
        """Stop pressing keys."""
        self._end = 0.0

    async def visit(self) -> None:
        """Open the page once; the first visit waits until the server has loaded its models."""
        async with self._session(self.documents[0]) as session:
            await session.open()

    async def work(self, seconds: float, pace: tuple[float, float] = PACE) -> None:
        """Label until the time is up or all documents are done; wait for the last reply."""
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
        """Record a reply: revision, state and pins follow from the keys, tags from the reply."""
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
    """Yield each stored row that is unexpected, duplicated or missing, as a message."""
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
    """Run all annotators concurrently, after one visit that loads the server's models."""
    await annotators[0].visit()
    async with asyncio.TaskGroup() as tasks:
        for each in annotators:
            tasks.create_task(each.work(seconds, pace))
