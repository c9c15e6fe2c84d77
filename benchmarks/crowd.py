"""What a crowd does to the app: all edit at once, a hundred go on editing, somebody uploads 5 MB.

    python benchmarks/crowd.py [--only many]

Viewers speak Streamlit's protocol without browsers: hundred browsers on one machine would measure
the browsers. They edit scores of the matrix on Transitions, where a reader can, and say what a
stage says. An edit is timed from the message to the data that acknowledges it; one that is not
answered within 3 s is sent once more, as a browser does. While each of the large inputs is handled,
ten others edit every two seconds, and the health route is asked without a pause.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from itertools import count, cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from measuring import Figure, figure, machine, ms, saved_table
from serving import ROOT, App, running_app
from visitors import SETTINGS, Viewer

from crfviz import read_sentences

OUT = Path(__file__).with_name("crowd.json")
VIEWERS, PAUSE, SECONDS = 100, 5.0, 40.0
AT_ONCE, ROUNDS, ANSWERED_AT_ONCE = 30, 5, (600, 1000)  # …, milliseconds
IDLE, EDITS = 400, 600  # the clock of a process ticks every 10 ms
BESIDE, BESIDE_PAUSE, WATCHED, OTHERS = 10, 2.0, 20.0, 300  # …, seconds, seconds, milliseconds
MEMORY_EDITS, MEMORY_SESSIONS, MEMORY_GROWTH, MEMORY = 2000, 1000, 1.05, 600  # …, MB
NEW, FEW, HALL, OPENED_WITHIN, OPENED, SAME = 5, 10, 200, 10.0, 3000, 1.1  # …, milliseconds, share
PAGE = "transitions"  # on which viewers edit
SENTENCE = "The+committee+will+present+its+report+to+the+board+on+Monday+."  # 12 words
LONGER = "?model=upos-en&sentence=" + "+".join(39 * ["boats"]) + "+."
LINK = "?model=upos-en&sentence=The+old+man+the+boats+.&t=DET.NOUN:1.5"
EXCERPT = ROOT / "models" / "excerpts" / "ewt-dev.conllu"
PHONES, SCREENS = 200, 10
ANSWERED, PHONE_MEMORY = 500, 100  # milliseconds, KB
MEGABYTES = 5
SIZE = MEGABYTES * 1_000_000 - 10_000  # bytes; what surrounds them must fit in, too
LOOK = 0.01  # seconds between an answer of the health route and the next question
STEP, LATE, CPU, CPU_OF_40, RATE = 1000, 3000, 12, 20, 18  # milliseconds; edits a second


def sentences(number: int, mark: str) -> list[str]:
    """Return sentences of about 17 words; the `mark` and a number in each make it like no other."""
    texts = cycle(" ".join(each.tokens) for each in read_sentences(EXCERPT))
    return [f"{text} {mark}{n}" for n, text in zip(range(number), texts, strict=False)]


def main() -> None:
    """Measure everything or one part, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=list(PARTS), help="measure one part, and keep the others")
    chosen = parser.parse_args().only
    load_before = os.getloadavg()[0]
    measured = json.loads(OUT.read_text())["parts"] if OUT.exists() else {}
    for name, part in PARTS.items():
        if chosen in (None, name):
            with (
                tempfile.TemporaryDirectory() as folder,
                running_app(Path(folder) / "server.log", SETTINGS) as app,
            ):
                measured[name] = list(map(asdict, asyncio.run(part(app))))
    report = {**asdict(machine("not used", load_before)), "parts": measured}
    OUT.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(saved_table(OUT, PARTS) + "\n")


async def at_once(app: App) -> list[Figure]:
    """All edit in the same moment."""
    async with crowd(app, AT_ONCE) as viewers:
        for _ in range(ROUNDS + 1):
            await asyncio.gather(*(viewer.edit() for viewer in viewers))
        seconds = [each for viewer in viewers for each in viewer.seconds[1:]]
    return [figure(f"edit → answer, {AT_ONCE} at once", "ms", ms(seconds), *ANSWERED_AT_ONCE)]


