"""How scripts run here: one at a time, and without a collection of garbage after each.

Streamlit looks for garbage after every script, in all that all sessions hold: with some hundred
sessions that takes longer than the script. `runner.postScriptGC` in config.toml ends that. Python
looks by itself as objects become more; what hangs on few objects, such as tensors, is looked for
after `RUNS` scripts, or more where that look takes long: it is no more than `SHARE` of all work.

A thread that waits for Python's lock asks for it after `SWITCH`: beside one that reads a large
file, a script would else lose Python's own 5 ms at each look at a file and each message.
"""

import gc
import sys
from collections.abc import Callable
from threading import local
from time import perf_counter

from crfviz.ui.session.floor import FLOOR
from crfviz.ui.streamlit_compat import one_script_at_a_time
from crfviz.ui.watching.meters import RUN_SECONDS, WAIT_SECONDS

RUNS = 200  # scripts between two collections, at the least
SHARE = 0.02  # of the time that scripts take, for collections
SWITCH = 0.0005  # seconds


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
