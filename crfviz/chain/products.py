"""A chain times an automaton: copies of the tags, one for each state that a tag leads to.

Source: Allauzen, Mohri and Rastogi, "General Algorithms for Testing the Ambiguity of Finite
Automata" (2008), section 2, on products of weighted automata.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Product:
    """Copies of the tags, one for each state that a tag leads to; K' of them, K or more.

    A path of copies is one path of tags that an automaton can read, and the other way round. Those
    of a rule come by tag, then by state; a tag that leads nowhere has one copy, never allowed.
    """

    tags: NDArray[np.int64]  # (K',) id of the tag
    states: NDArray[np.int64]  # (K',) state after it; -1 where it is never allowed
    start: Tensor  # (K',) bool, whether a sentence may begin with it
    transitions: Tensor  # (K', K') bool, whether the second may follow the first
    end: Tensor  # (K',) bool, whether a sentence may end with it

    def names(self, tags: Sequence[str]) -> tuple[str, ...]:
        """Return K' names, those of the K tags, with the state where a tag has several copies."""
        copies = Counter(self.tags.tolist())
        dot = next(dot for n in count(1) if not any((dot := "·" * n) in name for name in tags))
        return tuple(
            tags[tag] + (f"{dot}{state}" if copies[tag] > 1 else "")
            for tag, state in zip(self.tags.tolist(), self.states.tolist(), strict=True)
        )
