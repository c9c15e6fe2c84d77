"""A cache decorator whose values all sessions share, without copies.

A lookup in Streamlit's own cache takes a tenth of a millisecond, because it hashes the arguments
and replays drawn elements. A page makes ten lookups. `shared_cache` is a dictionary with a lock.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import Lock
from typing import Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class SharedCache(Generic[Arguments, Value]):
    """A function with an LRU cache; concurrent calls with the same key wait for the first.

    Args:
        make: computes a value and draws nothing; errors are not cached.
        most: the maximum number of values; the least recently used is dropped first.
        key: maps the arguments to the cache key.
    """

    def __init__(
        self, make: Callable[Arguments, Value], most: int, key: Callable[Arguments, Hashable]
    ) -> None:
        update_wrapper(self, make)
        self._make, self._most, self._key = make, most, key
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._made: dict[Hashable, Lock] = {}  # locks of values being computed
        self._lock = Lock()

    def __call__(self, *args: Arguments.args, **named: Arguments.kwargs) -> Value:
        """Return the value, which callers share and must not change."""
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
        """Remove one value, or all without arguments."""
        with self._lock:
            if args or named:
                self._values.pop(self._key(*args, **named), None)
            else:
                self._values.clear()


def shared_cache(
    most: int, key: Callable[Arguments, Hashable]
) -> Callable[[Callable[Arguments, Value]], SharedCache[Arguments, Value]]:
    """Return a decorator that adds a cache; see `SharedCache`."""
    return lambda make: SharedCache(make, most, key)
