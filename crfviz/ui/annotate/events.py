"""Fields of the labeller's events, which a browser may have sent wrongly."""

import math
from collections.abc import Mapping

from crfviz.annotations.labelling import LONGEST_PAUSE
from crfviz.ui.words import quote

LARGEST = 2**53  # larger integers are not exact in JavaScript


def row_of(event: Mapping[object, object]) -> int:
    """Return the row of a list; -1 for none."""
    return whole(event, "at") if "at" in event else -1


def whole(event: Mapping[object, object], name: str) -> int:
    """Return a whole number; raise a ValueError for anything else."""
    value = event[name]
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= LARGEST:
        raise ValueError(f"{quote(name)} is no whole number, or too large")
    return value


def seconds_of(event: Mapping[object, object]) -> float:
    """Return the seconds since the previous event, at most `LONGEST_PAUSE`; 0 if unreadable."""
    value = event.get("seconds")  # JSON integers arrive as int
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return 0.0
    return float(min(value, LONGEST_PAUSE))
