"""Readings of a table of numbers: orientation, space, convention, and tolerance.

Students round to a few decimals or significant digits; programs compute in float32 or float64. The
rounding is inferred from the table, and for a pasted cell with fewer digits from its own. A table
rounded to d decimals may be off by half a unit of the last decimal in the
row that is computed first, and by another half unit with each further step, up to three units,
because students continue with rounded numbers. A table that is not rounded may be off by 1e-9
(float64) or 2e-6 (float32, or written with at most 9 digits) of the largest number so far. For
products, which may be tiny, these shares (1e-9 or 2e-5) are relative to each number.

Letters: `T` tokens, `K` tags, `R` rows of the submitted table: T, T-1, or T plus padding.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.homework.programs import (
    ALPHA,
    ARRIVING,
    BACKPOINTERS,
    INCLUDED,
    MESSAGES,
    VITERBI,
    Program,
)
from crfviz.chain.potentials import Array
from crfviz.exceptions import ShapeError

LOG, PROBABILITY, NORMALISED = "log", "probability", "normalised"
SPACES = (LOG, PROBABILITY, NORMALISED)
MAX_DECIMALS = 6  # of a table rounded by hand; with more, significant digits count instead
_DECIMALS = range(MAX_DECIMALS + 1)
MAX_PADDING = 500  # maximum number of rows after the last word
MAX_STEPS = 5  # maximum number of half units that intermediate rounding may add
HALF = 0.5 * (1 + 1e-6)  # half a unit; 0.345 may round to 0.34 or 0.35
COARSEST = 0.1  # a table rounded to whole numbers is treated as one with one decimal
FLOAT32_DIGITS = 9  # digits that represent every float32 exactly


@dataclass(frozen=True)
class Layout:
    """One way to read a table."""

    flipped: bool  # the table has a row per tag and a column per word
    space: str  # one of `SPACES`; normalised: probabilities that sum to 1 at each word
    convention: str  # "included", "arriving" or "messages"; "included" for all but α
    first: int = 0  # word of the first row; 1 if backpointers omit the row of the first word

    def oriented(self, table: Array) -> Array:
        """Return the table with a row per word."""
        return table.T if self.flipped else table

    def shown(self, tables: Mapping[str, Array]) -> Array:
        """Return a program's table in the form of this reading."""
        return in_space(tables[self.convention], self.space)


@dataclass(frozen=True)
class Rounding:
    """The rounding of a table's numbers."""

    decimals: int | None  # 0 to 6; None: not rounded to decimals
    digits: int | None  # 2 to 6 significant digits; None: not rounded to so few
    single: bool  # whether float32 represents the numbers, or their digits

    @property
    def text(self) -> str:
        """A description of the rounding."""
        if self.decimals is not None and (self.digits is None or self.digits >= self.decimals):
            return f"{self.decimals} decimal" + ("" if self.decimals == 1 else "s")
        if self.digits is not None:
            return f"{self.digits} digits"
        return "float32" if self.single else "float64"


def in_space(log_table: Array, space: str) -> Array:
    """Return a table of logarithms in another space; NaN stays NaN."""
    with np.errstate(all="ignore"):
        if space == LOG:
            return log_table
        if space == PROBABILITY:
            return np.exp(log_table)
        top = log_table.max(1, keepdims=True)
        weights = np.exp(log_table - np.where(np.isfinite(top), top, 0.0))
        sums = weights.sum(1, keepdims=True)
        shares = weights / np.where(sums == 0, 1.0, sums)
        # NaN that comes from infinity must not count as a cell with any value.
        return np.where(np.isnan(shares) & ~np.isnan(log_table), np.inf, shares)


def readings(kind: str, shape: tuple[int, ...], num_tokens: int, num_tags: int) -> list[Layout]:
    """Return the ways to read a table of this shape, the likeliest first.

    Raises:
        ShapeError: there is none.
    """
    ways = list(_readings(kind, shape, num_tokens, num_tags))
    if not ways:
        raise ShapeError(
            f"expected a table of {num_tokens} words by {num_tags} tags, or the other way round, "
            f"got {' × '.join(map(str, shape)) or 'a single number'}"
        )
    return ways


def fits(given: Array, table: Array, tolerances: Array) -> NDArray[np.bool_]:
    """Return (R, K) whether each cell equals a program's; NaN in `table` equals any value."""
    with np.errstate(invalid="ignore"):
        near = np.abs(given - table) <= tolerances
    return np.asarray(near | (given == table) | np.isnan(table))


