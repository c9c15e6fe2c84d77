"""Scheduling: scripts run one at a time, and so do long jobs.

Streamlit runs each session's script in a thread. If thirty compete for the GIL, all answers are
late; one after the other, each answer comes as soon as possible. Each script therefore acquires a
fair lock, `SCRIPT_LOCK`. After `TIME_SLICE` of work, a script lets new scripts go first when it
draws something. If a script draws nothing for `SKIP_TIMEOUT`, the next one starts beside it. Code
that waits for anything but the GIL releases the lock.

A run over a corpus occupies a core for seconds. Such jobs wait in `JOB_QUEUE`, which serves the
first job of each visitor before the second ones.

Streamlit collects garbage after each script, over the objects of all sessions: with a hundred
sessions that takes longer than the script. `runner.postScriptGC` in config.toml disables it. Python
itself collects when the number of objects grows. That misses a few objects with much memory, such
as tensors. `GarbageCollector` therefore collects after `MIN_RUNS` scripts, or later, to stay below
`MAX_SHARE` of the time.
"""

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from threading import Condition, Lock, local
from time import monotonic, perf_counter, thread_time

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.settings import settings
from crfviz.ui.session.session_store import session_value
from crfviz.ui.streamlit_compat import StopException, one_script_at_a_time, visitor_has_left
from crfviz.ui.watching.meters import RUN_SECONDS, WAIT_SECONDS
from crfviz.views.formatting import count

TIME_SLICE = 0.1  # seconds of work after which a script lets others go first
SKIP_TIMEOUT = 0.25  # seconds after which the next script starts beside one that does not yield
MAX_WAIT = 1.0  # maximum seconds for which a script lets others go first
MIN_RUNS = 200  # scripts between two garbage collections
MAX_SHARE = 0.02  # maximum share of the scripts' time that collections may take
SWITCH_INTERVAL = 0.0005  # seconds until a thread requests the GIL; Python's 5 ms delay messages
POLL_INTERVAL = 0.5  # seconds between two checks of the queue and the visitor
VISITOR_COOKIE = "crfviz_visitor"  # a cookie, the same in all tabs of a browser


class Waiter:
    """The state of one thread that holds the lock, waits for it, or has released it."""

    def __init__(self, lock: Lock) -> None:
        self.called = Condition(lock)
        self.since = 0.0  # the time at which it began to wait, or got the lock
        self.worked = 0.0  # the thread's CPU seconds when it got the lock


class FairLock:
    """A lock that threads get in order of arrival, with time slices.

    Args:
        clock: returns the time, in seconds.
        work: returns the CPU time of the calling thread, in seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = monotonic, work: Callable[[], float] = thread_time
    ) -> None:
        self._clock = clock
        self._work = work
        self._lock = Lock()
        self._own = local()
        self._holder: Waiter | None = None
        self._new: deque[Waiter] = deque()  # threads that have not held the lock yet
        self._resumed: deque[Waiter] = deque()  # threads that gave the lock up and want it back

    def acquire(self) -> None:
        """Wait for the lock at the end of the queue."""
        self._own.waiter = Waiter(self._lock)
        self._wait(self._own.waiter, self._new)

    def release(self) -> bool:
        """Release the lock, and return whether this thread had acquired it."""
        waiter: Waiter | None = getattr(self._own, "waiter", None)
        self._own.waiter = None
        self._leave(waiter)
        return waiter is not None

    def let_others_first(self) -> None:
        """Let new threads go first if this thread's time slice is over."""
        waiter: Waiter | None = getattr(self._own, "waiter", None)
        if waiter is not None and self._slice_is_over(waiter):
            self._leave(waiter)
            self._wait(waiter, self._resumed)

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the lock while the body waits, and acquire it again afterwards."""
        waiter: Waiter | None = getattr(self._own, "waiter", None)
        if waiter is None:
            yield
            return
        self.release()
        try:
            yield
        finally:
            self._own.waiter = waiter
            self._wait(waiter, self._resumed)

    def waiting(self) -> int:
        return len(self._new) + len(self._resumed)

    def _slice_is_over(self, waiter: Waiter) -> bool:
        skipped = self._holder is not waiter
        others = self._new or self._resumed
        return bool(skipped or others) and self._work() - waiter.worked >= TIME_SLICE

    def _wait(self, waiter: Waiter, queue: deque[Waiter]) -> None:
        with self._lock:
            waiter.since = self._clock()
            queue.append(waiter)
            while not self._may_run(waiter):
                self._notify_next()  # the next thread watches the time slice
                waiter.called.wait(self._sleep_time(waiter))
            queue.remove(waiter)
            waiter.since = self._clock()
            waiter.worked = self._work()
            self._holder = waiter
            self._notify_next()

    def _leave(self, waiter: Waiter | None) -> None:
        with self._lock:
            if waiter is not None and self._holder is waiter:
                self._holder = None
                self._notify_next()

    def _may_run(self, waiter: Waiter) -> bool:
        if self._next() is not waiter:
            return False
        return self._holder is None or self._clock() - self._holder.since >= SKIP_TIMEOUT

    def _next(self) -> Waiter | None:
        waited = self._clock() - self._resumed[0].since if self._resumed else 0.0
        if self._resumed and (not self._new or waited >= MAX_WAIT):
            return self._resumed[0]
        return self._new[0] if self._new else None

    def _sleep_time(self, waiter: Waiter) -> float | None:
        """Return the seconds to sleep; None, without limit, unless this thread is the next."""
        if self._next() is not waiter or self._holder is None:
            return None
        return max(0.0, self._holder.since + SKIP_TIMEOUT - self._clock())

    def _notify_next(self) -> None:
        waiter = self._next()
        if waiter is not None:
            waiter.called.notify()


SCRIPT_LOCK = FairLock()  # of this server


class GarbageCollector:
    """Garbage collection every `MIN_RUNS` scripts or later; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._runs, self._seconds = 0, 0.0  # since the last collection
        self._taken = 0.0  # seconds of the last collection

    def after(self, seconds: float) -> None:
        """Count a script that took `seconds`; collect garbage if it is due."""
        self._runs += 1
        self._seconds += seconds
        if self._runs >= MIN_RUNS and self._taken <= MAX_SHARE * self._seconds:
            self._runs, self._seconds = 0, 0.0
            begin = self._clock()
            gc.collect()
            self._taken = self._clock() - begin


