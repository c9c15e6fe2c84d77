"""Worker pools for shards, and the scheduler that returns results in file order.

A worker process is spawned, not forked, and uses one thread. It receives a job once and shards one
at a time, and returns bytes or an error for the user. A killed worker costs its shard only: another
process restarts the shard, three times at most.
"""

import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol

from crfviz.corpus.shards.splitting import Shard, ShardCache
from crfviz.exceptions import CrfvizError

MAX_TRIES = 3  # at a shard whose workers die

ReportShare = Callable[[float], None]  # told what share of a shard is done; may raise to stop
Outcome = bytes | CrfvizError


class Job(Protocol):
    """Work on a shard; it can be pickled."""

    @property
    def key(self) -> str:
        """All that the work depends on but the shard."""

    def __call__(self, shard: Shard, share: ReportShare | None = None) -> bytes:
        """Return the result of a shard.

        Raises:
            CrfvizError: the shard or the model is of no use.
        """


class WorkerPool(Protocol):
    """Workers that process shards."""

    @property
    def size(self) -> int:
        """How many shards they can be given at a time."""

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

    def __init__(self, job: Job) -> None:
        self.job = job
        self.shard: Shard | None = None
        self.tries = 0
        self.start()

    def start(self) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        self.connection: Connection[object, Outcome] = ours
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _ignore_interrupts():
            self.process.start()
        theirs.close()  # or nobody would notice that the process is gone
        self._send(self.job)

    def submit(self, shard: Shard) -> None:
        self.shard, self.tries = shard, 1
        self._send(shard)

    def _send(self, content: object) -> None:
        """Send, ignoring a dead process: the caller of `answer` notices it."""
        try:
            self.connection.send(content)
        except (BrokenPipeError, ConnectionResetError):
            return

    def answer(self) -> Outcome | None:
        """Return the result of the shard; None if the process died and was restarted."""
        try:
            outcome = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return self._died()
        self.shard = None
        return outcome

    def _died(self) -> Outcome | None:
        self.process.join()
        code, shard = self.process.exitcode, self.shard
        self.connection.close()
        if shard is None or self.tries == MAX_TRIES:
            self.shard = None
            self.start()
            return _worker_error(shard, code)
        self.tries += 1
        self.start()
        self._send(shard)
        return None

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _worker_error(shard: Shard | None, code: int | None) -> CrfvizError:
    ended = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    lines = f"{shard.first_line} to {shard.first_line + shard.lines}" if shard else "none"
    return CrfvizError(
        f"workers at lines {lines} ended {ended}, {MAX_TRIES} times: there may be too little "
        f"memory for so many workers"
    )


class ProcessPool:
    """Worker processes on this machine."""

    def __init__(self, job: Job, number: int) -> None:
        self._workers: list[_Worker] = []
        try:
            for _ in range(number):
                self._workers.append(_Worker(job))
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
            busy = {w.connection: w for w in self._workers if w.shard is not None}
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # only connections were given
                shard = worker.shard
                outcome = worker.answer()
                if shard is not None and outcome is not None:
                    return shard, outcome

    def stop(self) -> None:
        """Kill the processes."""
        for worker in self._workers:
            worker.stop()


def _serve(connection: "Connection[Outcome, object]") -> None:
    """Process shards in a worker process until the pipe closes."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the one that gives the shards
    torch.set_num_threads(1)
    try:
        job: Job = connection.recv()  # type: ignore[assignment]  # what `_Worker` sends
        while True:
            shard: Shard = connection.recv()  # type: ignore[assignment]
            connection.send(attempt(job, shard))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Start processes inside with Ctrl+C ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


MAX_AHEAD = 8  # shards for each worker that may be begun before one that comes earlier is done


def run_shards(
    shards: Iterator[Shard],
    crew: WorkerPool,
    kept: ShardCache | None = None,
    done: Callable[[Shard], None] = lambda _: None,
) -> Generator[bytes, None, None]:
    """Yield the results of all shards in file order.

    After an error no further shard starts, and running ones finish: of two errors the first in the
    file is raised, as a single worker would.

    Args:
        shards: of a file.
        crew: the workers; stopped at the end in any case.
        kept: the cache of finished shards.
        done: called with each finished shard.

    Raises:
        CrfvizError: a shard or the model is of no use, or nothing can be written.
    """
    desk = _Scheduler(shards, crew, kept, done)
    try:
        while True:
            desk.submit()
            yield from desk.in_order()
            if desk.under_way:
                desk.take()
            elif desk.errors:
                raise desk.errors[min(desk.errors)]
            elif desk.ended:
                return
    finally:
        crew.stop()


@dataclass
class _Scheduler:
    """Running shards and finished results."""

    shards: Iterator[Shard]
    crew: WorkerPool
    kept: ShardCache | None
    done: Callable[[Shard], None]
    errors: dict[int, CrfvizError] = field(default_factory=dict)  # by the number of the shard
    finished: dict[int, bytes] = field(default_factory=dict)  # what was not handed on yet
    begun: int = 0  # shards
    handed_on: int = 0  # shards
    under_way: int = 0  # shards
    ended: bool = False  # there are no more shards

    def submit(self) -> None:
        """Start as many shards as the pool accepts."""
        with suppress(StopIteration):
            while self._room():
                self._begin(next(self.shards))
            return
        self.ended = True

    def _room(self) -> bool:
        ahead = self.begun - self.handed_on
        free = self.under_way < self.crew.size and ahead < MAX_AHEAD * self.crew.size
        return free and not self.errors and not self.ended

    def _begin(self, shard: Shard) -> None:
        self.begun += 1
        before = self.kept.get(shard) if self.kept else None
        if before is None:
            self.crew.submit(shard)
            self.under_way += 1
        else:
            self._finish(shard, before)

    def in_order(self) -> Iterator[bytes]:
        """Yield finished results that are next in the file."""
        while self.handed_on in self.finished:
            yield self.finished.pop(self.handed_on)
            self.handed_on += 1

    def take(self) -> None:
        """Wait for one shard."""
        shard, outcome = self.crew.next_result()
        self.under_way -= 1
        if isinstance(outcome, CrfvizError):
            self.errors[shard.number] = outcome
            return
        if self.kept:
            self.kept.put(shard, outcome)
        self._finish(shard, outcome)

    def _finish(self, shard: Shard, content: bytes) -> None:
        self.finished[shard.number] = content
        self.done(shard)