async def many(app: App) -> list[Figure]:
    """A hundred go on editing, then two hundred, who are to be answered no less often."""
    hundred, figures = await _many(app, VIEWERS, STEP, RATE)
    _, more = await _many(app, 2 * VIEWERS, LATE, hundred)
    return [*figures, *more]


async def _many(app: App, number: int, latest: float, least: float) -> tuple[float, list[Figure]]:
    """The rate of so many viewers, and what is to be told of them."""
    async with crowd(app, number) as viewers:
        before = app.cpu()
        await together(viewers, PAUSE, SECONDS)
        used = app.cpu() - before
        seconds = [each for viewer in viewers for each in viewer.seconds]
        resent = sum(viewer.resent for viewer in viewers)
    n = len(seconds)
    of = f"{number} viewers, each edits every {PAUSE:.0f} s"
    rate = n / SECONDS
    return rate, [
        figure(f"edit → answer, {of}", "ms", ms(seconds), latest, latest),
        Figure(f"answered, {of}", "edits a second", n, rate, rate, f"≥ {least:.3g}", rate >= least),
        figure(f"CPU of the server per edit, {of}", "ms", [1000 * used / n], CPU, n=n),
        figure(f"sent once more, {of}", "edits", [resent], n=n),
    ]


async def idle(app: App) -> list[Figure]:
    """One edits, alone and among sessions that do nothing."""
    async with crowd(app, 1, PAGE + LONGER) as (viewer,):
        longer = await _cpu_of_edits(app, viewer)
    async with crowd(app, 1) as (viewer,):
        alone = await _cpu_of_edits(app, viewer)
        async with crowd(app, IDLE):
            among = await _cpu_of_edits(app, viewer)
    return [
        figure("CPU of the server per edit at 12 words, nobody else", "ms", [alone], CPU, n=EDITS),
        figure("the same at 40 words", "ms", [longer], CPU_OF_40, n=EDITS),
        figure(
            f"CPU of the server per edit, {IDLE} idle sessions",
            "ms",
            [among],
            round(1.1 * alone, 1),
            n=EDITS,
        ),
    ]


async def opening(app: App) -> list[Figure]:
    """Links are opened by the first visitors of new servers, and one by a hall within seconds."""
    await _seen(app)  # what this program needs the first time is not to be blamed on a new server
    few = [await _first_visitors() for _ in range(NEW)]
    before = app.cpu()
    begin = time.perf_counter()

    async def visit(place: int) -> float:
        due = begin + OPENED_WITHIN * place / HALL
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        return await _seen(app, LINK)

    seconds = await asyncio.gather(*map(visit, range(HALL)))
    await asyncio.sleep(1)
    used = app.cpu() - before
    of = f"{HALL} visitors of one link within {OPENED_WITHIN:.0f} s"
    return [
        figure(
            f"opening → picture's data, visitor {FEW} of a new server",
            "ms",
            ms([seconds[-1] for seconds in few]),
        ),
        figure(
            "opening → picture's data, first visitor of a new server",
            "ms",
            ms([seconds[0] for seconds in few]),
            round(SAME * 1000 * statistics.median(max(seconds[1:]) for seconds in few)),
        ),
        figure(f"opening → picture's data, {of}", "ms", ms(seconds), OPENED, OPENED),
        figure(f"CPU of the server per opening, {of}", "ms", [1000 * used / HALL], n=HALL),
    ]


async def _first_visitors() -> list[float]:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "server.log", SETTINGS) as new,
    ):
        return [await _seen(new) for _ in range(FEW)]


async def _seen(app: App, page: str = "") -> float:
    """The seconds until a new visitor sees the picture."""
    viewer = Viewer(app.url, page)
    try:
        return await viewer.saw()
    finally:
        await viewer.__aexit__(None, None, None)


