"""One sentence of a corpus: words, and where known their tags and the text they came from."""

from dataclasses import dataclass

from crfviz.exceptions import ShapeError


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
