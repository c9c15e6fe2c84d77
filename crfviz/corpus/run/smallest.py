"""The smallest of many items, with memory for a bounded number."""

from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=tuple[float, ...])


class Smallest(Generic[Item, Key]):
    """The `most` items with the smallest keys of all that were added.

    >>> kept = Smallest(2, key=lambda n: (n,))
    >>> for n in (5, 1, 4, 3, 2):
    ...     kept.add(n)
    >>> kept.items()
    [1, 2]
    """

    def __init__(self, most: int, key: Callable[[Item], Key]) -> None:
        self._most = most
        self._key = key
        self._items: list[Item] = []

    def add(self, item: Item) -> None:
        """Take one more; now and then those that are too many go."""
        self._items.append(item)
        if len(self._items) > 2 * self._most:
            self._items = self.items()

    def items(self) -> list[Item]:
        """The items, smallest key first; those with equal keys in the order they came in."""
        return sorted(self._items, key=self._key)[: self._most]
