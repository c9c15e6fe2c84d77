"""Worker pools, and a scheduler that preserves the file's order.

A worker process gets one shard at a time and returns bytes or an error for the user. If a worker
is killed, only its shard is lost: a new process retries it, up to three tries.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Protocol

from crfviz.corpus.shards.shard import Shard, ShardCache
from crfviz.corpus.worker_process import exit_text, unexpected_error
from crfviz.exceptions import CrfvizError

MAX_TRIES = 3  # tries of a shard whose workers die
START_METHOD = "spawn"  # a fork of a process with threads may hang
MAX_AHEAD = 8  # shards per worker that may start before an earlier one is yielded


ReportShare = Callable[[float], None]  # takes the finished share of a shard; may raise to stop
Outcome = bytes | CrfvizError


class Job(Protocol):
    """A picklable function of a shard."""

    @property
    def key(self) -> str:
        """Everything that the result depends on, except the shard."""

    def __call__(self, shard: Shard, share: ReportShare | None = None) -> bytes:
        """Return the result of a shard.

        Raises:
            CrfvizError: the shard or the model is invalid.
        """


class WorkerPool(Protocol):
    """Workers that process shards."""

    @property
    def size(self) -> int:
        """The number of shards that can run at the same time."""

    def submit(self, shard: Shard) -> None:
        """Start a shard; call it only while fewer than `size` are running."""

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
    """Pool that runs shards in this process and reports progress within a shard."""

    size = 1

    def __init__(self, job: Job, share: Callable[[Shard, float], None]) -> None:
        self._job = job
        self._share = share
        self._given: list[Shard] = []

    def submit(self, shard: Shard) -> None:
        self._given.append(shard)

    def next_result(self) -> tuple[Shard, Outcome]:
        shard = self._given.pop()
        return shard, attempt(self._job, shard, partial(self._share, shard))

    def stop(self) -> None:
        """Do nothing: no shard is running."""


class ProcessPool:
    """Pool of worker processes on this machine, each in its own executor.

    An executor breaks when one of its processes dies. As each has one process, only one shard is
    lost and retried.
    """

    def __init__(self, job: Job, number: int) -> None:
        self.size = number
        self._job = job
        self._idle = [_executor() for _ in range(number)]
        self._running: dict[Future[Outcome], tuple[Shard, int, ProcessPoolExecutor]] = {}

    def submit(self, shard: Shard, tries: int = 1) -> None:
        """Send a shard to an idle process."""
        with _interrupts_blocked():
            executor = self._idle.pop()
            try:
                future = executor.submit(_run_in_process, self._job, shard)
            except BrokenProcessPool:  # the process died while idle
                _end(executor)
                executor = _executor()
                future = executor.submit(_run_in_process, self._job, shard)
            self._running[future] = shard, tries, executor

    def next_result(self) -> tuple[Shard, Outcome]:
        """Wait until a process finishes its shard; retry shards whose process died."""
        while True:
            future = next(iter(wait(self._running, return_when=FIRST_COMPLETED).done))
            shard, tries, executor = self._running[future]
            died = isinstance(future.exception(), BrokenProcessPool)
            ended = _end(executor) if died else ""
            self._idle.append(_executor() if died else executor)
            del self._running[future]
            if not died:
                return shard, future.result()
            if tries == MAX_TRIES:
                return shard, CrfvizError(
                    f"the worker at lines {shard.first_line} to {shard.first_line + shard.lines} "
                    f"{ended}, {MAX_TRIES} times: there may be too little memory for so many "
                    f"workers"
                )
            self.submit(shard, tries + 1)

    def stop(self) -> None:
        for executor in [*self._idle, *(executor for _, _, executor in self._running.values())]:
            _end(executor)


def _executor() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context(START_METHOD), _begin_process)


def _processes(executor: ProcessPoolExecutor) -> list[BaseProcess]:
    # `ProcessPoolExecutor.kill_workers` comes with Python 3.14.
    return list((executor._processes or {}).values())


def _end(executor: ProcessPoolExecutor) -> str:
    """Kill the process of an executor and say how it ended: "was ended by signal 9"."""
    processes = _processes(executor)
    for process in processes:
        process.kill()
    executor.shutdown()
    code = processes[0].exitcode if processes else 0
    return exit_text(code or 0)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl+C while processes start, so that they never receive it."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process() -> None:
    os.putenv("OPENBLAS_NUM_THREADS", "1")  # before NumPy: its threads would wait for each other
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _run_in_process(job: Job, shard: Shard) -> Outcome:
    try:
        return attempt(job, shard)
    except Exception as error:  # noqa: BLE001 - the parent gets the kind, the log the trace
        return unexpected_error(error)


def run_shards(
    shards: Iterator[Shard],
    pool: WorkerPool,
    cache: ShardCache | None = None,
    done: Callable[[Shard], None] = lambda _: None,
) -> Generator[bytes, None, None]:
    """Yield the results of all shards in file order.

    After an error no further shard starts, but running ones finish. Of several errors the first in
    the file is raised, as with a single worker.

    Args:
        shards: the shards of a file.
        pool: the workers, which are always stopped at the end.
        cache: the cache of finished shards.
        done: called with each finished shard.

    Raises:
        CrfvizError: a shard or the model is invalid, or the cache cannot be written.
    """
    errors: dict[int, CrfvizError] = {}  # by the number of the shard
    finished: dict[int, bytes] = {}  # by the number of the shard, until yielded
    started = yielded = running = 0  # shards
    ended = False  # whether `shards` is exhausted

    def finish(shard: Shard, content: bytes) -> None:
        finished[shard.number] = content
        done(shard)

    try:
        while True:
            most = min(pool.size - running, MAX_AHEAD * pool.size - started + yielded)
            if most > 0 and not errors and not ended:
                shard = next(shards, None)
                if shard is None:
                    ended = True
                    continue
                started += 1
                before = cache.get(shard) if cache else None
                if before is None:
                    pool.submit(shard)
                    running += 1
                else:
                    finish(shard, before)
            elif yielded in finished:
                yield finished.pop(yielded)
                yielded += 1
            elif running:
                shard, outcome = pool.next_result()
                running -= 1
                if isinstance(outcome, CrfvizError):
                    errors[shard.number] = outcome
                    continue
                if cache:
                    cache.put(shard, outcome)
                finish(shard, outcome)
            elif errors:
                raise errors[min(errors)]
            else:
                return
    finally:
        pool.stop()
