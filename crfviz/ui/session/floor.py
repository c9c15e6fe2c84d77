"""One script at a time: who has the floor, and who gets it next.

Streamlit gives every session a thread for its script. Thirty that run at once switch to and fro
under Python's one lock, and all answers come late; one after the other, each comes as soon as it
can. `crfviz.ui.shell.scripts` has every script wait for the floor.

Nobody holds it for long. A script that has worked for `SLICE` goes behind those that have not begun
as soon as it draws something; one that draws nothing for `PATIENCE` is passed by. A short one that
was passed by, because something else kept the processor busy, goes on to its end all the same. What
waits for something else than Python's lock steps aside meanwhile.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock, local
from time import monotonic, thread_time

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