async def phones(app: App) -> list[Figure]:
    """Telephones follow one who leads, and answer all in the same moment."""
    async with crowd(app, 1, f"{PAGE}?v.ask=1") as (viewer,):
        await viewer.press("Let others follow")
        await viewer.edit()
        before = app.megabytes()
        async with following(viewer.code, PHONES) as every:
            each = 1024 * (app.megabytes() - before) / PHONES
            answers = await all_answer(every)
            shown = await all_see(viewer, every)
    of = f"{PHONES} telephones"
    return [
        figure(f"answer → counted, {of} at once", "ms", ms(answers), ANSWERED, ANSWERED),
        figure(f"edit of who leads → picture's data at {of}", "ms", ms(shown)),
        figure(f"memory of the server a telephone, {of}", "KB", [each], PHONE_MEMORY, n=PHONES),
    ]


@asynccontextmanager
async def following(room: str, number: int) -> AsyncIterator[list[Phone]]:
    """So many telephones that follow a room; each has its first screen."""
    every = [Phone(room) for _ in range(number)]
    lines = [asyncio.create_task(phone.follow()) for phone in every]
    await asyncio.gather(*(phone.changed.wait() for phone in every))
    yield every
    for line in lines:
        line.cancel()
    await asyncio.gather(*lines, return_exceptions=True)


async def all_answer(every: Sequence[Phone]) -> list[float]:
    """All answer the question on their screens at once: the seconds until each is counted."""
    asked = every[0].screen["question"]["id"]
    return await asyncio.gather(*(phone.answer(asked) for phone in every))


async def all_see(leader: Viewer, every: Sequence[Phone]) -> list[float]:
    """Some edits of who leads: the seconds until each telephone has the picture's data."""
    seconds = []
    for _ in range(SCREENS):
        for phone in every:
            phone.changed.clear()
        begin = time.perf_counter()
        await leader.edit()
        await asyncio.gather(*(phone.changed.wait() for phone in every))
        seconds += [phone.heard - begin for phone in every]
    return seconds


