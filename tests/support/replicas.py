"""Visitors and annotators for several processes behind a proxy, and faults of the servers.

They use one URL and no browser. After a lost connection, a visitor reconnects as a browser does:
with only the URL of the page and its cookies.
"""

import asyncio
import signal
import time
import urllib.request
from contextlib import suppress
from copy import deepcopy
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException

# F401: imported from here by tests
from benchmarks.visitors import SETTINGS, Session, Viewer  # noqa: F401
from crfviz.exceptions import StoreError
from tests.support.annotators import (  # noqa: F401 - imported from here by tests
    Annotator,
    Confirmed,
    differences,
    sentences,
    stored,
)

METRICS = {"CRFVIZ_METRICS": "local"}
AGAIN = 0.2  # seconds between two attempts to reconnect
LOST = (WebSocketException, OSError, EOFError, TimeoutError)
COOKIE = "crfviz_replica"


class Visitor(Viewer):
    """A viewer with cookies, who can reconnect after a lost connection."""

    def __init__(self, url, page=""):
        super().__init__(url, page)
        self.cookies = {}

    @property
    def replica(self):
        """The name of the process that serves this visitor."""
        return self.cookies.get(COOKIE, "")

    async def __aenter__(self):
        self.cookies |= await cookies_of(self.url, self.cookies)
        self.headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        return await super().__aenter__()

    async def back(self):
        """Open the page again; retry until it succeeds."""
        while True:
            try:
                await self.__aenter__()
                await self.open()
            except LOST:
                await asyncio.sleep(AGAIN)
            else:
                return


class Steadfast(Annotator):
    """An annotator who continues after every fault of the servers.

    If a key got no reply, the store shows whether it was saved, at most once. It may be saved late,
    because the process that received it may still be shutting down.
    """

    def __init__(self, url, name, documents, store):
        super().__init__(url, name, documents)
        self._store = store
        self._unsure = {}  # keys without a reply, by sentence
        self.lost = 0  # number of lost connections
        self.done = False
        self._cookies = {}

    async def work(self, seconds, pace=(0.05, 0.15)):
        """Label until `stop` is called, the document is done or the time is up."""
        self._end = time.monotonic() + seconds
        while time.monotonic() < self._end and not self.done:
            try:
                await self._label(pace)
            except LOST:
                self.lost += 1
                await asyncio.sleep(AGAIN)
            with suppress(StoreError):  # the database may be restarting: retry in the next turn
                self.done = await asyncio.to_thread(self._through)

    async def _label(self, pace):
        async with self._session(self.documents[0]) as session:
            await session.open()
            try:  # the page shows the stored revision: keys not saved by now will be rejected
                await asyncio.to_thread(self._settle)
            except StoreError:  # the database may be restarting: retry in the next turn
                return
            number = 0
            while session.data is not None and time.monotonic() < self._end:
                number += 1
                await asyncio.sleep(self._random.uniform(*pace))
                await self._press(session, number)
                if self.problems:  # rejected: reopen the page, which shows the stored revision
                    self.problems.clear()
                    return

    def _session(self, document):
        return Labelling(super()._session(document), self._cookies)

    def _key(self, shown, known):
        event = super()._key(shown, known)
        self._unsure.setdefault(shown["item"], []).append(event)
        return event

    def _note(self, event, known, answer):
        if answer is None:  # the page shows a message: all is done, or the database was down
            return
        if answer["problem"]:
            self.problems.append(answer["problem"])
            return
        super()._note(event, known, answer)
        del self._unsure[event["item"]]

    def _through(self):
        """Return whether every sentence of the document is accepted."""
        if not self.confirmed:
            return False
        document = self._store.item(next(iter(self.confirmed))).document
        progress = self._store.progress(document, self.name)
        return progress.done == progress.total

    def _settle(self):
        """Find the keys without a reply that the store has saved, and confirm them."""
        for item in list(self._unsure):
            row, known = self._store.annotation(item, self.name), self.confirmed[item]
            if row is None or row.revision != known.revision + 1:
                continue
            for event in self._unsure[item]:
                after = deepcopy(known)
                super()._note(event, after, {"tags": row.final, "problem": None})
                if (after.state, after.pins) == (row.state, dict(row.pins)):
                    self.confirmed[item] = after
                    del self._unsure[item]
                    break


class Labelling(Session):
    """A session on Annotate that the proxy routes to one process, by a cookie."""

    def __init__(self, like, cookies):
        super().__init__(like.url, like.page, {})
        self.query = like.query
        self._cookies = cookies

    async def __aenter__(self):
        self._cookies |= await cookies_of(self.url, self._cookies)
        self.headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self._cookies.items())}
        return await super().__aenter__()


async def disturbed(topology, people):
    """Cause each fault while people label; everybody labels before and after each fault.

    Returns the names of the faults.
    """
    working = [asyncio.create_task(each.work(600)) for each in people]
    happened = []
    try:
        for what, happen in faults(topology):
            await labelled_on(people)
            await asyncio.to_thread(happen)
            happened.append(what)
        await labelled_on(people)
    finally:
        for each in people:
            each.stop()
        await asyncio.gather(*working)
        for each in people:
            await asyncio.to_thread(each._settle)
    return happened


def faults(topology):
    """Yield each fault: its name and the function that causes it."""
    first, *_ = topology.replicas

    def kill():
        first.end(signal.SIGKILL)
        revive(first)

    def restart_database():
        topology.postgres.stop()
        topology.postgres.start()

    def roll():
        for replica in topology.replicas:
            replica.end()
            revive(replica)

    yield "a process is killed", kill
    yield "PostgreSQL is restarted", restart_database
    yield "all processes are restarted in turn", roll


async def labelled_on(people):
    """Wait until everybody has got replies to three more keys or is done."""
    before = [len(each.seconds) for each in people]
    while any(
        len(each.seconds) < number + 3 and not each.done
        for each, number in zip(people, before, strict=True)
    ):
        await asyncio.sleep(0.02)


def revive(replica):
    """Start a stopped process, and wait until it responds."""
    replica.start()
    replica.wait()


def sessions(replica):
    """Return the number of sessions of a process, from its metrics."""
    with urllib.request.urlopen(f"http://{replica.address}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    (line,) = (line for line in lines if line.startswith("crfviz_sessions "))
    return int(float(line.split()[1]))


async def cookies_of(url, kept):
    """Request a page; return the cookies of the response.

    Raises:
        OSError: no connection, or a status other than 200.
    """
    host, _, port = urlsplit(url).netloc.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    sent = "; ".join(f"{name}={value}" for name, value in kept.items())
    head = [f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\nAccept: text/html"]
    head += [f"Cookie: {sent}"] if sent else []
    writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
    lines = (await reader.read()).partition(b"\r\n\r\n")[0].decode().split("\r\n")
    writer.close()
    if " 200 " not in f"{lines[0]} ":
        raise OSError(lines[0])
    found = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name.lower() == "set-cookie":
            found |= {key: morsel.value for key, morsel in SimpleCookie(value.strip()).items()}
    return found
