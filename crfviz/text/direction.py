"""The direction of a sentence: from left to right or from right to left."""

from collections.abc import Sequence
from unicodedata import bidirectional

LTR, RTL = "ltr", "rtl"


def right_to_left(text: str) -> bool:
    """Return whether the first letter of a text belongs to a script from right to left.

    This is the rule of HTML's `dir="auto"`, also in `web/direction.js`.

    >>> right_to_left("1. שלום Paris"), right_to_left("Paris שלום")
    (True, False)
    """
    letters = (letter for letter in text if letter.isalpha())
    return bidirectional(next(letters, "a")) in ("R", "AL")


def runs_right_to_left(words: Sequence[str], chosen: str = "") -> bool:
    """Return the direction of the columns: the chosen one ("ltr", "rtl"), or the sentence's."""
    return chosen == RTL if chosen in (LTR, RTL) else right_to_left(" ".join(words))
