"""Where the words of a sentence stand in its text."""

from __future__ import annotations

from collections.abc import Sequence

from crfviz.annotations.records import Offsets


def joined(words: Sequence[str], glued: Sequence[bool] | None = None) -> tuple[str, Offsets]:
    """A text made of the words, with single blanks between them, and their places in it.

    Args:
        words: T words.
        glued: T times whether no blank follows; None is never.

    >>> joined(["Well", ","], [True, False])
    ('Well,', ((0, 4), (4, 5)))
    """
    text = ""
    places = []
    for word, tight in zip(words, glued or [False] * len(words), strict=True):
        places.append((len(text), len(text) + len(word)))
        text += word if tight else f"{word} "
    return text.rstrip(" ") if places else "", tuple(places)


def located(words: Sequence[str], text: str) -> Offsets | None:
    """Places of the words in a text, with nothing but white space between; None if they differ.

    >>> located(["Well", ","], "Well ,"), located(["can", "not"], "can't")
    (((0, 4), (5, 6)), None)
    """
    places = []
    end = 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(word)
        places.append((start, end))
    return None if text[end:].strip() else tuple(places)
