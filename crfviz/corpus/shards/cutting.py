"""A file cut into shards: ranges of bytes that end where a sentence ends.

Where it is cut depends on the file and the size of a shard alone, not on who works, so that the
same sentences are always scored together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

SHARD_BYTES = 2_000_000


@dataclass(frozen=True)
class Shard:
    """Some whole sentences of a file."""

    number: int  # from 0
    start: int  # of its first byte in the file
    first_line: int  # number of its first line in the file, from 1
    content: bytes

    @property
    def lines(self) -> int:
        """How many lines end in it."""
        return self.content.count(b"\n")


def cut(file: BinaryIO, size: int, *, by_line: bool, head: bytes = b"") -> Iterator[Shard]:
    """The shards of a file, which is read once and never held as a whole.

    Args:
        file: opened to read; a pipe will do.
        size: bytes of a shard, to which the rest of its last sentence is added.
        by_line: whether each line is a sentence; else a blank line ends one.
        head: whole lines that were read of it already.
    """
    number, start, line = 0, 0, 1
    while content := _read(file, head, size, by_line=by_line):
        shard = Shard(number, start, line, content)
        yield shard
        number, start, line, head = number + 1, start + len(content), line + shard.lines, b""


def _read(file: BinaryIO, head: bytes, size: int, *, by_line: bool) -> bytes:
    content = bytearray(head + file.read(max(0, size - len(head))))
    last = bytes(content[content.rfind(b"\n") + 1 :])  # of a line that goes on
    while more := file.readline():
        content += more
        if by_line or not (last + more).strip():
            break
        last = b""
    return bytes(content)
