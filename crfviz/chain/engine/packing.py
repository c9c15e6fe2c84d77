"""Packed batches: B sentences as N rows without padding, and operations on arrays and tensors.

Rows are ordered by position: all first words, then all second words, and so on. The longest
sentence comes first in each column, so that no step of a recursion needs a mask. Tables are (N, K)
float64, ids are (N,) whole numbers. Batches on the CPU are NumPy arrays, which are faster for small
steps; batches on a GPU stay tensors.
"""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import TOLERANCE

Array = Any  # float64: an array of NumPy, or a tensor
Ids = Any  # whole numbers in the same library
TORCH_MIN_ROWS = 100  # from this number of rows on, torch's row maximum is faster than NumPy's


def library(array: object) -> Any:  # noqa: ANN401 - a module
    """Return the module, NumPy or torch, that an array belongs to."""
    return torch if isinstance(array, Tensor) else np


def empty(shape: tuple[int, ...], like: Array) -> Array:
    """Allocate a float64 table on the device of `like`."""
    if isinstance(like, Tensor):
        return like.new_empty(shape)
    return np.empty(shape)


def copy_of(table: Array) -> Array:
    return table.clone() if isinstance(table, Tensor) else table.copy()


def pick_per_row(table: Array, ids: Ids) -> Array:
    """Return one number of each row: (N, K) and ids (N,) to (N,)."""
    if isinstance(table, Tensor):
        return table.gather(1, ids[:, None])[:, 0]
    return table.take(_cells(table, ids))


def add_to(table: Array, ids: Ids, numbers: Array) -> None:
    """Add numbers (N,) to the cells that `pick_per_row` reads, in place."""
    if isinstance(table, Tensor):
        table.scatter_add_(1, ids[:, None], numbers[:, None])
    else:
        cells = _cells(table, ids)
        table.put(cells, table.take(cells) + numbers)


def _cells(table: Array, ids: Ids) -> Ids:
    """Return the flat indices of these cells in a table in C order."""
    return np.arange(0, table.size, table.shape[1]) + ids


def sum_by_id(numbers: Array, ids: Ids, size: int) -> Array:
    """Return the sum of the numbers (N,) of each id, (size,)."""
    if isinstance(numbers, Tensor):
        return numbers.new_zeros(size).index_add_(0, ids, numbers)
    return np.bincount(ids, numbers, size)


def views(table: Array, rows: Sequence[slice]) -> Sequence[Array]:
    """Return consecutive row slices of a table as views."""
    if isinstance(table, Tensor):  # one call, because each slice would take as long as a product
        return table.tensor_split([end for part in rows for end in (part.start, part.stop)])[1::2]
    return [table[part] for part in rows]


def take_rows(table: Array, rows: Ids) -> Array:
    """Return rows of a table, (n, ...)."""
    if isinstance(table, Tensor):
        return table.index_select(0, rows)
    return table.take(rows, 0)


def largest(table: Array) -> Array:
    """Return the largest number of each row: (N, K) to (N,)."""
    if isinstance(table, Tensor):
        return table.amax(1)
    if len(table) < TORCH_MIN_ROWS:
        return table.max(1)
    return torch.from_numpy(table).amax(1).numpy()


def tie_bound(best: Array) -> Array:
    """Return the lowest score that ties with the best one; see `crfviz.chain.recursions`."""
    return best - TOLERANCE * np.maximum(np.abs(best), 1.0)


def lowest_best(scores: Array) -> Ids:
    """Return the lowest index of each row that ties with its maximum: (N, K) to (N,)."""
    ties: Ids = scores >= tie_bound(scores.max(1))[:, None]
    return ties.argmax(1)


def log(numbers: Array) -> Array:
    """Return logarithms; -inf at 0, without NumPy's warning."""
    if isinstance(numbers, Tensor):
        return numbers.log()
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def lowest_finite(scores: Array) -> tuple[float, bool]:
    """Return the lowest number above -inf (0 if there is none), and whether any is -inf."""
    lowest = float(scores.min())
    if lowest > -math.inf:
        return lowest, False
    finite = scores[scores > -math.inf]
    return (float(finite.min()) if len(finite) else 0.0), True


MAX_BUFFER = 1 << 20  # maximum size of a buffer that a thread keeps, in numbers (8 MB)
_BUFFERS = threading.local()


def scratch(name: str, shape: tuple[int, ...], like: Array) -> Array:
    """Return a float64 buffer that stays valid until this thread requests the same name again."""
    if isinstance(like, Tensor) and like.is_cuda:
        return like.new_empty(shape)
    array = _buffer(name, math.prod(shape)).reshape(shape)
    return torch.from_numpy(array) if isinstance(like, Tensor) else array


def _buffer(name: str, size: int) -> Array:
    if size > MAX_BUFFER:
        return np.empty(size)
    kept: Array = getattr(_BUFFERS, name, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size)
        setattr(_BUFFERS, name, kept)
    return kept[:size]


