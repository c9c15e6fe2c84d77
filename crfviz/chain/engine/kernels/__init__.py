"""Numba decorators, signatures and shared helpers of the compiled kernels.

Kernels take emissions (T, K), one matrix of transitions (K from, K to), start and end (K,).
Constants are passed in: Numba would freeze a global of another module. It caches a kernel by the
file it stands in, so a change of a helper in this file needs a cleared cache.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

Table = NDArray[np.float64]
Row = NDArray[np.float64]
Pairs = NDArray[np.float64]
Ids = NDArray[np.int64]
Tags = NDArray[np.int64]
Loop = TypeVar("Loop", bound=Callable[..., Any])

TABLE, ROW = (types.Array(types.float64, n, "C", readonly=True) for n in (2, 1))
IDS = types.Array(types.int64, 1, "C", readonly=True)
CHAIN = (TABLE, TABLE, ROW, ROW)


def helper(loop: Loop) -> Loop:
    """Compile it into the loops that call it."""
    found: Loop = njit(nogil=True, error_model="numpy")(loop)
    return found


def compiled(*arguments: types.Type) -> Callable[[Loop], Loop]:
    """Compile at once, or take what was compiled before from where Numba may write, if anywhere."""

    def compile_it(loop: Loop) -> Loop:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        try:
            found: Loop = njit(arguments, cache=True, **options)(loop)
        except (RuntimeError, OSError):  # no folder can be written to, or the disk is full
            found = njit(arguments, **options)(loop)
        return found

    return compile_it


@helper
def put(row: Row, here: Row) -> None:
    """Copy a row."""
    for k in range(len(here)):  # to assign a slice takes seconds to compile
        here[k] = row[k]


@helper
def fill(row: Row, number: float) -> None:
    """Set every number of a row."""
    for k in range(len(row)):
        row[k] = number
