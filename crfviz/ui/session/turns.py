"""Heavy work of the pages: one job at a time, and a fair line for all who wait.

A run over a corpus keeps a core busy for seconds, and another one for half of them; two at once
would make everybody else wait for both. `crfviz.ui.session.background` does a large one for the
visitor whose turn it is. Teaching has a process and a queue of its own, see
`crfviz.annotations.teaching.jobs`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from threading import Condition

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.settings import settings
from crfviz.ui.session.floor import FLOOR
from crfviz.ui.session.kept import of_session
from crfviz.ui.streamlit_compat import StopException, visitor_has_left
from crfviz.views.formatting import count

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
