"""Packed batches: B sentences as N rows without padding, and conversion from padded tensors.

Rows are ordered by position: all first words, then all second words, and so on. The longest
sentence comes first in each column, so that no step of a recursion needs a mask. Tables of packed
sentences are (N, K), those of padded ones (B, T, K). CPU batches are NumPy arrays, which are faster
for small steps; batches on a GPU stay tensors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.engine.arrays import Array, Ids, library, take_rows
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError, ShapeError


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
        """The rows of the first words."""
        return self.columns[0]

    @property
    def later(self) -> slice:
        """The rows of all other words."""
        return slice(self.columns[0].stop, None)

    def given(self, places: Array) -> Array:
        """Return values of places, (B,), in the order of the sentences."""
        found = library(places).empty_like(places)
        found[self.order] = places
        return found

    def on(self, device: torch.device) -> "Packed":
        """Return the same with tensors on a device."""
        fields: dict[str, Any] = dict(vars(self))
        ids = {name: value for name, value in fields.items() if not isinstance(value, list)}
        moved = torch.from_numpy(np.concatenate([*ids.values()])).to(device)  # one way for all
        sizes = [len(value) for value in ids.values()]
        return Packed(**fields | dict(zip(ids, torch.split(moved, sizes), strict=True)))


@lru_cache(maxsize=256)
def pack_one(num_words: int) -> Packed:
    """Return the packing of one sentence."""
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


MAX_CACHED_CELLS = 4096  # words and padding; packing a smaller batch takes as long as its sums
Rows = Any  # (n, ...) an array, or a tensor on a GPU


@dataclass(frozen=True, eq=False)
class Padded:
    """B sentences in tables of T columns: words first, then padding."""

    mask: Tensor  # (B, T) bool, True at words
    packed: Packed  # arrays, wherever the mask is

    @cached_property
    def there(self) -> Packed:
        """The packing on the device of the mask."""
        return self.packed.on(self.mask.device) if self.mask.is_cuda else self.packed

    def rows(self, table: Tensor) -> Rows:
        """Return the words of a (B, T, ...) table, (N, ...); numbers with fractions are float64."""
        return take_rows(numbers(table.flatten(0, 1)), self.there.cells)

    def table(self, rows: Rows, dtype: torch.dtype) -> Tensor:
        """Return the (B, T, ...) table with rows at words and zeros at padding."""
        num_cells = self.mask.numel()
        if isinstance(rows, Tensor):
            found = rows.new_zeros((num_cells, rows.shape[1])).index_copy_(
                0, self.there.cells, rows
            )
        else:
            array = np.zeros((num_cells, rows.shape[1]))
            array[self.packed.cells] = rows
            found = torch.from_numpy(array)
        return found.view(*self.mask.shape, -1).to(dtype)

    def lists(self, rows: NDArray[np.int64]) -> list[list[int]]:
        """Return B lists with the numbers of each sentence's words."""
        found = np.zeros(self.mask.numel(), np.int64)
        found[self.packed.cells] = rows
        lengths = self.packed.given(self.packed.lengths)
        sentences = found.reshape(self.mask.shape).tolist()
        return [row[:n] for row, n in zip(sentences, lengths.tolist(), strict=True)]

    def sentences(self, values: Rows) -> Tensor:
        """Return (B,) values of places, in the order in which the sentences were given."""
        return torch.as_tensor(self.there.given(values))

    def places(self, values: Tensor) -> Rows:
        """Return (B,) values of sentences, in the order of the places."""
        return numbers(values)[self.there.order]


def pack_mask(mask: Tensor) -> Padded:
    """Return the packing of a batch by its mask (B, T) bool.

    Raises:
        EmptySentenceError: a sentence has no word.
        ShapeError: there is a word after padding.
    """
    words = mask.cpu().numpy()
    if words.size > MAX_CACHED_CELLS:
        return Padded(mask, _pack_mask(words))
    return Padded(mask, _pack_mask_cached(words.tobytes(), words.shape))


@lru_cache(maxsize=64)
def _pack_mask_cached(mask: bytes, shape: tuple[int, int]) -> Packed:
    """Cached packing of a mask in bytes; each epoch sees the same batches."""
    return _pack_mask(np.frombuffer(mask, np.bool_).reshape(shape))


def _pack_mask(words: NDArray[np.bool_]) -> Packed:
    if words.shape[1] == 0 or not words[:, 0].all():
        raise EmptySentenceError("every sentence of a batch must have at least one word")
    lengths = words.sum(1)
    if not (words == (np.arange(words.shape[1]) < lengths[:, None])).all():
        raise ShapeError("mask must be words first, then padding; got words after padding")
    return pack(lengths, words.shape[1])


def numbers(tensor: Tensor) -> Rows:
    """Return a detached tensor, float64 if floating point; an array if it is on the CPU."""
    values = tensor.detach()
    if values.is_floating_point():
        values = values.double()
    return values if values.is_cuda else values.numpy()


@dataclass(frozen=True, eq=False)
class ChainBatch:
    """The scores of B chains by rows and places; see `Packed`."""

    given: Sequence[Potentials]  # as they came
    packed: Packed
    emissions: Array  # (N, K)
    steps: Array  # (K, K), or (N, K, K) the way to each row, zeros to the first words
    start: Array  # (B, K)
    end: Array  # (B, K)
    words: NDArray[np.int64]  # (N,) the row of each word, chain after chain

    def split(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """Return rows (N, ...) as B tables, in the order of the chains."""
        return np.split(rows[self.words], self.packed.given(self.packed.lengths).cumsum()[:-1])


ChainsOrBatch = Sequence[Potentials] | ChainBatch  # packed by whoever asks several things of them


def chain_batch(chains: ChainsOrBatch) -> ChainBatch:
    """Pack chains with the same tags; a packed batch is returned unchanged."""
    if isinstance(chains, ChainBatch):
        return chains
    lengths = [chain.num_tokens for chain in chains]
    packed = pack_one(lengths[0]) if len(lengths) == 1 else pack(np.array(lengths), max(lengths))
    words = packed.cells.argsort()
    rows = words.argsort()  # where the rows are, chain after chain
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
    """Return the ways to all words, chain after chain: none to a first word."""
    none = np.zeros((1, chains[0].num_tags, chains[0].num_tags))
    return [part for chain in chains for part in (none, chain.arrays()[1])]
