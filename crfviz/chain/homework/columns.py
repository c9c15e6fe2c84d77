"""The tags of a table's columns, which may be in another order than the model's.

Letters: `T` tokens, `K` tags, `R` rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.homework.readings import names_a_best
from crfviz.chain.potentials import Array

MAX_TRIES = 5000  # assignments of tags to columns before the search gives up


def assign_columns(possible: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Assign a tag to each of K columns, each tag once; return () if that is impossible.

    Args:
        possible: for each column the tag ids that match its numbers.

    Source:
        Augmenting paths, as in Kuhn (1955).

    Example:
        >>> assign_columns([[1], [0, 1], [2]])
        (1, 0, 2)
        >>> assign_columns([[0], [0], [2]])
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
    """Return (T, K) a table with its columns in the order of the model.

    Args:
        given: (T, K).
        order: K tag ids of the columns.
        renamed: whether the cells, as backpointers, are column numbers instead of tag ids.
    """
    if renamed:
        number = dict(enumerate(order))
        given = np.vectorize(lambda value: number.get(value, value), otypes=[float])(given)
    right: Array = given[:, np.argsort(order)]
    return right


def pointer_columns(given: Array, choices: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the tag ids of the columns if the cells are tag ids of the model; else ().

    Args:
        given: (T - 1, K) ids.
        choices: (T - 1, K to, K from) whether each previous tag ties with the best one.
    """
    cells = [_allowed(choices, column) for column in given.T]
    return assign_columns([np.flatnonzero(may.all(0)).tolist() for may in cells])


def pointer_order(given: Array, choices: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the tag ids of the columns if the cells are column numbers; else ().

    The search tries tags for the columns that cells point at, limited to tags that at least as many
    cells may point at. The tags of all other columns follow from these.
    """
    known = given[np.isfinite(given) & (given >= 0)]
    if not len(known) or (known != known.round()).any() or known.max() >= given.shape[1]:
        return ()
    return _OrderSearch(given, choices).result()


class _OrderSearch:
    def __init__(self, given: Array, choices: NDArray[np.bool_]) -> None:
        self.given, self.choices = given, choices
        self.tags = range(given.shape[1])
        self.left = MAX_TRIES
        most = choices.sum(1)  # (T - 1, K) number of cells that may point at a tag
        pointed = {
            column: [k for k in self.tags if ((given == column).sum(1) <= most[:, k]).all()]
            for column in self.tags
            if (given == column).any()
        }
        self.pointed = dict(sorted(pointed.items(), key=lambda item: len(item[1])))

    def result(self) -> tuple[int, ...]:
        return self._further({}, list(self.pointed))

    def _further(self, tag_of: dict[int, int], open_columns: list[int]) -> tuple[int, ...]:
        if not open_columns:
            return assign_columns([self._possible(column, tag_of) for column in self.tags])
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
        used = set(tag_of.values())
        return [k for k in self.tags if k not in used and self._may(column, k, tag_of)]

    def _may(self, column: int, tag: int, tag_of: dict[int, int]) -> bool:
        """Return whether a column may be a tag, given the known tags that it points at."""
        cells = self.given[:, column]
        rows = [t for t, cell in enumerate(cells) if not cell >= 0 or int(cell) in tag_of]
        names = np.array([tag_of[int(c)] if c >= 0 else -1 for c in cells[rows]], dtype=float)
        return bool(_allowed(self.choices[rows], names)[:, tag].all())


def _allowed(choices: NDArray[np.bool_], named: Array) -> NDArray[np.bool_]:
    """Return (R, K) whether each tag may have its row's backpointer; -1 only if all tie."""
    return names_a_best(np.broadcast_to(named[:, None], choices.shape[:2]), choices)
