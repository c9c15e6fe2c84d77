"""Sentences of many lengths as rows without padding: all first words, then all second words, ...

The longest sentence comes first in every column of words, so that the sentences that still have a
word are always the first ones, and no step of a recursion needs a mask. A sentence read from its
end has the same length: with both directions counted from where they begin, one column serves both.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import Array, Ids, library


@dataclass(frozen=True, eq=False)
class Packed:
    """Which word is in which of N rows, for B sentences that are up to T words long."""

    columns: list[slice]  # T times the rows of the words at one position
    previous: list[slice]  # T-1 times the rows that are followed by those of the next column
    starts: Ids  # (T,) the first row of each column
    order: Ids  # (B,) the sentences, longest first; a place is an index into this
    lengths: Ids  # (B,) words of each place
    places: Ids  # (N,) whose word it is
    cells: Ids  # (N,) where the word is in the (B * T) words and padding of the batch as given
    mirrored: Ids  # (N,) the row of the word as far from the end as this one is from the start
    before: Ids  # (N-B,) the row of the word before, for all rows but those of the first words
    last: Ids  # (B,) the row of the last word of each place

    @property
    def first(self) -> slice:
        """The rows of the first words, in the order of the places."""
        return self.columns[0]

    @property
    def later(self) -> slice:
        """The rows of all other words."""
        return slice(self.columns[0].stop, None)

    def given(self, places: Array) -> Array:
        """What is known of the places, (B,), in the order in which the sentences were given."""
        found = library(places).empty_like(places)
        found[self.order] = places
        return found

    def on(self, device: torch.device) -> "Packed":
        """The same with tensors on a device."""
        fields: dict[str, Any] = dict(vars(self))
        ids = {name: value for name, value in fields.items() if not isinstance(value, list)}
        moved = torch.from_numpy(np.concatenate([*ids.values()])).to(device)  # one way for all
        sizes = [len(value) for value in ids.values()]
        return Packed(**fields | dict(zip(ids, torch.split(moved, sizes), strict=True)))


@lru_cache(maxsize=256)
def alone(num_words: int) -> Packed:
    """The packing of one sentence."""
    return pack(np.array([num_words]), num_words)


def pack(lengths: NDArray[np.int64], width: int) -> Packed:
    """Rows for sentences of `lengths` (B,) words each, at least one, in a table `width` words wide.

    Example:
        >>> pack(np.array([1, 3]), 3).cells.tolist()
        [3, 0, 4, 5]
    """
    order = np.argsort(-lengths, kind="stable")
    longest_first = lengths[order]
    there = np.arange(longest_first[0])[:, None] < longest_first  # (T, B)
    positions, places = there.nonzero()
    ends = there.sum(1).cumsum()
    starts = np.concatenate([[0], ends[:-1]])
    later = slice(len(lengths), None)
    columns = [slice(*bounds) for bounds in zip(starts.tolist(), ends.tolist(), strict=True)]
    return Packed(
        columns=columns,
        previous=[
            slice(before.start, before.start + here.stop - here.start)
            for before, here in pairwise(columns)
        ],
        starts=starts,
        order=order,
        lengths=longest_first,
        places=places,
        cells=order[places] * width + positions,
        mirrored=starts[longest_first[places] - 1 - positions] + places,
        before=starts[positions[later] - 1] + places[later],
        last=starts[longest_first - 1] + np.arange(len(lengths)),
    )
