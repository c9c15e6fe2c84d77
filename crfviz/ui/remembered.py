"""Values that all sessions share, each made once by whoever asks first.

Streamlit's own memory hashes the arguments of each call anew, and replays what was drawn meanwhile:
a look takes a tenth of a millisecond, and a page has ten of them.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import Lock
from typing import Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class Remembered(Generic[Arguments, Value]):
    """A function that remembers what it gave; who asks while a value is made waits for it.

    Args:
        make: makes a value, and draws nothing. What it raises is not remembered.
        most: how many values; the one that nobody asked for the longest goes first.
        key: what a value depends on, of the function's arguments.
    """

    def __init__(
        self, make: Callable[Arguments, Value], most: int, key: Callable[Arguments, Hashable]
    ) -> None:
        update_wrapper(self, make)
        self._make, self._most, self._key = make, most, key
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._made: dict[Hashable, Lock] = {}  # what is being made
        self._lock = Lock()

    def __call__(self, *args: Arguments.args, **named: Arguments.kwargs) -> Value:
        """The value of these arguments, the same object each time: nobody may change it."""
        key = self._key(*args, **named)
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            turn = self._made.setdefault(key, Lock())
        with turn:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                value = self._make(*args, **named)
                with self._lock:
                    self._values[key] = value
                    if len(self._values) > self._most:
                        self._values.popitem(last=False)
            finally:
                with self._lock:
                    self._made.pop(key, None)
        return value

    def clear(self, *args: Arguments.args, **named: Arguments.kwargs) -> None:
        """Forget one value, or without arguments all of them."""
        with self._lock:
            if args or named:
                self._values.pop(self._key(*args, **named), None)
            else:
                self._values.clear()


def remembered(
    most: int, key: Callable[Arguments, Hashable]
) -> Callable[[Callable[Arguments, Value]], Remembered[Arguments, Value]]:
    """Make a function one that remembers; see `Remembered`."""
    return lambda make: Remembered(make, most, key)
