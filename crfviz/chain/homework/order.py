"""Which column of a table is which tag, where somebody's tags stand in another order.

Letters: `K` tags.
"""

from collections.abc import Sequence


def assigned(possible: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """A tag for each of K columns, each tag once; empty where there is no such choice.

    Args:
        possible: for each column the tag ids that its numbers may be.

    Source:
        Augmenting paths, as in Kuhn (1955).

    Example:
        >>> assigned([[1], [0, 1], [2]])
        (1, 0, 2)
        >>> assigned([[0], [0], [2]])
        ()
    """
    holder: dict[int, int] = {}  # tag to column

    def place(column: int, seen: set[int]) -> bool:
        for tag in possible[column]:
            if tag in seen:
                continue
            seen.add(tag)
            if tag not in holder or place(holder[tag], seen):
                holder[tag] = column
                return True
        return False

    if not all(place(column, set()) for column in range(len(possible))):
        return ()
    return tuple(sorted(holder, key=holder.__getitem__))