def pointer_fits(given: Array, choices: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (T, K) whether each backpointer names a best tag; row 0 must be empty.

    Args:
        given: (T, K) tag ids.
        choices: (T, K to, K from) whether each previous tag ties with the best one.
    """
    ok = names_a_best(given, choices)
    ok[0] = _empty(given[0])
    return ok


def names_a_best(given: Array, choices: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (R, K) whether each cell names a best tag; like `pointer_fits`, for any rows.

    If all tags tie, -1 or an empty cell is right, too: the cell may be unreachable.
    """
    K = choices.shape[1]
    whole = np.isfinite(given) & (given == np.floor(given)) & (given >= 0) & (given < K)
    named = np.where(whole, given, 0).astype(int)
    chosen = np.take_along_axis(choices, named[..., None], 2)[..., 0]
    ok: NDArray[np.bool_] = (chosen & whole) | (choices.all(2) & _empty(given))
    return ok


def _empty(given: Array) -> NDArray[np.bool_]:
    return np.asarray(np.isnan(given) | (given == -1))


def misplaced(right: Program) -> Iterator[tuple[NDArray[np.bool_], slice, int]]:
    """Yield backpointers one place off: choices, their rows, and the number added to ids."""
    choices = right.choices()
    yield choices[1:], slice(0, -1), 0
    yield choices[1:-1], slice(2, None), 0
    yield choices[1:], slice(1, None), 1
    yield choices[1:], slice(1, None), -1
    yield right.choices(after=True)[1:], slice(1, None), 0


def rounding_of(table: Array) -> Rounding:
    """Return how the finite numbers of a table are rounded."""
    values = np.unique(np.abs(table[np.isfinite(table)]))
    with np.errstate(over="ignore"):  # numbers this large are not rounded
        rounded = (np.allclose(values.round(d), values, 1e-12, 0.0) for d in _DECIMALS)
        decimals = next((d for d, same in zip(_DECIMALS, rounded, strict=False) if same), None)
    digits = max((_digits(value) for value in values.tolist()), default=1)
    with np.errstate(over="ignore"):
        as_single = values.astype(np.float32).astype(np.float64)
    return Rounding(
        decimals=decimals,
        digits=max(digits, 2) if decimals != 0 and digits <= MAX_DECIMALS else None,
        single=digits <= FLOAT32_DIGITS or bool((as_single == values).all()),
    )


def tolerance(
    rounding: Rounding,
    right: Array,
    steps: NDArray[np.int_],
    *,
    products: bool,
    own: Array | float = 0.0,
) -> Array:
    """Return the tolerance of each number of a table.

    Args:
        rounding: of the submitted table.
        right: (R, K) the right table.
        steps: (R,) steps from the row that is computed first.
        products: whether the numbers are products of probabilities rather than logarithms.
        own: (R, K) unit of the last digit that each cell has; 0 if unknown.

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
    if rounding.decimals == 0:
        own = np.minimum(own, COARSEST)
    further = np.minimum(steps, MAX_STEPS)[:, None] * unit  # other cells are rounded as usual
    last = np.where(np.asarray(own) > 0, own, unit)
    allowed: Array = np.maximum(floor, HALF * (last + further)) + 1e-300
    return allowed


def coarsest(rounding: Rounding, right: Array, own: float = 0.0) -> float:
    """Return an upper bound of the `tolerance` of a table, in its unit; faster to compute.

    Args:
        rounding: of the submitted table.
        right: (R, K) the right table.
        own: the largest unit that a cell has.
    """
    largest = float(np.abs(right[np.isfinite(right)]).max(initial=1.0))
    unit = 0.0
    if rounding.decimals is not None:
        unit = min(10.0**-rounding.decimals, COARSEST)
    if rounding.digits is not None:
        unit = max(unit, largest * 10.0 ** (1 - rounding.digits))
    return 1.001 * max(2e-5 * largest, HALF * (MAX_STEPS * unit + max(unit, own)))


def _readings(
    kind: str, shape: tuple[int, ...], num_tokens: int, num_tags: int
) -> Iterator[Layout]:
    if len(shape) != 2:
        return
    spaces = {BACKPOINTERS: SPACES[:1], VITERBI: SPACES[:2]}.get(kind, SPACES)
    for flipped in (False, True):
        rows, columns = shape[::-1] if flipped else shape
        if columns == num_tags:
            for space in spaces:
                for convention in _conventions(kind, rows - num_tokens, single=num_tokens == 1):
                    first = int(kind == BACKPOINTERS and rows < num_tokens)
                    yield Layout(flipped, space, convention, first)


def _conventions(kind: str, more: int, *, single: bool) -> list[str]:
    """Return the conventions of a table with `more` rows than words."""
    if more == -1 and not single:
        return {ALPHA: [MESSAGES], BACKPOINTERS: [INCLUDED]}.get(kind, [])
    if more < 0 or more > MAX_PADDING:
        return []
    if kind != ALPHA:
        return [INCLUDED]
    return [INCLUDED, ARRIVING, MESSAGES] if more == 0 and not single else [INCLUDED, ARRIVING]


def _unit(rounding: Rounding, finite: Array, *, noise: float) -> Array:
    """Return the unit of the last decimal or digit of each number; 0 if it needs no rounding."""
    unit: Array = np.zeros_like(finite)
    if rounding.decimals is not None:
        with np.errstate(over="ignore"):
            rounded = finite.round(rounding.decimals)
        if not np.allclose(rounded, finite, 1e-9, noise):
            unit = np.full_like(finite, min(10.0**-rounding.decimals, COARSEST))
    if rounding.digits is not None:
        magnitude = np.floor(np.log10(np.where(finite > 0, finite, 1.0)))
        last = np.where(finite > 0, 10.0 ** (magnitude - rounding.digits + 1), 0.0)
        rounded = np.round(finite / np.where(last > 0, last, 1.0)) * last
        if not np.allclose(rounded, finite, 1e-9, noise):
            unit = np.maximum(unit, last)
    return unit


def _digits(value: float) -> int:
    """Return the number of significant digits of a number, without zeros at either end."""
    return len(repr(value).partition("e")[0].replace(".", "").strip("0"))
