"""FASTA: sequences of letters, such as DNA; each letter is an untagged word.

A line that begins with `>` names the following sequence, `;` begins a comment, and a blank line
ends a sequence. Letters are converted to upper case, because lower case marks repeats in genomes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate

NAME, COMMENT = ">", ";"


@dataclass(frozen=True)
class Record:
    """One sequence and its lines in a file."""

    name: str  # text after `>`; empty without such a line
    rows: tuple[tuple[int, str], ...]  # line numbers and letters, at least one line

    @property
    def line(self) -> int:
        """The number of its first line of letters."""
        return self.rows[0][0]

    @property
    def letters(self) -> tuple[str, ...]:
        """The T upper-case letters."""
        return tuple(letter for _, letters in self.rows for letter in letters)


def records(lines: Iterable[str], name: str, first: int = 1) -> Iterator[Record]:
    """Yield the sequences in the lines of a file, starting at line number `first`.

    Raises:
        FormatError: a line has other characters; names the line.
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
