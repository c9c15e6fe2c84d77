"""ZIP archives, looked at before anything is unpacked."""

from __future__ import annotations

import io
import zipfile

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.limits import MOST_MEMBERS, MOST_UNPACKED
from crfviz.text.number_files import ZIP_ERRORS


def check_archive(data: bytes) -> list[zipfile.ZipInfo]:
    """The members of an archive.

    Raises:
        FormatError: it is damaged, holds too many files, or unpacks to too many bytes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except ZIP_ERRORS as error:
        raise FormatError(f"The archive is damaged or cut off ({error}).") from error
    if len(members) > MOST_MEMBERS:
        raise FormatError(f"The archive holds {len(members):,} files, more than {MOST_MEMBERS:,}.")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MOST_UNPACKED:
        raise FormatError(
            f"The archive unpacks to {unpacked:,} bytes, at most {MOST_UNPACKED:,} are read."
        )
    return members


def unpack(data: bytes, name: str) -> bytes:
    """One member.

    Raises:
        FormatError: it is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.read(name)
    except ZIP_ERRORS as error:
        raise FormatError(f"The archive is damaged: {name[:60]!r} ({error}).") from error