class Phone:
    """Somebody who follows a room, and no browser."""

    def __init__(self, room: str) -> None:
        address = urlsplit(room)
        self._host, self._port, self._path = address.hostname, address.port, address.path
        self._name = uuid.uuid4().hex
        self.screen: dict[str, Any] = {}
        self.heard = 0.0  # when the screen came
        self.changed = asyncio.Event()

    async def follow(self) -> None:
        """Take in the screens of the room, until this is cancelled."""
        reader, writer = await self._asked("GET", "screens")
        try:
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    self.heard, self.screen = time.perf_counter(), json.loads(line[6:])
                    self.changed.set()
        finally:
            writer.close()

    async def answer(self, question: str) -> float:
        """Give an answer; the seconds until it is counted."""
        told = {"question": question, "voter": self._name, "choice": 0}
        begin = time.perf_counter()
        reader, writer = await self._asked("POST", "answers", json.dumps(told).encode())
        status = await reader.readline()
        writer.close()
        if b" 204 " not in status:
            raise RuntimeError(f"an answer was not taken: {status.decode()}")
        return time.perf_counter() - begin

    async def _asked(
        self, method: str, what: str, body: bytes = b""
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(self._host, self._port, limit=2**22)
        head = f"{method} {self._path}/{what} HTTP/1.0\r\nHost: {self._host}:{self._port}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return reader, writer


async def memory(app: App) -> list[Figure]:
    """What is left of many edits, and of sessions that come and go."""
    async with crowd(app, 1) as (viewer,):
        await _edits(viewer, MEMORY_EDITS // 10)
        warm = app.megabytes()
        await _edits(viewer, MEMORY_EDITS)
        after = app.megabytes()
        for _ in range(MEMORY_SESSIONS // 10):
            async with crowd(app, 10):
                pass
        left = app.megabytes()
        async with crowd(app, HALL):
            full = app.megabytes()
    edits, sessions = (f"the same after {n:,}" for n in (MEMORY_EDITS, MEMORY_SESSIONS))
    most = round(MEMORY_GROWTH * warm)
    return [
        figure("memory of the server, warm", "MB", [warm], MEMORY),
        figure(f"the same with {HALL} sessions, at the end", "MB", [full], MEMORY),
        figure(f"{edits} edits more", "MB", [after], most, n=MEMORY_EDITS),
        figure(f"{sessions} sessions more", "MB", [left], most, n=MEMORY_SESSIONS),
    ]


@dataclass(frozen=True)
class Input:
    """What somebody hands in, and where."""

    what: str
    page: str
    label: str  # of the box or uploader
    content: bytes
    name: str = ""  # of the file; empty where it is pasted


def inputs() -> Iterator[Input]:
    """One of each, worst cases of before among them."""
    plain = "\n".join(sentences(60_000, "n")).encode()[:SIZE].rpartition(b"\n")[0]
    tagged = _conllu()
    table = "a row per word and a column per tag"
    homework = f"Your table: {table}, or the other way round"
    paste = "Paste sentences, one a line, then press Ctrl+Enter"
    file = "or a file: .txt, CoNLL-U, CoNLL columns, JSONL or spaCy's JSON"
    bring = "A file, or two that belong together"
    yield Input("the sentence box", "", "Sentence", plain)
    yield Input("the box of Homework, numbers", "homework", homework, _numbers())
    yield Input("the box of Homework, 1,111…1x", "homework", homework, b"1," + b"1" * SIZE + b"x")
    yield Input("the box of Annotate", "annotate?v.part=add&v.by=a", paste, plain)
    yield Input("Annotate, as a text file", "annotate?v.part=add&v.by=a", file, plain, "large.txt")
    yield Input("Annotate, as CoNLL-U", "annotate?v.part=add&v.by=a", file, tagged, "large.conllu")
    yield Input(
        "Model errors, as CoNLL-U",
        "model-errors?v.corpus=file",
        "A file with gold tags",
        tagged,
        "large.conllu",
    )
    yield Input("Bring, as JSON", "bring", bring, _scores(), "scores.json")


def _numbers() -> bytes:
    row = ",".join(f"{-1.5 - tag / 7:.6f}" for tag in range(17)) + "\n"
    return (row * (SIZE // len(row))).encode()


def _conllu() -> bytes:
    lines = io.StringIO()
    for text in sentences(60_000, "n"):
        for number, word in enumerate(text.split(), 1):
            lines.write(f"{number}\t{word}\t_\tNOUN\t_\t_\t_\t_\t_\t_\n")
        lines.write("\n")
        if lines.tell() > SIZE:
            break
    return lines.getvalue()[:SIZE].rpartition("\n\n")[0].encode() + b"\n\n"


def _scores() -> bytes:
    tags = [f"T{tag}" for tag in range(17)]
    row = [round(-1.5 - tag / 7, 6) for tag in range(17)]
    words = [f"w{word}" for word in range(20)]
    one = {"tokens": words, "emissions": [row] * 20}
    number = SIZE // len(json.dumps(one)) - 1
    transitions = [row] * 17
    return json.dumps(
        {"tags": tags, "transitions": transitions, "sentences": [one] * number}
    ).encode()


@contextmanager
def silences(app: App) -> Iterator[list[float]]:
    """The seconds that the health route takes to answer, asked again and again meanwhile."""
    answers: list[float] = []
    over = threading.Event()

    def ask() -> None:
        while not over.wait(LOOK):
            begin = time.perf_counter()
            urllib.request.urlopen(f"{app.url}/_stcore/health", timeout=120).close()
            answers.append(time.perf_counter() - begin)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        over.set()
        thread.join()


async def large(app: App) -> list[Figure]:
    """Somebody hands in 5 MB while others edit."""
    figures = []
    async with crowd(app, BESIDE) as others:
        for each in inputs():
            figures += await _large(app, each, others)
    return figures


async def _large(app: App, given: Input, others: Sequence[Viewer]) -> list[Figure]:
    """As long as it takes, but no longer than `WATCHED`; then the visitor leaves."""
    for other in others:
        other.seconds.clear()
    async with crowd(app, 1, given.page) as (viewer,):
        with silences(app) as answers:
            begin = time.perf_counter()
            editing = asyncio.create_task(together(others, BESIDE_PAUSE, WATCHED))
            working = asyncio.create_task(_hand_in(viewer, given))
            await asyncio.wait([working], timeout=WATCHED)
            taken = time.perf_counter() - begin
            await editing
        ended = working.done()
        working.cancel()
        await asyncio.wait([working])
    beside = [each for other in others for each in other.seconds]
    what = f"{MEGABYTES} MB into {given.what}"
    lasts = f"takes {taken:.1f} s" if ended else f"goes on after {WATCHED:.0f} s"
    return [
        figure(f"{what} ({lasts}): longest silence", "ms", [1000 * max(answers)], STEP),
        figure(f"{what}: edits of others", "ms", ms(beside), OTHERS, OTHERS),
    ]


async def _hand_in(viewer: Viewer, given: Input) -> None:
    if given.name:
        await viewer.upload(given.label, given.name, given.content)
    else:
        await viewer.type(given.label, given.content.decode())


async def heavy(app: App) -> list[Figure]:
    """Somebody has the server work without a pause while others edit."""
    figures = []
    async with crowd(app, BESIDE) as others:
        for what, work in HEAVY.items():
            for other in others:
                other.seconds.clear()
            working = asyncio.create_task(work(app))
            await together(others, BESIDE_PAUSE, WATCHED)
            if working.done() and (error := working.exception()):
                raise error
            working.cancel()
            await asyncio.wait([working])
            beside = [each for other in others for each in other.seconds]
            figures.append(figure(f"{what}: edits of others", "ms", ms(beside), OTHERS, OTHERS))
    return figures


async def _nothing(_: App) -> None:
    """For comparison."""


async def _learns(app: App) -> None:
    """Step after step of gradient descent at forty words."""
    async with crowd(app, 1, f"learn{LONGER}") as (viewer,):
        while True:
            await viewer.press("Take the step")


async def _enumerates(app: App) -> None:
    for n in count():
        page = f"naive?model=ner-en&sentence=Anna+lives+in+New+York+now&t=O.B-LOC:{1 + n / 100}"
        async with crowd(app, 1, page):
            pass


async def _teaches(_: App) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "crfviz", "teach", str(EXCERPT), "--model", "upos-en"]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            env={**os.environ, "CRFVIZ_USER_MODELS": folder},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


HEAVY = {
    "nothing else": _nothing,
    "Learn, step after step at 40 words": _learns,
    "Naive way, 531,441 paths again and again": _enumerates,
    "teaching": _teaches,
}

PARTS = {
    "at_once": at_once,
    "many": many,
    "idle": idle,
    "opening": opening,
    "phones": phones,
    "memory": memory,
    "large": large,
    "heavy": heavy,
}


@asynccontextmanager
async def crowd(
    app: App, number: int, page: str = f"{PAGE}?model=upos-en&sentence={SENTENCE}"
) -> AsyncIterator[list[Viewer]]:
    """So many viewers of a page; ten open it at a time."""
    viewers: list[Viewer] = []
    for first in range(0, number, 10):
        some = (Viewer(app.url, page).opened() for _ in range(min(10, number - first)))
        viewers += await asyncio.gather(*some)
    try:
        yield viewers
    finally:
        await asyncio.gather(*(viewer.__aexit__(None, None, None) for viewer in viewers))


async def together(viewers: Sequence[Viewer], pause: float, seconds: float) -> None:
    """All go on editing for a while, each at that pace."""
    end = time.perf_counter() + seconds
    await asyncio.gather(*(viewer.every(pause, end) for viewer in viewers))


async def _cpu_of_edits(app: App, viewer: Viewer) -> float:
    """Milliseconds an edit."""
    await _edits(viewer, EDITS // 3)
    before = app.cpu()
    await _edits(viewer, EDITS)
    return 1000 * (app.cpu() - before) / EDITS


async def _edits(viewer: Viewer, number: int) -> None:
    for _ in range(number):
        await viewer.edit()


if __name__ == "__main__":
    main()
