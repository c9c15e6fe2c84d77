"""How often one session may ask the server: what comes faster waits, and nothing is lost.

A reader who clicks, types or holds a key down stays below it. A program that asks without end is
answered at that pace, the newest state first, and its visitor is told.
"""

from collections.abc import Callable
from time import monotonic
from weakref import WeakSet, WeakValueDictionary

from crfviz.settings import settings
from crfviz.ui.watching.requests import request

BURST = 5.0  # seconds at the full pace that may come at once
SAID_AGAIN = 60.0  # seconds after which a session is told once more


class Pace:
    """Of one connection.

    Args:
        rate: messages a second.
        clock: tells seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._left, self._since = BURST * rate, clock()
        self._waits = False
        self.forged = False  # whether values came that no page of ours sends
        self._said = -SAID_AGAIN

    def wait(self) -> float:
        """The seconds that a message which is here now has to wait."""
        now = self._clock()
        refilled = self._left + (now - self._since) * self._rate
        self._left, self._since = min(BURST * self._rate, refilled) - 1, now
        if self._left < 0:
            self._waits = True
            _slowed.add(self)
        return max(0.0, -self._left / self._rate)

    def to_be_said(self) -> bool:
        """Whether messages had to wait and it is time to say so; then it counts as said."""
        now = self._clock()
        due = self._waits and now - self._said >= SAID_AGAIN
        if due:
            self._waits, self._said = False, now
            _slowed.discard(self)
        return due


_of_request: WeakValueDictionary[str, Pace] = WeakValueDictionary()
_slowed: WeakSet[Pace] = WeakSet()  # those whose messages had to wait


def begin_connection() -> Pace:
    """The pace of the connection that is answered here, from now on."""
    pace = _of_request[request()] = Pace(settings().limits.requests)
    return pace


def asks_too_often() -> str:
    """What to tell the reader of the session whose script runs here; empty for nothing."""
    pace = _of_request.get(request()) if _slowed else None
    if pace is None or not pace.to_be_said():
        return ""
    return (
        f"This page sends more than {settings().limits.requests} requests a second. "
        "The rest wait; none is lost."
    )
