"""Many chains with the same tags as one packed batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.packed import Packed, alone, pack
from crfviz.chain.potentials import Array, Potentials


@dataclass(frozen=True, eq=False)
class Chains:
    """The scores of B chains by rows and places; see `Packed`."""

    given: Sequence[Potentials]  # as they came
    packed: Packed
    emissions: Array  # (N, K)
    steps: Array  # (K, K), or (N, K, K) the way to each row, zeros to the first words
    start: Array  # (B, K)
    end: Array  # (B, K)
    words: NDArray[np.int64]  # (N,) the row of each word, chain after chain

    def split(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """What is known of the rows, (N, ...), as B tables, in the order of the chains."""
        return np.split(rows[self.words], self.packed.given(self.packed.lengths).cumsum()[:-1])


Many = Sequence[Potentials] | Chains  # packed by whoever asks several things of them


def together(chains: Many) -> Chains:
    """One chain or more with the same tags, packed if they are not yet."""
    if isinstance(chains, Chains):
        return chains
    lengths = [chain.num_tokens for chain in chains]
    packed = alone(lengths[0]) if len(lengths) == 1 else pack(np.array(lengths), max(lengths))
    words = packed.cells.argsort()
    rows = words.argsort()  # where the rows are, chain after chain
    emissions, transitions, start, end = zip(*(chain.scores() for chain in chains), strict=True)
    shared = chains[0].homogeneous and all(
        np.array_equal(matrix, transitions[0]) for matrix in transitions[1:]
    )
    return Chains(
        given=chains,
        packed=packed,
        emissions=np.concatenate(emissions)[rows],
        steps=transitions[0] if shared else np.concatenate(_steps(chains))[rows],
        start=np.stack(start)[packed.order],
        end=np.stack(end)[packed.order],
        words=words,
    )


def _steps(chains: Sequence[Potentials]) -> list[Array]:
    """The ways to all words, chain after chain: none to a first word."""
    none = np.zeros((1, chains[0].num_tags, chains[0].num_tags))
    return [part for chain in chains for part in (none, chain.arrays()[1])]
