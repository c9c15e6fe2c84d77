"""Who may work now: scripts run one at a time, and so do long jobs.

Streamlit gives every session a thread for its script. Thirty that run at once compete for Python's
one lock, and all answers come late; one after the other, each comes as soon as it can. So every
script waits for a fair lock, `FLOOR`. A script that has worked for `SLICE` goes behind those that
have not begun as soon as it draws something; one that draws nothing for `PATIENCE` is passed by. A
short one that was passed by, because something else kept the processor busy, finishes all the same.
What waits for something else than Python's lock steps aside meanwhile.

A run over a corpus keeps a core busy for seconds. Such jobs wait in a queue, `TURNS`, in which the
second job of a visitor comes after the first ones of all others.

Streamlit collects garbage after every script, in all that all sessions hold: with some hundred
sessions that takes longer than the script. `runner.postScriptGC` in config.toml ends that. Python
collects by itself as objects become more; what hangs on few objects, such as tensors, is collected
after `RUNS` scripts, or later if that would take more than `SHARE` of their time.
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
from crfviz.ui.session.kept import of_session
from crfviz.ui.streamlit_compat import StopException, one_script_at_a_time, visitor_has_left
from crfviz.ui.watching.meters import RUN_SECONDS, WAIT_SECONDS
from crfviz.views.formatting import count

SLICE = 0.1  # seconds of work until a script lets others go first
PATIENCE = 0.25  # seconds until one that does not is passed by
AT_LEAST = 1.0  # seconds after which one that let others go first goes on, however many there are


class Place:
    """Where the script of a thread stands: on the floor, in the line, or elsewhere."""

    def __init__(self, lock: Lock) -> None:
        self.called = Condition(lock)
        self.since = 0.0  # when it entered the line or the floor
        self.worked = 0.0  # what the thread had worked when it got the floor


class Floor:
    """What one thread at a time has; each speaks for itself alone.

    Args:
        clock: tells the seconds.
        work: tells how long the thread that asks has worked, in seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = monotonic, work: Callable[[], float] = thread_time
    ) -> None:
        self._clock = clock
        self._work = work
        self._lock = Lock()
        self._own = local()
        self._speaker: Place | None = None
        self._fresh: deque[Place] = deque()  # have not begun
        self._begun: deque[Place] = deque()  # let others go first

    def take(self) -> None:
        """Wait for the floor, at the end of the line."""
        self._own.place = Place(self._lock)
        self._wait(self._own.place, self._fresh)

    def give(self) -> bool:
        """Leave the floor; whether this thread had taken it."""
        place: Place | None = getattr(self._own, "place", None)
        self._own.place = None
        self._leave(place)
        return place is not None

    def let_others(self) -> None:
        """Let those go first that have not begun, if this thread has had its time."""
        place: Place | None = getattr(self._own, "place", None)
        if place is not None and self._had_enough(place):
            self._leave(place)
            self._wait(place, self._begun)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the floor to others while the body waits for something."""
        place: Place | None = getattr(self._own, "place", None)
        if place is None:
            yield
            return
        self.give()
        try:
            yield
        finally:
            self._own.place = place
            self._wait(place, self._begun)

    def waiting(self) -> int:
        """How many are in the line."""
        return len(self._fresh) + len(self._begun)

    def _had_enough(self, place: Place) -> bool:
        passed_by = self._speaker is not place
        others = self._fresh or self._begun
        return bool(passed_by or others) and self._work() - place.worked >= SLICE

    def _wait(self, place: Place, line: deque[Place]) -> None:
        with self._lock:
            place.since = self._clock()
            line.append(place)
            while not self._may_speak(place):
                self._call_next()  # whoever is next by now looks after the time
                place.called.wait(self._patience(place))
            line.remove(place)
            place.since = self._clock()
            place.worked = self._work()
            self._speaker = place
            self._call_next()

    def _leave(self, place: Place | None) -> None:
        with self._lock:
            if place is not None and self._speaker is place:
                self._speaker = None
                self._call_next()

    def _may_speak(self, place: Place) -> bool:
        if self._next() is not place:
            return False
        return self._speaker is None or self._clock() - self._speaker.since >= PATIENCE

    def _next(self) -> Place | None:
        waited = self._clock() - self._begun[0].since if self._begun else 0.0
        if self._begun and (not self._fresh or waited >= AT_LEAST):
            return self._begun[0]
        return self._fresh[0] if self._fresh else None

    def _patience(self, place: Place) -> float | None:
        """How long to sleep, in seconds; only who is next has to look after the time."""
        if self._next() is not place or self._speaker is None:
            return None
        return max(0.0, self._speaker.since + PATIENCE - self._clock())

    def _call_next(self) -> None:
        following = self._next()
        if following is not None:
            following.called.notify()


FLOOR = Floor()  # of this server


RUNS = 200  # scripts between two collections, at the least
SHARE = 0.02  # of the time that scripts take, for collections
SWITCH = 0.0005  # seconds until a thread asks for Python's lock; its own 5 ms delay each message


class Garbage:
    """Collects it, now and then; `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._runs, self._seconds = 0, 0.0  # since the last collection
        self._taken = 0.0  # seconds, by the last collection

    def after(self, seconds: float) -> None:
        """A script has run for so long."""
        self._runs += 1
        self._seconds += seconds
        if self._runs >= RUNS and self._taken <= SHARE * self._seconds:
            self._runs, self._seconds = 0, 0.0
            begin = self._clock()
            gc.collect()
            self._taken = self._clock() - begin


GARBAGE = Garbage()


class MeasuredFloor:
    """The floor for scripts; measures how long each waits and runs."""

    def __init__(self) -> None:
        self._own = local()

    def take(self) -> None:
        """Wait for the floor."""
        asked = perf_counter()
        FLOOR.take()
        self._own.began = perf_counter()
        WAIT_SECONDS.observe(self._own.began - asked)

    def give(self) -> bool:
        """Leave the floor; whether this thread had taken it."""
        had = FLOOR.give()
        if had:
            taken = perf_counter() - self._own.began
            RUN_SECONDS.observe(taken)
            GARBAGE.after(taken)
        return had

    def let_others(self) -> None:
        """Let those go first that have not begun, if this thread has had its time."""
        FLOOR.let_others()


def take_turns() -> bool:
    """Have all scripts that begin from now on wait for their turn; whether that could be done."""
    sys.setswitchinterval(SWITCH)
    floor = MeasuredFloor()
    return one_script_at_a_time(floor.take, floor.give, floor.let_others)


LOOK = 0.5  # seconds between two looks at the line, and at whether the visitor has left
VISITOR = "crfviz_visitor"  # a cookie, the same in all tabs of a browser


class BusyError(CrfvizError):
    """The line has no room for one more job of this visitor; the message says what to do."""


@dataclass(eq=False)
class Ticket:
    """A place in the line."""

    visitor: str
    before: int  # jobs of this visitor that were in the line already


class Turns:
    """A line in which the second job of a visitor comes after the first ones of all others."""

    def __init__(self) -> None:
        self._line: list[Ticket] = []
        self._at_work: Ticket | None = None
        self._changed = Condition()

    @contextmanager
    def taken(self, visitor: str, wait: Callable[[int], None]) -> Iterator[None]:
        """Wait for a turn, and hold it while the body runs.

        Args:
            visitor: whoever asks.
            wait: told how many jobs come before, again and again; what it raises leaves the line.

        Raises:
            BusyError: the visitor, or all together, have as many jobs in the line as they may.
        """
        with self._changed:
            before = sum(other.visitor == visitor for other in self._line)
            _require_room(before, len(self._line))
            ticket = Ticket(visitor, before)
            self._line.append(ticket)
        try:
            while ahead := self._ahead(ticket):
                wait(ahead)
                with FLOOR.aside(), self._changed:
                    self._changed.wait(LOOK)
            yield
        finally:
            with self._changed:
                self._line.remove(ticket)
                if self._at_work is ticket:
                    self._at_work = None
                self._changed.notify_all()

    def waiting(self) -> int:
        """How many are in the line, the one at work not counted."""
        return len(self._line) - (self._at_work is not None)

    def _ahead(self, ticket: Ticket) -> int:
        """How many jobs come before; none gives the ticket its turn."""
        with self._changed:
            ahead = self._in_order().index(ticket)
            if not ahead:
                self._at_work = ticket
            return ahead

    def _in_order(self) -> list[Ticket]:
        """The job at work, then the first of every visitor, then the second ones."""
        return sorted(self._line, key=lambda each: (each is not self._at_work, each.before))


def _require_room(own: int, every: int) -> None:
    """Raise a BusyError where a visitor, or all, have that many jobs and may have no more."""
    allowed = settings().limits
    if own >= allowed.jobs:
        raise BusyError(
            f"You have {count(own, 'long run')} queued or running on this "
            "server, and no more are allowed. Wait until one finishes, or stop one."
        )
    if every >= allowed.line:
        raise BusyError(
            f"The queue of this server is full ({count(every, 'long run')}). Try again in a few "
            "minutes."
        )


TURNS = Turns()  # on this server


def pause() -> None:
    """Let others go first, in the middle of long work; it ends here where its visitor has left.

    Raises:
        StopException: they have.
    """
    FLOOR.let_others()
    if visitor_has_left():
        raise StopException


def visitor() -> str:
    """The browser that asks; a session of its own where it keeps no cookies."""
    return st.context.cookies.get(VISITOR) or of_session("visitor", lambda: token_hex(16))


def waiting_for(ahead: int) -> str:
    """The place in a line in words, where so many come before."""
    jobs = "another job" if ahead == 1 else f"{ahead} other jobs"
    return f"waiting for {jobs} on this server"


@contextmanager
def turn(wait: Callable[[str], object]) -> Iterator[None]:
    """The turn of this visitor; `wait` shows words while others come before.

    Raises:
        BusyError: the line has no room for it.
    """

    def tell(ahead: int) -> None:
        wait(f"{waiting_for(ahead).capitalize()} …")

    with TURNS.taken(visitor(), tell):
        yield
