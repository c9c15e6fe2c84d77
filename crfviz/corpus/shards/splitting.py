"""Shards of a file: byte ranges that end with a sentence, and the cache of finished ones.

Splits depend on the file and the shard size only, so the same sentences are always scored together.
Finished shards are cached in a folder beside the output. A file name there has a digest of the
shard's bytes and of all that the work depends on, so that a changed file, model or option never
matches.
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


@dataclass(frozen=True)
class Shard:
    """Some whole sentences of a file."""

    number: int  # from 0
    start: int  # of its first byte in the file
    first_line: int  # number of its first line in the file, from 1
    content: bytes

    @property
    def lines(self) -> int:
        """The number of lines that end in it."""
        return self.content.count(b"\n")


def split_file(file: BinaryIO, size: int, *, by_line: bool, head: bytes = b"") -> Iterator[Shard]:
    """Yield the shards of a file, which is read once as a stream.

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


NAME = re.compile(r"\.?\d{6,}-[0-9a-f]{16}(\.part)?")


def cache_folder(output: Path) -> Path:
    """Return the folder that caches the finished shards of an output."""
    return output.with_name(f"{output.name}.shards")


class ShardCache:
    """The finished shards of one job.

    Args:
        folder: made when the first shard is finished.
        key: all that the work depends on but the shards.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self._key = sha256(key.encode()).digest()
        self._used: set[str] = set()
        self.found = 0  # shards that had been finished before

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
            FormatError: it cannot be written; says why.
        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.folder}: cannot be written: {error.strerror}") from error
        write_atomically(self.folder / self._name(shard), [zlib.compress(content, 1)])
        self._used.add(self._name(shard))

    def summary(self) -> str:
        """Return what can be resumed, for the message on stop."""
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
