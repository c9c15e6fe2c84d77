"""One sentence of a corpus: words, and where known their tags and the text they came from."""

from collections.abc import Sequence
from dataclasses import dataclass

from crfviz.exceptions import ShapeError

Offsets = tuple[tuple[int, int], ...]  # one (start, end) per word: characters into the text


@dataclass(frozen=True)
class Sentence:
    """Words of one sentence with their gold tags.

    Raises:
        ShapeError: there are tags, but not one per word.
    """

    tokens: tuple[str, ...]  # T words
    tags: tuple[str, ...] | None = None  # T tag names; None where nobody tagged the sentence
    text: str | None = None  # the raw text, where the file has it

    def __post_init__(self) -> None:
        if self.tags is not None and len(self.tags) != len(self.tokens):
            raise ShapeError(
                f"a sentence needs one tag per word: expected {len(self.tokens)} tags, "
                f"got {len(self.tags)}"
            )


def words_at(text: str, offsets: Offsets) -> tuple[str, ...]:
    """The words of a text at the given places."""
    return tuple(text[start:end] for start, end in offsets)


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
