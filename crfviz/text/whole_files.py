"""Files that are there whole or not at all."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from crfviz.exceptions import FormatError


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file beside its place and put it there when it is whole.

    An older file stays if the new one fails. What is no plain file, as a terminal, is written to as
    it is.

    Raises:
        FormatError: it cannot be written; says why.
    """
    plain = not path.exists() or path.is_file()
    beside = path.with_name(f".{path.name}.part") if plain else path
    try:
        try:
            with beside.open("wb") as file:
                file.writelines(pieces)
            if plain:
                beside.replace(path)
        except BaseException:
            with suppress(OSError):
                if plain:
                    beside.unlink()
            raise
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from error
