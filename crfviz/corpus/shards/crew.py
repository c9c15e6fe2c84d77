"""Those who work at shards: this process alone, or processes beside it.

A process is spawned, not forked, and uses one thread. It gets a job and a shard at a time and gives
back bytes, or the error that a person can act on. One that dies, as of SIGKILL, costs the shard it
worked at: another takes its place and begins the shard anew, three times at most.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol

from crfviz.corpus.shards.cutting import Shard
from crfviz.exceptions import CrfvizError

MOST_TRIES = 3  # at a shard whose workers die

Share = Callable[[float], None]  # told what share of a shard is done; may raise to stop
Outcome = bytes | CrfvizError


class Job(Protocol):
    """What is to be done with every shard; it can be pickled."""

    @property
    def key(self) -> str:
        """All that the work depends on but the shard."""

    def __call__(self, shard: Shard, share: Share | None = None) -> bytes:
        """What comes of a shard.

        Raises:
            CrfvizError: the shard or the model is of no use.
        """


class Crew(Protocol):
    """Those who work at shards."""

    @property
    def size(self) -> int:
        """How many shards they can be given at a time."""

    def give(self, shard: Shard) -> None:
        """Begin a shard; there are fewer than `size` under way."""

    def next(self) -> tuple[Shard, Outcome]:
        """Wait until one of the shards under way is done."""

    def stop(self) -> None:
        """End all work, at once."""


def attempt(job: Job, shard: Shard, share: Share | None = None) -> Outcome:
    """What comes of a shard, or the error that a person can act on."""
    try:
        return job(shard, share)
    except CrfvizError as error:
        return error.with_traceback(None)


class Alone:
    """This process; it tells what share of its shard is done."""

    size = 1

    def __init__(self, job: Job, share: Callable[[Shard, float], None]) -> None:
        self._job = job
        self._share = share
        self._given: list[Shard] = []

    def give(self, shard: Shard) -> None:
        """Take a shard."""
        self._given.append(shard)

    def next(self) -> tuple[Shard, Outcome]:
        """Work at the shard."""
        shard = self._given.pop()
        return shard, attempt(self._job, shard, partial(self._share, shard))

    def stop(self) -> None:
        """Nothing is under way here."""


class _Worker:
    """One process, with the shard that it works at."""

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
        with _no_interrupts():
            self.process.start()
        theirs.close()  # or nobody would notice that the process is gone
        self._send(self.job)

    def give(self, shard: Shard) -> None:
        self.shard, self.tries = shard, 1
        self._send(shard)

    def _send(self, content: object) -> None:
        """Send, unless the process has died: whoever waits for its answer notices that."""
        try:
            self.connection.send(content)
        except (BrokenPipeError, ConnectionResetError):
            return

    def answer(self) -> Outcome | None:
        """What came of the shard; None where the process died and another has begun it anew."""
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
        if shard is None or self.tries == MOST_TRIES:
            self.shard = None
            self.start()
            return _given_up(shard, code)
        self.tries += 1
        self.start()
        self._send(shard)
        return None

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _given_up(shard: Shard | None, code: int | None) -> CrfvizError:
    ended = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    lines = f"{shard.first_line} to {shard.first_line + shard.lines}" if shard else "none"
    return CrfvizError(
        f"workers at lines {lines} ended {ended}, {MOST_TRIES} times: there may be too little "
        f"memory for so many workers"
    )


class Processes:
    """So many processes on this machine, started at once."""

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

    def give(self, shard: Shard) -> None:
        """Give a shard to a process that has none."""
        next(worker for worker in self._workers if worker.shard is None).give(shard)

    def next(self) -> tuple[Shard, Outcome]:
        """Wait until a process is done with its shard."""
        while True:
            busy = {w.connection: w for w in self._workers if w.shard is not None}
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # only connections were given
                shard = worker.shard
                outcome = worker.answer()
                if shard is not None and outcome is not None:
                    return shard, outcome

    def stop(self) -> None:
        """Kill the processes: they hold nothing that is not elsewhere."""
        for worker in self._workers:
            worker.stop()


def _serve(connection: "Connection[Outcome, object]") -> None:
    """What a process does: one shard after the other, until nobody asks any more."""
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
def _no_interrupts() -> Iterator[None]:
    """Let processes that begin inside ignore Ctrl+C from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
