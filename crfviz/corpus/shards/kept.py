"""What is finished of a file, in a folder beside the output, so that the same command goes on.

A file of the folder is what came of one shard. Its name has a digest of the shard's bytes and of
all that the work depends on, so that nothing is taken for what it is not: a changed file, model or
option gives other names.
"""

import re
import zlib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from crfviz.corpus.shards.cutting import Shard
from crfviz.exceptions import FormatError
from crfviz.text.whole_files import write_whole

NAME = re.compile(r"\.?\d{6,}-[0-9a-f]{16}(\.part)?")


def folder_beside(output: Path) -> Path:
    """Where the finished shards of an output are kept until it is whole."""
    return output.with_name(f"{output.name}.shards")


class Kept:
    """The finished shards of one piece of work.

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
        """What came of a shard; None where it is not finished, or cannot be read."""
        with suppress(OSError, zlib.error):
            content = zlib.decompress((self.folder / self._name(shard)).read_bytes())
            self._used.add(self._name(shard))
            self.found += 1
            return content
        return None

    def put(self, shard: Shard, content: bytes) -> None:
        """Keep what came of a shard.

        Raises:
            FormatError: it cannot be written; says why.
        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.folder}: cannot be written: {error.strerror}") from error
        write_whole(self.folder / self._name(shard), [zlib.compress(content, 1)])
        self._used.add(self._name(shard))

    def told(self) -> str:
        """What there is to go on from, for whoever stops."""
        if not self._used:
            return "no shard is finished"
        return (
            f"{len(self._used)} finished shards are kept in {self.folder}, and the same command "
            f"goes on from them"
        )

    def stale(self) -> int:
        """How many shards of the folder are of another file, model or options."""
        return sum(name not in self._used for name in self._names() if not name.endswith(".part"))

    def clear(self) -> None:
        """Remove the shards; the folder, too, if nobody put anything else into it."""
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
