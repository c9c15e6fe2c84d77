"""How exactly a table is written down, and how far it may lie from the right one.

Students round to a few decimals, programs compute in float32 or float64. The rounding is read from
the table itself. A table rounded to d decimals may be off by half a unit of the last decimal in the
row it is computed first, and by half a unit more with each step from there, up to three units: who
works by hand goes on with rounded numbers. A table that is not rounded may be off by 1e-9 (float64)
or 2e-6 (float32, or written with at most 9 digits) of the largest number so far; products, which
may be tiny, by that share of themselves (1e-9 or 2e-5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Array

MOST_DECIMALS = 6  # of a table rounded by hand; with more, the digits that count are counted
MOST_STEPS = 5  # half units that rounding along the way may add
HALF = 0.5 * (1 + 1e-6)  # of a unit; 0.345 may be 0.34 or 0.35, whatever float it is
COARSEST = 0.1  # a table rounded to whole numbers is taken for one with a decimal
FLOAT32_DIGITS = 9  # write every float32


@dataclass(frozen=True)
class Rounding:
    """What a table's numbers look like."""

    decimals: int | None  # 0 to 6; None: not rounded to decimals
    digits: int | None  # 2 to 6 that count, where it is not rounded to decimals
    single: bool  # float32 would hold the numbers, or their digits

    @property
    def text(self) -> str:
        """In words."""
        if self.decimals is not None:
            return f"{self.decimals} decimal" + ("" if self.decimals == 1 else "s")
        if self.digits is not None:
            return f"{self.digits} digits"
        return "float32" if self.single else "float64"


def rounding_of(table: Array) -> Rounding:
    """How the numbers of a table are rounded; what is not finite does not count."""
    values = np.unique(np.abs(table[np.isfinite(table)]))
    decimals = next(
        (d for d in range(MOST_DECIMALS + 1) if np.allclose(values.round(d), values, 1e-12, 0.0)),
        None,
    )
    digits = max((_digits(value) for value in values.tolist()), default=1)
    with np.errstate(over="ignore"):
        as_single = values.astype(np.float32).astype(np.float64)
    return Rounding(
        decimals=decimals,
        digits=max(digits, 2) if decimals is None and digits <= MOST_DECIMALS else None,
        single=digits <= FLOAT32_DIGITS or bool((as_single == values).all()),
    )


def tolerance(
    rounding: Rounding, right: Array, steps: NDArray[np.int_], *, products: bool
) -> Array:
    """How far each number may lie from the right one.

    Args:
        rounding: of the table that is looked at.
        right: (R, K) the right table.
        steps: (R,) steps from the row that is computed first.
        products: whether the numbers are products of probabilities rather than logarithms.

    Returns:
        (R, K) in the unit of the table, greater than 0.
    """
    finite = np.where(np.isfinite(right), np.abs(right), 0.0)
    if products:
        floor = finite * (2e-5 if rounding.single else 1e-9)
    else:
        order = np.argsort(steps)
        size = np.empty(len(finite))
        size[order] = np.maximum.accumulate(finite.max(1, initial=1.0)[order])
        floor = size[:, None] * np.full_like(finite, 2e-6 if rounding.single else 1e-9)
    unit = _unit(rounding, finite, noise=0.0 if products else 1e-12)
    halves = HALF * (1 + np.minimum(steps, MOST_STEPS))[:, None]
    allowed: Array = np.maximum(floor, halves * unit) + 1e-300
    return allowed


def _unit(rounding: Rounding, finite: Array, *, noise: float) -> Array:
    """The last decimal or digit of each number, 0 where the right table needs no rounding."""
    if rounding.decimals is not None:
        with np.errstate(over="ignore"):
            rounded = finite.round(rounding.decimals)
        if np.allclose(rounded, finite, 1e-9, noise):
            return np.zeros_like(finite)
        return np.full_like(finite, min(10.0**-rounding.decimals, COARSEST))
    if rounding.digits is not None:
        magnitude = np.floor(np.log10(np.where(finite > 0, finite, 1.0)))
        unit: Array = np.where(finite > 0, 10.0 ** (magnitude - rounding.digits + 1), 0.0)
        return unit
    return np.zeros_like(finite)


def _digits(value: float) -> int:
    """How many digits it takes to write a number, without zeros at either end."""
    return len(repr(value).partition("e")[0].replace(".", "").strip("0"))
