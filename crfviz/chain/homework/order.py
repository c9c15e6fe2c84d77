"""Which column of a table is which tag, where somebody's tags stand in another order.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.homework.readings import names_a_best
from crfviz.chain.potentials import Array

MOST_TRIES = 5000  # of tags for columns, before a table of backpointers counts as no such one


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


def in_order(given: Array, order: Sequence[int], *, renamed: bool = False) -> Array:
    """(T, K) a table with its columns in the order of the model.

    Args:
        given: (T, K).
        order: K tag ids, of the columns.
        renamed: whether the cells name tags by the numbers of their columns, as backpointers do.
    """
    if renamed:
        number = dict(enumerate(order))
        given = np.vectorize(lambda value: number.get(value, value), otypes=[float])(given)
    right: Array = given[:, np.argsort(order)]
    return right


def pointer_columns(given: Array, choices: NDArray[np.bool_]) -> tuple[int, ...]:
    """The tag ids of columns whose cells name tags as the model does; empty where there are none.

    Args:
        given: (T - 1, K) ids.
        choices: (T - 1, K to, K from) which tags before are as good as the best one.
    """
    cells = [_allowed(choices, column) for column in given.T]
    return assigned([np.flatnonzero(may.all(0)).tolist() for may in cells])


def pointer_order(given: Array, choices: NDArray[np.bool_]) -> tuple[int, ...]:
    """The same where the cells name the columns: whose tag a column is decides what others say.

    Columns that others point at are tried tag by tag, and of these only such that as many may point
    at; all others follow.
    """
    known = given[np.isfinite(given) & (given >= 0)]
    if not len(known) or (known != known.round()).any() or known.max() >= given.shape[1]:
        return ()
    return _Search(given, choices).found()


class _Search:
    def __init__(self, given: Array, choices: NDArray[np.bool_]) -> None:
        self.given, self.choices = given, choices
        self.tags = range(given.shape[1])
        self.left = MOST_TRIES
        most = choices.sum(1)  # (T - 1, K) how many may point at a tag
        pointed = {
            column: [k for k in self.tags if ((given == column).sum(1) <= most[:, k]).all()]
            for column in self.tags
            if (given == column).any()
        }
        self.pointed = dict(sorted(pointed.items(), key=lambda item: len(item[1])))

    def found(self) -> tuple[int, ...]:
        return self._further({}, list(self.pointed))

    def _further(self, tag_of: dict[int, int], open_columns: list[int]) -> tuple[int, ...]:
        if not open_columns:
            return assigned([self._possible(column, tag_of) for column in self.tags])
        column, *others = open_columns
        for tag in self.pointed[column]:
            self.left -= 1
            if self.left < 0:
                return ()
            chosen = {**tag_of, column: tag}
            if tag in tag_of.values() or not all(self._may(c, chosen[c], chosen) for c in chosen):
                continue
            if order := self._further(chosen, others):
                return order
        return ()

    def _possible(self, column: int, tag_of: dict[int, int]) -> list[int]:
        if column in tag_of:
            return [tag_of[column]]
        taken = set(tag_of.values())
        return [k for k in self.tags if k not in taken and self._may(column, k, tag_of)]

    def _may(self, column: int, tag: int, tag_of: dict[int, int]) -> bool:
        """Whether a column may be a tag, as far as it is known whom it points at."""
        cells = self.given[:, column]
        rows = [t for t, cell in enumerate(cells) if not cell >= 0 or int(cell) in tag_of]
        names = np.array([tag_of[int(c)] if c >= 0 else -1 for c in cells[rows]], dtype=float)
        return bool(_allowed(self.choices[rows], names)[:, tag].all())


def _allowed(choices: NDArray[np.bool_], named: Array) -> NDArray[np.bool_]:
    """(R, K) which tags may point at the tag that each row names; at none where all are alike."""
    return names_a_best(np.broadcast_to(named[:, None], choices.shape[:2]), choices)
