"""Array operations that NumPy and torch name differently, and reusable buffers.

Tables are (N, K) float64, ids are (N,) whole numbers; each function takes an array or a tensor.
"""

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.recursions import TOLERANCE

Array = Any  # float64: an array of NumPy, or a tensor
Ids = Any  # whole numbers in the same library
TORCH_MIN_ROWS = 100  # rows: from here on torch finds the largest of each faster than NumPy


def library(array: object) -> Any:  # noqa: ANN401 - a module
    """Return the module, NumPy or torch, that an array belongs to."""
    return torch if isinstance(array, Tensor) else np


def empty(shape: tuple[int, ...], like: Array) -> Array:
    """Allocate a float64 table on the device of `like`."""
    if isinstance(like, Tensor):
        return like.new_empty(shape)
    return np.empty(shape)


def copy_of(table: Array) -> Array:
    """Return a contiguous copy."""
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
    """Return the places of these cells in a table that is read row after row."""
    return np.arange(0, table.size, table.shape[1]) + ids


def sum_by_id(numbers: Array, ids: Ids, size: int) -> Array:
    """Return the sum of the numbers (N,) of each id, (size,)."""
    if isinstance(numbers, Tensor):
        return numbers.new_zeros(size).index_add_(0, ids, numbers)
    return np.bincount(ids, numbers, size)


def views(table: Array, rows: Sequence[slice]) -> Sequence[Array]:
    """Return consecutive row slices of a table as views."""
    if isinstance(table, Tensor):  # one call, where a slice takes as long as a product
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
    """Return `crfviz.chain.recursions.lowest_best` of each row: (N, K) to (N,). NumPy only."""
    ties: Ids = scores >= tie_bound(scores.max(1))[:, None]
    return ties.argmax(1)


def log(numbers: Array) -> Array:
    """Return logarithms; -inf at 0, without NumPy's warning."""
    if isinstance(numbers, Tensor):
        return numbers.log()
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def lowest_finite(scores: Array) -> tuple[float, bool]:
    """Return the lowest number that is not -inf, 0 if there is none, and whether one is -inf."""
    lowest = float(scores.min())
    if lowest > -math.inf:
        return lowest, False
    finite = scores[scores > -math.inf]
    return (float(finite.min()) if len(finite) else 0.0), True


MAX_BUFFER = 1 << 20  # numbers that a thread keeps room for under one name, 8 MB
_BUFFERS = threading.local()


def scratch(name: str, shape: tuple[int, ...], like: Array) -> Array:
    """Return a float64 buffer that stays valid until this thread requests the same name again."""
    if isinstance(like, Tensor) and like.is_cuda:
        return like.new_empty(shape)
    found = _buffer(name, math.prod(shape)).reshape(shape)
    return torch.from_numpy(found) if isinstance(like, Tensor) else found


def _buffer(name: str, size: int) -> Array:
    if size > MAX_BUFFER:
        return np.empty(size)
    kept: Array = getattr(_BUFFERS, name, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size)
        setattr(_BUFFERS, name, kept)
    return kept[:size]