@dataclass(frozen=True, eq=False)
class Packed:
    """Layout of B sentences of up to T words in N rows, one row per word."""

    columns: list[slice]  # T slices: the rows of the words at each position
    previous: list[slice]  # T-1 slices: the rows of each position that have a next word
    bounds: Ids  # (T+1,) the first row of each column, and N
    order: Ids  # (B,) the sentences, longest first; a place is an index into this
    lengths: Ids  # (B,) number of words of each place
    places: Ids  # (N,) the place of each row's sentence
    cells: Ids  # (N,) index of the word in the (B * T) words and padding of the original batch
    mirrored: Ids  # (N,) the row of the word as far from the end as this one is from the start
    before: Ids  # (N-B,) the row of the word before, for all rows except first words
    last: Ids  # (B,) the row of the last word of each place

    @property
    def first(self) -> slice:
        return self.columns[0]

    @property
    def later(self) -> slice:
        return slice(self.columns[0].stop, None)

    def by_sentence(self, places: Array) -> Array:
        """Reorder (B,) values of places to the order of the sentences."""
        values = library(places).empty_like(places)
        values[self.order] = places
        return values

    def on(self, device: torch.device) -> "Packed":
        """Return a copy with tensors on a device."""
        fields: dict[str, Any] = dict(vars(self))
        ids = {name: value for name, value in fields.items() if not isinstance(value, list)}
        moved = torch.from_numpy(np.concatenate([*ids.values()])).to(device)  # one transfer for all
        sizes = [len(value) for value in ids.values()]
        return Packed(**fields | dict(zip(ids, torch.split(moved, sizes), strict=True)))


@lru_cache(maxsize=256)
def pack_one(num_words: int) -> Packed:
    """Return the packing of one sentence."""
    return pack(np.array([num_words]), num_words)


def pack(lengths: NDArray[np.int64], width: int) -> Packed:
    """Return the packing of sentences of `lengths` (B,) words, from a table `width` words wide.

    Example:
        >>> pack(np.array([1, 3]), 3).cells.tolist()
        [3, 0, 4, 5]
    """
    order = np.argsort(-lengths, kind="stable")
    longest_first = lengths[order]
    is_word = np.arange(longest_first[0])[:, None] < longest_first  # (T, B)
    positions, places = is_word.nonzero()
    bounds = np.concatenate([[0], is_word.sum(1).cumsum()])
    later = slice(len(lengths), None)
    columns = [slice(*both) for both in pairwise(bounds.tolist())]
    return Packed(
        columns=columns,
        previous=[
            slice(before.start, before.start + here.stop - here.start)
            for before, here in pairwise(columns)
        ],
        bounds=bounds,
        order=order,
        lengths=longest_first,
        places=places,
        cells=order[places] * width + positions,
        mirrored=bounds[longest_first[places] - 1 - positions] + places,
        before=bounds[positions[later] - 1] + places[later],
        last=bounds[longest_first - 1] + np.arange(len(lengths)),
    )


@dataclass(frozen=True, eq=False)
class ChainBatch:
    """The scores of B chains by rows and places; see `Packed`."""

    given: Sequence[Potentials]  # in their original order
    packed: Packed
    emissions: Array  # (N, K)
    steps: Array  # (K, K), or (N, K, K) transitions into each row, zeros for first words
    start: Array  # (B, K)
    end: Array  # (B, K)
    words: NDArray[np.int64]  # (N,) the row of each word, chain after chain

    def split(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """Return rows (N, ...) as B tables, in the order of the chains."""
        return np.split(
            rows[self.words], self.packed.by_sentence(self.packed.lengths).cumsum()[:-1]
        )


ChainsOrBatch = Sequence[Potentials] | ChainBatch  # callers pack once for several computations


def chain_batch(chains: ChainsOrBatch) -> ChainBatch:
    """Pack chains with the same tags; a packed batch is returned unchanged."""
    if isinstance(chains, ChainBatch):
        return chains
    lengths = [chain.num_tokens for chain in chains]
    packed = pack_one(lengths[0]) if len(lengths) == 1 else pack(np.array(lengths), max(lengths))
    words = packed.cells.argsort()
    rows = words.argsort()  # inverse permutation: row to word
    emissions, transitions, start, end = zip(*(chain.scores() for chain in chains), strict=True)
    shared = chains[0].homogeneous and all(
        np.array_equal(matrix, transitions[0]) for matrix in transitions[1:]
    )
    return ChainBatch(
        given=chains,
        packed=packed,
        emissions=np.concatenate(emissions)[rows],
        steps=transitions[0] if shared else np.concatenate(_steps(chains))[rows],
        start=np.stack(start)[packed.order],
        end=np.stack(end)[packed.order],
        words=words,
    )


def _steps(chains: Sequence[Potentials]) -> list[Array]:
    """Return the transitions into all words, chain after chain; zeros for first words."""
    none = np.zeros((1, chains[0].num_tags, chains[0].num_tags))
    return [part for chain in chains for part in (none, chain.arrays()[1])]
