"""Shards of a file, a cache of finished ones, worker pools, and a scheduler that keeps their order.

A shard is whole sentences of a file. Splits depend on the file and the shard size only, so the same
sentences are always scored together. Finished shards are cached in a folder beside the output,
under a digest of their content and of the job: another file, model or option never matches.

A worker process (`crfviz.corpus.worker_process`) gets one shard at a time and returns bytes or an
error for the user. A killed worker costs its shard only: another process restarts the shard, three
times at most.
"""

import re
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, Protocol

from crfviz.corpus.worker_process import Message, WorkerProcess, encode
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.text.files import write_atomically

SHARD_BYTES = 2_000_000
NAME = re.compile(r"\.?\d{6,}-[0-9a-f]{16}(\.part)?")
MAX_TRIES = 3  # at a shard whose workers die
MAX_AHEAD = 8  # shards for each worker that may start before an earlier one is done


@dataclass(frozen=True)
class Shard:
    """Some whole sentences of a file."""

    number: int  # from 0
    start: int  # of its first byte in the file
    first_line: int  # number of its first line in the file, from 1
    content: bytes

    @property
    def lines(self) -> int:
        """The number of lines that end in it."""
        return self.content.count(b"\n")


def split_file(file: BinaryIO, size: int, *, by_line: bool, head: bytes = b"") -> Iterator[Shard]:
    """Yield the shards of a file, which is read once as a stream.

    Args:
        file: opened to read; a pipe will do.
        size: bytes of a shard, to which the rest of its last sentence is added.
        by_line: whether each line is a sentence; else a blank line ends one.
        head: whole lines that were read of it already.
    """
    number, start, line = 0, 0, 1
    while content := _read(file, head, size, by_line=by_line):
        shard = Shard(number, start, line, content)
        yield shard
        number, start, line, head = number + 1, start + len(content), line + shard.lines, b""


def _read(file: BinaryIO, head: bytes, size: int, *, by_line: bool) -> bytes:
    content = bytearray(head + file.read(max(0, size - len(head))))
    last = bytes(content[content.rfind(b"\n") + 1 :])  # of a line that goes on
    while more := file.readline():
        content += more
        if by_line or not (last + more).strip():
            break
        last = b""
    return bytes(content)


def cache_folder(output: Path) -> Path:
    """Return the folder that caches the finished shards of an output."""
    return output.with_name(f"{output.name}.shards")


class ShardCache:
    """The finished shards of one job.

    Args:
        folder: made when the first shard is finished.
        key: all that the work depends on but the shards.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self._key = sha256(key.encode()).digest()
        self._used: set[str] = set()
        self.found = 0  # finished shards of an earlier run

    def get(self, shard: Shard) -> bytes | None:
        """Return the result of a shard; None if it is not finished or unreadable."""
        with suppress(OSError, zlib.error):
            content = zlib.decompress((self.folder / self._name(shard)).read_bytes())
            self._used.add(self._name(shard))
            self.found += 1
            return content
        return None

    def put(self, shard: Shard, content: bytes) -> None:
        """Cache the result of a shard.

        Raises:
            FormatError: it cannot be written; says why.
        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.folder}: cannot be written: {error.strerror}") from error
        write_atomically(self.folder / self._name(shard), [zlib.compress(content, 1)])
        self._used.add(self._name(shard))

    def summary(self) -> str:
        """Return which shards are finished, for the message on stop."""
        if not self._used:
            return "no shard is finished"
        return (
            f"{len(self._used)} finished shards are kept in {self.folder}, and the same command "
            f"goes on from them"
        )

    def stale(self) -> int:
        """Count the cached shards of another file, model or options."""
        return sum(name not in self._used for name in self._names() if not name.endswith(".part"))

    def clear(self) -> None:
        """Remove the cached shards, and the folder if it is empty."""
        with suppress(OSError):
            for name in self._names():
                (self.folder / name).unlink()
            self.folder.rmdir()

    def _names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return [path.name for path in self.folder.iterdir() if NAME.fullmatch(path.name)]

    def _name(self, shard: Shard) -> str:
        return f"{shard.number:06}-{sha256(self._key + shard.content).hexdigest()[:16]}"


ReportShare = Callable[[float], None]  # takes the share of a shard that is done; may raise to stop
Outcome = bytes | CrfvizError


class Job(Protocol):
    """Work on a shard; it can be pickled."""

    @property
    def key(self) -> str:
        """All that the work depends on, except the shard."""

    def __call__(self, shard: Shard, share: ReportShare | None = None) -> bytes:
        """Return the result of a shard.

        Raises:
            CrfvizError: the shard or the model is invalid.
        """


class WorkerPool(Protocol):
    """Workers that process shards."""

    @property
    def size(self) -> int:
        """The number of shards that can run at a time."""

    def submit(self, shard: Shard) -> None:
        """Start a shard; fewer than `size` are running."""

    def next_result(self) -> tuple[Shard, Outcome]:
        """Wait for a running shard and return its result."""

    def stop(self) -> None:
        """Stop all work at once."""


def attempt(job: Job, shard: Shard, share: ReportShare | None = None) -> Outcome:
    """Return the result of a shard, or an error for the user."""
    try:
        return job(shard, share)
    except CrfvizError as error:
        return error.with_traceback(None)


