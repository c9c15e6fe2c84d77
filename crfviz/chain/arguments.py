"""Arguments checked at the door: which word is meant, and which number."""

import math
from numbers import Real
from operator import index

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ShapeError


def require_position(potentials: Potentials, position: int) -> int:
    """The position of a word as a plain integer.

    Raises:
        ShapeError: it is not a whole number from 0 to T-1.
    """
    last = potentials.num_tokens - 1
    try:
        number = index(position)
    except TypeError:
        raise ShapeError(f"position must be 0 to {last}, got {position!r}") from None
    if not 0 <= number <= last:
        raise ShapeError(f"position must be 0 to {last}, got {number}")
    return number


def require_number(name: str, value: object, at_least: float = -math.inf) -> float:
    """A finite number as a plain float.

    Raises:
        CrfvizError: it is no number, NaN, infinite, or less than `at_least`.
    """
    number = float(value) if isinstance(value, Real) else math.nan  # a text is no number
    if math.isfinite(number) and number >= at_least:
        return number
    bound = "" if at_least == -math.inf else f" of at least {at_least:g}"
    raise CrfvizError(f"{name} must be a finite number{bound}, got {value!r}")
