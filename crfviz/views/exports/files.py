"""Exports as files: whole, or not there at all."""

from contextlib import suppress
from os import PathLike
from pathlib import Path

from crfviz.exceptions import CrfvizError


def write(content: str | bytes, path: str | PathLike[str]) -> None:
    """Write a file whole or not at all; a text as UTF-8.

    Raises:
        CrfvizError: it cannot be written there.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        draft.replace(target)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise CrfvizError(f"{target.name} cannot be written: {error.strerror}") from error