GARBAGE_COLLECTOR = GarbageCollector()


class MeasuredLock:
    """`SCRIPT_LOCK`, with measurements of how long each script waits and runs."""

    def __init__(self) -> None:
        self._own = local()

    def acquire(self) -> None:
        """Wait for the lock."""
        begin = perf_counter()
        SCRIPT_LOCK.acquire()
        self._own.began = perf_counter()
        WAIT_SECONDS.observe(self._own.began - begin)

    def release(self) -> bool:
        """Release the lock, and return whether this thread had acquired it."""
        had = SCRIPT_LOCK.release()
        if had:
            seconds = perf_counter() - self._own.began
            RUN_SECONDS.observe(seconds)
            GARBAGE_COLLECTOR.after(seconds)
        return had

    def let_others_first(self) -> None:
        """Let new threads go first if this thread's time slice is over."""
        SCRIPT_LOCK.let_others_first()


def serialize_scripts() -> bool:
    """Run scripts one at a time from now on; return whether this Streamlit version allows it."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    lock = MeasuredLock()
    return one_script_at_a_time(lock.acquire, lock.release, lock.let_others_first)


class BusyError(CrfvizError):
    """The queue is full for this visitor; the message says what to do."""


@dataclass(eq=False)
class Ticket:
    """A job in the queue."""

    visitor: str
    before: int  # earlier jobs of this visitor in the queue


class JobQueue:
    """A queue of jobs that run one at a time; the first of each visitor precede the second ones."""

    def __init__(self) -> None:
        self._queue: list[Ticket] = []
        self._running: Ticket | None = None
        self._changed = Condition()

    @contextmanager
    def turn(self, visitor: str, wait: Callable[[int], None]) -> Iterator[None]:
        """Wait for a turn, and hold it while the body runs.

        Args:
            visitor: the browser.
            wait: called repeatedly with the number of jobs ahead; if it raises, the job leaves the
                queue.

        Raises:
            BusyError: the visitor's limit, or that of all visitors, is reached.
        """
        with self._changed:
            before = sum(other.visitor == visitor for other in self._queue)
            _require_room(before, len(self._queue))
            ticket = Ticket(visitor, before)
            self._queue.append(ticket)
        try:
            while ahead := self._ahead(ticket):
                wait(ahead)
                with SCRIPT_LOCK.released(), self._changed:
                    self._changed.wait(POLL_INTERVAL)
            yield
        finally:
            with self._changed:
                self._queue.remove(ticket)
                if self._running is ticket:
                    self._running = None
                self._changed.notify_all()

    def waiting(self) -> int:
        return len(self._queue) - (self._running is not None)

    def _ahead(self, ticket: Ticket) -> int:
        """Return the number of jobs ahead of a ticket; if it is 0, start the ticket's turn."""
        with self._changed:
            ahead = self._ordered().index(ticket)
            if not ahead:
                self._running = ticket
            return ahead

    def _ordered(self) -> list[Ticket]:
        """Return the running job, then the first of each visitor, then the second ones."""
        return sorted(self._queue, key=lambda each: (each is not self._running, each.before))


def _require_room(own: int, total: int) -> None:
    """Raise a BusyError if a visitor, or all visitors, have reached their limit."""
    allowed = settings().limits
    if own >= allowed.jobs:
        raise BusyError(
            f"You have {count(own, 'long run')} queued or running on this "
            "server, and no more are allowed. Wait until one finishes, or stop one."
        )
    if total >= allowed.line:
        raise BusyError(
            f"The queue of this server is full ({count(total, 'long run')}). Try again in a few "
            "minutes."
        )


JOB_QUEUE = JobQueue()  # on this server


def pause() -> None:
    """Let other scripts go first during long work.

    Raises:
        StopException: the visitor has left.
    """
    SCRIPT_LOCK.let_others_first()
    if visitor_has_left():
        raise StopException


def visitor() -> str:
    """Return the id of the browser, or of the session if the browser stores no cookies."""
    return st.context.cookies.get(VISITOR_COOKIE) or session_value("visitor", lambda: token_hex(16))


def waiting_for(ahead: int) -> str:
    """Return the message for a job with so many jobs ahead of it."""
    jobs = "another job" if ahead == 1 else f"{ahead} other jobs"
    return f"waiting for {jobs} on this server"


@contextmanager
def turn(wait: Callable[[str], object]) -> Iterator[None]:
    """Wait for this visitor's turn in `JOB_QUEUE`, and hold it while the body runs.

    `wait` shows a message during the wait.

    Raises:
        BusyError: the queue is full.
    """

    def show(ahead: int) -> None:
        wait(f"{waiting_for(ahead).capitalize()} …")

    with JOB_QUEUE.turn(visitor(), show):
        yield
