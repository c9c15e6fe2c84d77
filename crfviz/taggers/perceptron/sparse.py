"""A table that is mostly zero, as three short arrays; for the files of perceptrons.

    counts   (N,)  uint8 or uint16   how many cells of a row are not zero
    columns  (M,)  uint8 or uint16   their columns, row after row
    values   (M,)  int8              their values, in units of `scale`

A scale is one number a table, the largest size over 127. That is coarse, and enough: a perceptron's
weights are sums of ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import ModelError

Table = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]

PARTS = {"counts": "uint", "columns": "uint", "values": "int8", "scale": "float32"}
LARGEST = np.iinfo(np.int8).max


def pack(name: str, table: Table) -> Arrays:
    """The arrays of a table, named `NAME.counts` and so on; values are rounded to the scale.

    Args:
        name: of the table.
        table: (N, M) finite numbers.
    """
    scale = max(float(np.abs(table).max(initial=0.0)), 1.0) / LARGEST
    rounded = np.round(table / scale).astype(np.int8)
    rows, columns = np.nonzero(rounded)
    whole = np.uint8 if table.shape[1] <= np.iinfo(np.uint8).max else np.uint16
    return {
        f"{name}.counts": np.bincount(rows, minlength=len(table)).astype(whole),
        f"{name}.columns": columns.astype(whole),
        f"{name}.values": rounded[rows, columns],
        f"{name}.scale": np.array([scale], dtype=np.float32),
    }


def unpack(path: Path, arrays: Mapping[str, NDArray[Any]], name: str, width: int) -> Table:
    """The table of packed arrays, with a row of zeros more for what is not in it.

    Args:
        path: of the file, for the messages.
        arrays: everything in the file.
        name: of the table.
        width: M, how many columns it has.

    Returns:
        (N + 1, M).

    Raises:
        ModelError: an array is missing, of another kind, or does not fit the others.
    """
    parts = {part: _part(path, arrays, f"{name}.{part}", kind) for part, kind in PARTS.items()}
    counts, columns, values, scale = (parts[part] for part in PARTS)
    total = int(counts.sum(dtype=np.int64))
    if not total == len(columns) == len(values):
        raise ModelError(
            f"{path}: tensors '{name}.columns' and '{name}.values' must have {total} numbers to "
            f"match '{name}.counts', got {len(columns)} and {len(values)}"
        )
    if total and int(columns.max()) >= width:
        raise ModelError(
            f"{path}: tensor '{name}.columns' must be below {width}, got {columns.max()}"
        )
    if len(scale) != 1 or not np.isfinite(scale[0]) or scale[0] <= 0:
        raise ModelError(f"{path}: tensor '{name}.scale' must be one positive number, got {scale}")
    table = np.zeros((len(counts) + 1, width), dtype=np.float32)
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    table[rows, columns] = values.astype(np.float32) * scale[0]
    return table


def _part(path: Path, arrays: Mapping[str, NDArray[Any]], name: str, kind: str) -> NDArray[Any]:
    if name not in arrays:
        raise ModelError(f"{path}: tensor {name!r} is missing")
    array = arrays[name]
    if array.ndim != 1 or not array.dtype.name.startswith(kind):
        raise ModelError(
            f"{path}: tensor {name!r} must be a list of {kind}, got {array.dtype} {array.shape}"
        )
    return array