class InProcessPool:
    """This process as the only worker; it reports progress within a shard."""

    size = 1

    def __init__(self, job: Job, share: Callable[[Shard, float], None]) -> None:
        self._job = job
        self._share = share
        self._given: list[Shard] = []

    def submit(self, shard: Shard) -> None:
        """Store the shard."""
        self._given.append(shard)

    def next_result(self) -> tuple[Shard, Outcome]:
        """Process the stored shard."""
        shard = self._given.pop()
        return shard, attempt(self._job, shard, partial(self._share, shard))

    def stop(self) -> None:
        """Do nothing: no shard is running."""


class _Worker:
    """One process with its current shard."""

    def __init__(self, job: Job, messages: "SimpleQueue[tuple[_Worker, Message | None]]") -> None:
        self._job, self._messages = job, messages
        self.shard: Shard | None = None
        self._tries = 0
        self._start()

    def submit(self, shard: Shard) -> None:
        self.shard, self._tries = shard, 1
        self._send(shard)

    def restart(self) -> CrfvizError | None:
        """Replace the dead process, which tries the shard again; an error after `MAX_TRIES`."""
        ended, shard = self.process.exit_text(), self.shard
        self.process.kill()
        self._start()
        if shard is None:
            return None
        if self._tries == MAX_TRIES:
            return CrfvizError(
                f"the worker at lines {shard.first_line} to {shard.first_line + shard.lines} "
                f"{ended}, {MAX_TRIES} times: there may be too little memory for so many workers"
            )
        self._tries += 1
        self._send(shard)
        return None

    def _start(self) -> None:
        self.process = WorkerProcess(lambda message: self._messages.put((self, message)))

    def _send(self, shard: Shard) -> None:
        self.process.send(encode(partial(self._job, shard)))


class ProcessPool:
    """Worker processes on this machine."""

    def __init__(self, job: Job, number: int) -> None:
        self._messages: SimpleQueue[tuple[_Worker, Message | None]] = SimpleQueue()
        self._workers: list[_Worker] = []
        try:
            for _ in range(number):
                self._workers.append(_Worker(job, self._messages))
        except BaseException:
            self.stop()
            raise

    @property
    def size(self) -> int:
        """The number of processes."""
        return len(self._workers)

    def submit(self, shard: Shard) -> None:
        """Send a shard to an idle process."""
        next(worker for worker in self._workers if worker.shard is None).submit(shard)

    def next_result(self) -> tuple[Shard, Outcome]:
        """Wait until a process finishes its shard."""
        while True:
            worker, message = self._messages.get()
            shard, outcome = worker.shard, None
            if message is None:
                outcome = worker.restart()
            elif message.kind != "progress":
                outcome = message.value()
            if shard is not None and outcome is not None:
                worker.shard = None
                return shard, outcome

    def stop(self) -> None:
        """Kill the processes."""
        for worker in self._workers:
            worker.process.kill()


def run_shards(
    shards: Iterator[Shard],
    pool: WorkerPool,
    cache: ShardCache | None = None,
    done: Callable[[Shard], None] = lambda _: None,
) -> Generator[bytes, None, None]:
    """Yield the results of all shards in file order.

    After an error no further shard starts, and running ones finish: of two errors the first in the
    file is raised, as a single worker would.

    Args:
        shards: of a file.
        pool: the workers; stopped at the end in any case.
        cache: the cache of finished shards.
        done: called with each finished shard.

    Raises:
        CrfvizError: a shard or the model is invalid, or nothing can be written.
    """
    scheduler = _Scheduler(shards, pool, cache, done)
    try:
        while True:
            scheduler.submit()
            yield from scheduler.in_order()
            if scheduler.running:
                scheduler.take()
            elif scheduler.errors:
                raise scheduler.errors[min(scheduler.errors)]
            elif scheduler.ended:
                return
    finally:
        pool.stop()


@dataclass
class _Scheduler:
    """Running shards and finished results."""

    shards: Iterator[Shard]
    pool: WorkerPool
    cache: ShardCache | None
    done: Callable[[Shard], None]
    errors: dict[int, CrfvizError] = field(default_factory=dict)  # by the number of the shard
    finished: dict[int, bytes] = field(default_factory=dict)  # likewise, until yielded
    started: int = 0  # shards
    yielded: int = 0  # shards
    running: int = 0  # shards
    ended: bool = False  # there are no more shards

    def submit(self) -> None:
        """Start as many shards as the pool accepts."""
        with suppress(StopIteration):
            while self._room():
                self._begin(next(self.shards))
            return
        self.ended = True

    def _room(self) -> bool:
        ahead = self.started - self.yielded
        free = self.running < self.pool.size and ahead < MAX_AHEAD * self.pool.size
        return free and not self.errors and not self.ended

    def _begin(self, shard: Shard) -> None:
        self.started += 1
        before = self.cache.get(shard) if self.cache else None
        if before is None:
            self.pool.submit(shard)
            self.running += 1
        else:
            self._finish(shard, before)

    def in_order(self) -> Iterator[bytes]:
        """Yield finished results that are next in the file."""
        while self.yielded in self.finished:
            yield self.finished.pop(self.yielded)
            self.yielded += 1

    def take(self) -> None:
        """Wait for one shard."""
        shard, outcome = self.pool.next_result()
        self.running -= 1
        if isinstance(outcome, CrfvizError):
            self.errors[shard.number] = outcome
            return
        if self.cache:
            self.cache.put(shard, outcome)
        self._finish(shard, outcome)

    def _finish(self, shard: Shard, content: bytes) -> None:
        self.finished[shard.number] = content
        self.done(shard)
