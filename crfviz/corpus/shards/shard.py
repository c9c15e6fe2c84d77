"""Shards of a file, and the cache of their results.

A shard has whole sentences of a file. Splits depend on the file and the shard size only, so the
same sentences are always scored together. Finished shards are cached in a folder next to the
output. A digest of content and job is part of the name, so other files, models or options never
match.
"""

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from crfviz.exceptions import FormatError
from crfviz.text.files import write_atomically

SHARD_BYTES = 2_000_000
NAME = re.compile(r"\.?\d{6,}-[0-9a-f]{16}(\.part)?")


@dataclass(frozen=True)
class Shard:
    """A part of a file with whole sentences."""

    number: int  # from 0
    start: int  # offset of its first byte in the file
    first_line: int  # number of its first line in the file, from 1
    content: bytes

    @property
    def lines(self) -> int:
        return self.content.count(b"\n")


def split_file(file: BinaryIO, size: int, *, by_line: bool, head: bytes = b"") -> Iterator[Shard]:
    """Yield the shards of a file, which is read once as a stream.

    Args:
        file: file opened for reading, or a pipe.
        size: minimum bytes of a shard; the rest of its last sentence is added.
        by_line: whether each line is a sentence; else a blank line ends one.
        head: whole lines that were already read from the file.
    """
    number, start, line = 0, 0, 1
    while content := _read(file, head, size, by_line=by_line):
        shard = Shard(number, start, line, content)
        yield shard
        number, start, line, head = number + 1, start + len(content), line + shard.lines, b""


def _read(file: BinaryIO, head: bytes, size: int, *, by_line: bool) -> bytes:
    content = bytearray(head + file.read(max(0, size - len(head))))
    last = bytes(content[content.rfind(b"\n") + 1 :])  # start of an incomplete line
    while more := file.readline():
        content += more
        if by_line or not (last + more).strip():
            break
        last = b""
    return bytes(content)


def cache_folder(output: Path) -> Path:
    return output.with_name(f"{output.name}.shards")


class ShardCache:
    """Cache of the finished shards of one job.

    Args:
        folder: folder of the cache, created when the first shard is finished.
        key: everything that the results depend on, except the shards.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self._key = sha256(key.encode()).digest()
        self._used: set[str] = set()
        self.found = 0  # finished shards of an earlier run

    def get(self, shard: Shard) -> bytes | None:
        """Return the result of a shard; None if it is not finished or unreadable."""
        with suppress(OSError, zlib.error):
            content = zlib.decompress((self.folder / self._name(shard)).read_bytes())
            self._used.add(self._name(shard))
            self.found += 1
            return content
        return None

    def put(self, shard: Shard, content: bytes) -> None:
        """Cache the result of a shard.

        Raises:
            FormatError: the result cannot be written; says why.
        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.folder}: cannot be written: {error.strerror}") from error
        write_atomically(self.folder / self._name(shard), [zlib.compress(content, 1)])
        self._used.add(self._name(shard))

    def summary(self) -> str:
        """Describe the finished shards, for the message on stop."""
        if not self._used:
            return "no shard is finished"
        return (
            f"{len(self._used)} finished shards are kept in {self.folder}, and the same command "
            f"goes on from them"
        )

    def stale(self) -> int:
        """Count the cached shards of another file, model or options."""
        return sum(name not in self._used for name in self._names() if not name.endswith(".part"))

    def clear(self) -> None:
        """Remove the cached shards, and the folder if it is empty."""
        with suppress(OSError):
            for name in self._names():
                (self.folder / name).unlink()
            self.folder.rmdir()

    def _names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return [path.name for path in self.folder.iterdir() if NAME.fullmatch(path.name)]

    def _name(self, shard: Shard) -> str:
        return f"{shard.number:06}-{sha256(self._key + shard.content).hexdigest()[:16]}"
