"""Several processes behind a proxy: how a class spreads, and what a kill and restarts cost.

    python benchmarks/replicas.py [--only phones]

Everything runs on this machine, from the configuration files of `deploy/`: visitors and annotators,
too, without browsers. All have one address. A visitor who loses the connection comes back as a
browser does, from the address of the page alone and with its cookies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from annotators import Annotator, Confirmed, differences
from crowd import all_answer, all_see, following
from documents import sentences, stored
from psycopg import connect
from report import Figure, figure, machine, table_of_parts
from streamlit_session import Session
from viewers import SETTINGS, Viewer
from websockets.exceptions import WebSocketException

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
from crfviz.annotations.store.store import Store, open_store  # noqa: E402
from crfviz.exceptions import StoreError  # noqa: E402
from deploy.local import Replica, Topology  # noqa: E402

OUT = Path(__file__).with_name("replicas.json")
METRICS = {"CRFVIZ_METRICS": "local"}
REPLICAS, VISITORS, ANNOTATORS, SENTENCES = 3, 200, 20, 300
SPREAD, BACK = 1.3, 5.0  # busiest to idlest; seconds
AGAIN = 0.2  # seconds between two tries to come back
LOST = (WebSocketException, OSError, EOFError, TimeoutError)
COOKIE = "crfviz_replica"


def main() -> None:
    """Measure everything or one part, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=list(PARTS), help="measure one part, and keep the others")
    chosen = parser.parse_args().only
    load_before = os.getloadavg()[0]
    measured = json.loads(OUT.read_text())["parts"] if OUT.exists() else {}
    with Topology(REPLICAS, SETTINGS | METRICS) as all_of_it:
        for name, part in PARTS.items():
            if chosen in (None, name):
                measured[name] = list(map(asdict, asyncio.run(part(all_of_it))))
    report = {**asdict(machine("not used", load_before)), "parts": measured}
    OUT.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(f"{printed()}\n")


class Visitor(Viewer):
    """Somebody who keeps cookies, and comes back when the connection is lost."""

    def __init__(self, url: str, page: str = "") -> None:
        super().__init__(url, page)
        self.cookies: dict[str, str] = {}

    @property
    def replica(self) -> str:
        """The name of the process that this visitor is at."""
        return self.cookies.get(COOKIE, "")

    async def __aenter__(self) -> Self:
        self.cookies |= await cookies_of(self.url, self.cookies)
        self.headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        return await super().__aenter__()

    async def back(self) -> None:
        """Open the page again, however often that has to be tried."""
        while True:
            try:
                await self.__aenter__()
                await self.open()
            except LOST:
                await asyncio.sleep(AGAIN)
            else:
                return


class Steadfast(Annotator):
    """An annotator who goes on after whatever happens to the servers.

    Whether a key that got no answer was stored, the store tells, once or never. It may be stored
    late: the process that had it may still be ending.
    """

    def __init__(self, url: str, name: str, documents: Sequence[str], store: Store) -> None:
        super().__init__(url, name, documents)
        self._store = store
        self._unsure: dict[int, list[dict[str, Any]]] = {}  # keys without an answer, by sentence
        self.lost = 0  # connections
        self.done = False
        self._cookies: dict[str, str] = {}

    async def work(self, seconds: float, pace: tuple[float, float] = (0.05, 0.15)) -> None:
        """Label until `stop`, or so many seconds."""
        self._end = time.monotonic() + seconds
        while time.monotonic() < self._end and not self.done:
            try:
                await self._label(pace)
            except LOST:
                self.lost += 1
                await asyncio.sleep(AGAIN)
            with suppress(StoreError):  # its server may be what is restarted: at the next turn
                self.done = await asyncio.to_thread(self._through)

    async def _label(self, pace: tuple[float, float]) -> None:
        async with self._session(self.documents[0]) as session:
            await session.open()
            try:  # what the page shows is stored: a key that is not found now is refused later
                await asyncio.to_thread(self._settle)
            except StoreError:  # its server may be what is restarted: at the next turn
                return
            number = 0
            while session.data is not None and time.monotonic() < self._end:
                number += 1
                await asyncio.sleep(self._random.uniform(*pace))
                await self._press(session, number)
                if self.problems:  # refused: the page that is opened anew shows what is stored
                    self.problems.clear()
                    return

    def _session(self, document: str) -> Session:
        return Labelling(super()._session(document), self._cookies)

    def _key(self, shown: Mapping[str, Any], known: Confirmed) -> dict[str, Any]:
        event = super()._key(shown, known)
        self._unsure.setdefault(shown["item"], []).append(event)
        return event

    def _note(
        self, event: dict[str, Any], known: Confirmed, answer: Mapping[str, Any] | None
    ) -> None:
        if answer is None:  # a message stands there: all is done, or the database was away
            return
        if answer["problem"]:
            self.problems.append(answer["problem"])
            return
        super()._note(event, known, answer)
        del self._unsure[event["item"]]

    def _through(self) -> bool:
        """Whether every sentence of the document is accepted."""
        if not self.confirmed:
            return False
        document = self._store.item(next(iter(self.confirmed))).document
        progress = self._store.progress(document, self.name)
        return progress.done == progress.total

    def _settle(self) -> None:
        """Look which of the keys without an answer are in the store."""
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
    """A session on Annotate that is sent to one process, by the cookie of its page."""

    def __init__(self, like: Session, cookies: dict[str, str]) -> None:
        super().__init__(like.url, like.page, {})
        self.query = like.query
        self._cookies = cookies

    async def __aenter__(self) -> Self:
        self._cookies |= await cookies_of(self.url, self._cookies)
        self.headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self._cookies.items())}
        return await super().__aenter__()


