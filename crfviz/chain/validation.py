"""Checks of numbers, counts and distributions that callers pass to the chain."""

import math
from collections.abc import Iterable
from contextlib import suppress
from numbers import Real
from operator import index

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.exceptions import CrfvizError, ShapeError
from crfviz.text.files import abbreviate_value

MAX_COUNT = 2**31 - 1  # maximum of a count, such as the number of samples
TOLERANCE = 1e-6  # allowed difference of a distribution's sum from 1
MAX_SHOWN = 30  # maximum number of values of a corrected row in a message


def require_number(name: str, value: object, at_least: float = -math.inf) -> float:
    """Return a finite number as a plain float.

    Raises:
        CrfvizError: the value is no number, NaN, infinite, or less than `at_least`.
    """
    number = math.nan
    with suppress(OverflowError):  # of an integer that no float can hold
        number = float(value) if isinstance(value, Real) else math.nan  # a text is no number
    if math.isfinite(number) and number >= at_least:
        return number
    bound = "" if at_least == -math.inf else f" of at least {at_least:g}"
    raise CrfvizError(f"{name} must be a finite number{bound}, got {abbreviate_value(value)}")


def require_count(name: str, value: object, at_least: int = 1) -> int:
    """Return a whole number as a plain integer.

    Raises:
        CrfvizError: it is no whole number, less than `at_least`, or more than `MAX_COUNT`.
    """
    with suppress(TypeError):
        number = index(value)  # type: ignore[arg-type]  # what is no number fails here
        if at_least <= number <= MAX_COUNT:
            return number
        if number > MAX_COUNT:
            raise CrfvizError(
                f"{name} must be at most {MAX_COUNT:,}, got {abbreviate_value(value)}"
            )
    raise CrfvizError(f"{name} must be at least {at_least}, got {abbreviate_value(value)}")


def distribution_problem(
    name: str, table: NDArray[np.float64], rows: Iterable[str | int]
) -> str | None:
    """Return the error in a table whose rows are distributions; None if they are.

    Args:
        name: of the table, in the message.
        table: (R, V).
        rows: R labels; "" for a table of one row.
    """
    for label, row in zip(rows, table, strict=True):
        place = name if label == "" else f"{name}, row {label!r},"
        wrong = row[~((row >= 0.0) & (row <= 1.0))]  # NaN is neither
        if len(wrong):
            return f"{place} must hold probabilities from 0 to 1, got {wrong[0]}"
        total = float(row.sum())
        if abs(total - 1.0) > TOLERANCE:
            scaled = total > 0 and len(row) < MAX_SHOWN
            return (
                f"{place} must sum to 1, got {total:.6g}; divided by its sum it would be "
                f"{np.round(row / total, 4).tolist() if scaled else 'one'}"
            )
    return None


def as_numbers(name: str, values: object) -> Tensor:
    """Return a float64 copy on the CPU; a tensor that wants a gradient stays connected to it."""
    if isinstance(values, Tensor) and not values.is_complex():
        if values.dtype is torch.float64 and values.is_cpu:
            return values.clone()
        array = values if values.requires_grad else values.detach()
        return array.to("cpu", torch.float64, copy=True)
    try:
        if isinstance(values, Tensor):
            raise TypeError(f"got {values.dtype}")
        if isinstance(values, np.ndarray) and values.dtype.kind in "cmM":
            raise TypeError(f"got {values.dtype}")
        with np.errstate(invalid="ignore"):  # a NaN of an odd kind; it is refused later
            return torch.from_numpy(np.array(values, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(
            f"{name} must be numbers in rows of one length: {str(error)[:80]}"
        ) from error
