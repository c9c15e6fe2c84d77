"""How much memory things will take, told before they are made.

The figures are those of CPython on 64 bits, rounded up.
"""

import json
import sys
from typing import Any

from crfviz.exceptions import FormatError

MOST_JSON = 110_000_000  # bytes that a text takes as JSON, the text among them

_VALUE, _LIST, _OBJECT, _TEXT = 33, 72, 250, 55  # bytes of each


def json_bytes(text: str) -> int:
    """About how many bytes the values of a JSON text take, with the text itself; not less."""
    lists, objects = text.count("["), text.count("{")
    values = text.count(",") + lists + objects
    texts = text.count('"') // 2
    return (
        sys.getsizeof(text)
        + len(text)  # what stands between quotes, again
        + _VALUE * values
        + _LIST * lists
        + _OBJECT * objects
        + _TEXT * texts
    )


def json_value(text: str, most: int | None = None) -> Any:  # noqa: ANN401 - any JSON
    """The value of a JSON text.

    Args:
        text: the JSON.
        most: how many bytes it may take; None: any number of them.

    Raises:
        ValueError: it is no JSON, or lists stand in lists too deeply.
        FormatError: it takes more bytes; this is a ValueError, too.
    """
    if most is not None:
        require_json_bytes(text, most)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("lists stand inside of lists too often") from error


def require_json_bytes(text: str, most: int) -> None:
    """Refuse a text that takes too much memory as JSON.

    Raises:
        FormatError: it takes more than `most` bytes.
    """
    needed = json_bytes(text)
    if needed > most:
        raise FormatError(
            f"read as JSON it would take {needed / 1e6:,.0f} MB of memory, at most "
            f"{most / 1e6:,.0f} MB are allowed: leave some out, or bring arrays as .npz"
        )
