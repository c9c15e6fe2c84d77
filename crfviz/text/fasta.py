"""FASTA: sequences of letters, such as DNA; each letter is a word, and no word has a tag.

A line that begins with `>` names the sequence that follows, `;` begins a comment, and a blank line
ends a sequence. Letters of either case count as capitals: lower case marks repeats in genomes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate

NAME, COMMENT = ">", ";"


@dataclass(frozen=True)
class Record:
    """One sequence and its lines in a file."""

    name: str  # what follows `>`; empty without such a line
    rows: tuple[tuple[int, str], ...]  # number of the line and its letters, at least one line

    @property
    def line(self) -> int:
        """Number of its first line of letters."""
        return self.rows[0][0]

    @property
    def letters(self) -> tuple[str, ...]:
        """T capital letters."""
        return tuple(letter for _, letters in self.rows for letter in letters)


def records(lines: Iterable[str], name: str, first: int = 1) -> Iterator[Record]:
    """Yield the sequences of the lines of a file, the first of which has the number `first`.

    Raises:
        FormatError: a line holds something else than letters; says which.
    """
    title, rows = "", list[tuple[int, str]]()
    for number, line in enumerate(lines, start=first):
        letters = "".join(line.split()).upper()
        if line.startswith(NAME) or not letters:
            if rows:
                yield Record(title, tuple(rows))
            title, rows = line.removeprefix(NAME).strip(), []
        elif not line.startswith(COMMENT):
            if not (letters.isascii() and letters.isalpha()):
                raise FormatError(
                    f"{name}, line {number}: expected the letters of a sequence, "
                    f"got {abbreviate(line)}"
                )
            rows.append((number, letters))
    if rows:
        yield Record(title, tuple(rows))
