"""The few functions that NumPy and torch do not share by name, or that one of them does faster."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.recursions import TOLERANCE

Array = Any  # float64: an array of NumPy, or a tensor
Ids = Any  # whole numbers in the same library
MANY = 100  # rows: from here on torch finds the largest of each faster than NumPy


def library(array: object) -> Any:  # noqa: ANN401 - a module
    """NumPy or torch, whatever an array is of, for what has one name in both."""
    return torch if isinstance(array, Tensor) else np


def empty(shape: tuple[int, ...], like: Array) -> Array:
    """Room for float64 numbers, where `like` is."""
    if isinstance(like, Tensor):
        return like.new_empty(shape)
    return np.empty(shape)


def copied(table: Array) -> Array:
    """The same numbers side by side, in memory of their own."""
    return table.clone() if isinstance(table, Tensor) else table.copy()


def chosen(table: Array, ids: Ids) -> Array:
    """One number of each row: (N, K) and ids (N,) to (N,)."""
    if isinstance(table, Tensor):
        return table.gather(1, ids[:, None])[:, 0]
    return table.take(_cells(table, ids))


def add_to(table: Array, ids: Ids, numbers: Array) -> None:
    """Add numbers (N,) to the cells that `chosen` names, in place."""
    if isinstance(table, Tensor):
        table.scatter_add_(1, ids[:, None], numbers[:, None])
    else:
        cells = _cells(table, ids)
        table.put(cells, table.take(cells) + numbers)


def _cells(table: Array, ids: Ids) -> Ids:
    """The places of these cells in a table that is read row after row."""
    return np.arange(0, table.size, table.shape[1]) + ids


def added_up(numbers: Array, ids: Ids, size: int) -> Array:
    """The sums of the numbers (N,) of each id, (size,)."""
    if isinstance(numbers, Tensor):
        return numbers.new_zeros(size).index_add_(0, ids, numbers)
    return np.bincount(ids, numbers, size)


def views(table: Array, rows: Sequence[slice]) -> Sequence[Array]:
    """Those rows of a table, each as a view; one slice lies behind the other."""
    if isinstance(table, Tensor):  # one call, where a slice takes as long as a product
        return table.tensor_split([end for part in rows for end in (part.start, part.stop)])[1::2]
    return [table[part] for part in rows]


def take(table: Array, rows: Ids) -> Array:
    """Rows of a table, (n, ...)."""
    if isinstance(table, Tensor):
        return table.index_select(0, rows)
    return table.take(rows, 0)


def largest(table: Array) -> Array:
    """The largest number of each row: (N, K) to (N,)."""
    if isinstance(table, Tensor):
        return table.amax(1)
    if len(table) < MANY:
        return table.max(1)
    return torch.from_numpy(table).amax(1).numpy()


def tie_bound(best: Array) -> Array:
    """From where on a score ties with the best one; see `crfviz.chain.recursions`. NumPy alone."""
    return best - TOLERANCE * np.maximum(np.abs(best), 1.0)


def lowest_best(scores: Array) -> Ids:
    """`crfviz.chain.recursions.lowest_best` of each row: (N, K) to (N,). NumPy alone."""
    ties: Ids = scores >= tie_bound(scores.max(1))[:, None]
    return ties.argmax(1)


def log(numbers: Array) -> Array:
    """Logarithms; -inf at 0, without NumPy's warning."""
    if isinstance(numbers, Tensor):
        return numbers.log()
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def lowest_finite(scores: Array) -> tuple[float, bool]:
    """The lowest number that is not -inf, 0 if there is none, and whether one is -inf."""
    lowest = float(scores.min())
    if lowest > -math.inf:
        return lowest, False
    finite = scores[scores > -math.inf]
    return (float(finite.min()) if len(finite) else 0.0), True
