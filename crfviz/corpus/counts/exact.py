"""Sums that do not depend on the order or the parts in which they are taken.

Floating sums do, in their last bits. Numbers are rounded to multiples of 2^-40 here, about 1e-12,
and whole numbers are added.
"""

from collections.abc import Mapping
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

UNIT = 2**40  # to the whole
_HALF = 20  # bits: the sum of the upper and the lower ones cannot leave 64 bits

Counts: TypeAlias = int | list["Counts"] | dict[str, "Counts"]


def fixed(values: NDArray[np.float64]) -> int:
    """The sum of finite numbers below 2^20, in units of 2^-40.

    >>> fixed(np.array([0.5, 0.25])) / UNIT
    0.75
    """
    whole = np.rint(values * UNIT).astype(np.int64)
    return (int((whole >> _HALF).sum()) << _HALF) + int((whole & (2**_HALF - 1)).sum())


def added(first: Counts, second: Counts) -> Counts:
    """Two counts of the same form as one: lists by position, mappings by key, first's keys first.

    >>> added({"a": 1, "b": [1, 2]}, {"b": [3, 4], "c": 5})
    {'a': 1, 'b': [4, 6], 'c': 5}
    """
    if isinstance(first, dict):
        other = cast("Mapping[str, Counts]", second)
        both = {key: added(n, other[key]) if key in other else n for key, n in first.items()}
        return both | {key: n for key, n in other.items() if key not in first}
    if isinstance(first, list):
        pairs = zip(first, cast("list[Counts]", second), strict=True)
        return [added(one, other) for one, other in pairs]
    return first + cast("int", second)
