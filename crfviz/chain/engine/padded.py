"""Padded batches of tensors as packed rows, and back: arrays on the CPU, tensors on a GPU.

A small step takes NumPy less time than torch, and both share the memory. On a GPU the same
functions of torch run on rows that stay there.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.engine.arrays import take
from crfviz.chain.engine.packed import Packed, pack
from crfviz.exceptions import EmptySentenceError, ShapeError

SMALL = 4096  # words and padding: up to here to pack a batch takes as long as to sum it up
Rows = Any  # (n, ...) an array, or a tensor on a GPU


@dataclass(frozen=True, eq=False)
class Padded:
    """B sentences in tables of T columns, words first, then padding."""

    mask: Tensor  # (B, T) bool, True at words
    packed: Packed  # arrays, wherever the mask is

    @cached_property
    def there(self) -> Packed:
        """The packing where the mask is."""
        return self.packed.on(self.mask.device) if self.mask.is_cuda else self.packed

    def rows(self, table: Tensor) -> Rows:
        """The words of a (B, T, ...) table, (N, ...); numbers with fractions are float64."""
        return take(numbers(table.flatten(0, 1)), self.there.cells)

    def table(self, rows: Rows, dtype: torch.dtype) -> Tensor:
        """The (B, T, ...) table with rows at words and zeros at padding."""
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
        """B lists with the numbers of each sentence's words."""
        found = np.zeros(self.mask.numel(), np.int64)
        found[self.packed.cells] = rows
        lengths = self.packed.given(self.packed.lengths)
        sentences = found.reshape(self.mask.shape).tolist()
        return [row[:n] for row, n in zip(sentences, lengths.tolist(), strict=True)]

    def sentences(self, values: Rows) -> Tensor:
        """(B,) values of places, in the order in which the sentences were given."""
        return torch.as_tensor(self.there.given(values))

    def places(self, values: Tensor) -> Rows:
        """(B,) values of sentences, in the order of the places."""
        return numbers(values)[self.there.order]


def padded(mask: Tensor) -> Padded:
    """The packing of a batch by its mask (B, T) bool.

    Raises:
        EmptySentenceError: a sentence has no word.
        ShapeError: there is a word after padding.
    """
    words = mask.cpu().numpy()
    if words.size > SMALL:
        return Padded(mask, _packed(words))
    return Padded(mask, _packed_before(words.tobytes(), words.shape))


@lru_cache(maxsize=64)
def _packed_before(mask: bytes, shape: tuple[int, int]) -> Packed:
    """The packing of a mask in bytes: an epoch comes back to the batches of the one before."""
    return _packed(np.frombuffer(mask, np.bool_).reshape(shape))


def _packed(words: NDArray[np.bool_]) -> Packed:
    if words.shape[1] == 0 or not words[:, 0].all():
        raise EmptySentenceError("every sentence of a batch must have at least one word")
    lengths = words.sum(1)
    if not (words == (np.arange(words.shape[1]) < lengths[:, None])).all():
        raise ShapeError("mask must be words first, then padding; got words after padding")
    return pack(lengths, words.shape[1])


def numbers(tensor: Tensor) -> Rows:
    """A tensor without its gradient, float64 if it has fractions; an array if it is on the CPU."""
    values = tensor.detach()
    if values.is_floating_point():
        values = values.double()
    return values if values.is_cuda else values.numpy()
