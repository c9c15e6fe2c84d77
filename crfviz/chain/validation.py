"""Checks of numbers and counts that callers pass to the chain."""

import math
from contextlib import suppress
from numbers import Real
from operator import index

from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate_value

MAX_COUNT = 2**31 - 1  # of whatever is asked for a number of times


def require_number(name: str, value: object, at_least: float = -math.inf) -> float:
    """Return a finite number as a plain float.

    Raises:
        CrfvizError: it is no number, NaN, infinite, or less than `at_least`.
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