async def spread(topology: Topology) -> list[Figure]:
    """A class opens the page at once; all have one address."""
    visitors = [Visitor(topology.url) for _ in range(VISITORS)]
    await asyncio.gather(*(visitor.__aenter__() for visitor in visitors))
    numbers = [sessions(replica) for replica in topology.replicas]
    await asyncio.gather(*(visitor.__aexit__(None, None, None) for visitor in visitors))
    of = f"{VISITORS} visitors of one address, {REPLICAS} processes"
    ratio = max(numbers) / min(numbers)
    return [figure(f"busiest to idlest process, {of}", "times", [ratio], SPREAD, n=VISITORS)]


async def phones(topology: Topology) -> list[Figure]:
    """Telephones follow on all processes, and answer all in the same moment."""
    leader = Visitor(topology.url, "?v.ask=1")
    await leader.opened()
    await leader.press("Let others follow")
    await leader.edit()
    async with following(leader.code, VISITORS) as every:
        answers = await all_answer(every)
        shown = await all_see(leader, every)
    await leader.__aexit__(None, None, None)
    with connect(topology.database) as database:
        (counted,) = database.execute("SELECT count(*) FROM crfviz_answers").fetchone() or (0,)
    of = f"{VISITORS} telephones on {REPLICAS} processes"
    lost = abs(VISITORS - counted)
    return [
        figure(f"answer → stored, {of} at once", "ms", [1000 * s for s in answers], 500, 500),
        figure(f"answers lost or doubled, {of}", "answers", [lost], 0, n=VISITORS),
        figure(f"edit of who leads → picture's data at {of}", "ms", [1000 * s for s in shown]),
    ]


async def killed(topology: Topology) -> list[Figure]:
    """A process is killed; those who were at it open their page anew."""
    visitors = [Visitor(topology.url, "why?sentence=Kim+saw+Oslo") for _ in range(VISITORS // 10)]
    for visitor in visitors:
        await visitor.opened()
    victim = topology.replicas[0]
    theirs = [visitor for visitor in visitors if visitor.replica == "1"]
    await asyncio.to_thread(victim.end, signal.SIGKILL)
    begin = time.perf_counter()

    async def returned(visitor: Visitor) -> float:
        await visitor.back()
        await visitor.edit()
        return time.perf_counter() - begin

    seconds = await asyncio.gather(*(returned(visitor) for visitor in theirs))
    await asyncio.gather(*(visitor.__aexit__(None, None, None) for visitor in visitors))
    await asyncio.to_thread(revive, victim)
    what = f"kill → page drawn and an edit answered, {len(theirs)} visitors of the process"
    return [figure(what, "s", seconds, BACK, BACK)]


async def restarted(topology: Topology) -> list[Figure]:
    """All processes are restarted, one killed, and PostgreSQL, too, while many label."""
    with open_store(topology.database) as store:
        documents = [
            stored(topology.database, f"document {n}", sentences(SENTENCES, f"{n}-"))
            for n in range(ANNOTATORS)
        ]
        people = [
            Steadfast(topology.url, f"annotator {n}", [document], store)
            for n, document in enumerate(documents)
        ]
        faults = await disturbed(topology, people)
        wrong = list(differences(store, people))
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    keys = sum(len(each.seconds) for each in people)
    of = f"{ANNOTATORS} annotators, {keys:,} keys: {', '.join(faults)}"
    lost = sum(each.lost for each in people)
    return [
        figure(f"confirmed keys that are lost or doubled, {of}", "keys", [len(wrong)], 0, n=keys),
        figure("connections lost meanwhile", "connections", [lost], n=keys),
    ]


async def disturbed(topology: Topology, people: Sequence[Steadfast]) -> list[str]:
    """What happens to the servers while people label; all have labelled before and after each."""
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


def faults(topology: Topology) -> Iterator[tuple[str, Any]]:
    """What happens, and what makes it happen."""
    first, *_ = topology.replicas

    def kill() -> None:
        first.end(signal.SIGKILL)
        revive(first)

    def restart_database() -> None:
        topology.postgres.stop()
        topology.postgres.start()

    def roll() -> None:
        for replica in topology.replicas:
            replica.end()
            revive(replica)

    yield "a process is killed", kill
    yield "PostgreSQL is restarted", restart_database
    yield "all processes are restarted in turn", roll


async def labelled_on(people: Sequence[Steadfast]) -> None:
    """Until everybody has got answers to some more keys, or is through."""
    before = [len(each.seconds) for each in people]
    while any(
        len(each.seconds) < number + 3 and not each.done
        for each, number in zip(people, before, strict=True)
    ):
        await asyncio.sleep(0.02)


def revive(replica: Replica) -> None:
    """Start a process that was ended, until it answers."""
    replica.start()
    replica.wait()


def sessions(replica: Replica) -> int:
    """How many sessions a process has."""
    with urllib.request.urlopen(f"http://{replica.address}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    (line,) = (line for line in lines if line.startswith("crfviz_sessions "))
    return int(float(line.split()[1]))


async def cookies_of(url: str, kept: Mapping[str, str]) -> dict[str, str]:
    """The cookies that come with a page.

    Raises:
        OSError: nobody answers, or nobody well.
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
    found: dict[str, str] = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name.lower() == "set-cookie":
            found |= {key: morsel.value for key, morsel in SimpleCookie(value.strip()).items()}
    return found


PARTS = {"spread": spread, "phones": phones, "killed": killed, "restarted": restarted}


def printed() -> str:
    """The last run, as a table."""
    return table_of_parts(OUT, PARTS)


if __name__ == "__main__":
    main()
