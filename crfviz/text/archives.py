"""ZIP archives and NumPy arrays, validated before unpacking.

Sizes that a file claims are compared with its actual bytes, and nothing is unpickled: `zipfile`
would unpack more than a member claims, and NumPy allocates whatever a header claims.
"""

import ast
import io
import math
import re
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError

ZIP_MAGIC = b"PK\x03\x04"
NPY_MAGIC = b"\x93NUMPY"
ZIP_ERRORS = (  # exceptions of zipfile for damaged archives; RuntimeError for encrypted ones
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods unpack without a limit

_ENTRY = b"PK\x01\x02"  # signature of each entry in the list of members
_HEADER_ERRORS = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
_LONGEST_HEADER = 10_000  # characters, as in NumPy
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f(2|4|8|16)|c(8|16|32)|[SU][1-9]\d{0,6})")
_MAX_AXES = 8
_LAST_CHARACTER = 0x10FFFF


class Archive:
    """The members of a ZIP archive.

    Args:
        data: all its bytes.
        most_members: maximum number of files.
        most_unpacked: maximum of unpacked bytes in all files.

    Raises:
        FormatError: it is damaged, or exceeds a limit.
    """

    def __init__(self, data: bytes, *, most_members: int, most_unpacked: int) -> None:
        entries = data.count(_ENTRY)  # zipfile would create an object for each
        if entries > most_members + 1:  # a member may also contain the four bytes
            raise FormatError(f"The archive holds {entries:,} files, more than {most_members:,}.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except ZIP_ERRORS as error:
            raise FormatError(f"The archive is damaged or cut off ({_brief(error)}).") from error
        members = self._zip.infolist()
        unpacked = sum(member.file_size for member in members)
        if len(members) > most_members:
            raise FormatError(
                f"The archive holds {len(members):,} files, more than {most_members:,}."
            )
        if unpacked > most_unpacked:
            raise FormatError(
                f"The archive unpacks to {unpacked:,} bytes, at most {most_unpacked:,} are read."
            )
        self._members = {member.filename: member for member in members}
        self.names = tuple(self._members)

    def size(self, name: str) -> int:
        """Return the unpacked size of a member, as the archive claims."""
        return self._members[name].file_size

    def content(self, name: str) -> bytes:
        """Return the bytes of a member.

        Raises:
            FormatError: it is damaged, encrypted, or compressed by an unsupported method.
        """
        member = self._members[name]
        if member.compress_type not in PACKED:
            raise FormatError(
                f"The archive's {name[:60]!r} is packed in the way {member.compress_type}: "
                "expected 0 (stored) or 8 (deflated)."
            )
        try:
            with self._zip.open(member) as file:
                content = file.read(member.file_size)
        except ZIP_ERRORS as error:
            message = f"The archive is damaged: {name[:60]!r} ({_brief(error)})."
            raise FormatError(message) from error
        if len(content) < member.file_size:
            raise FormatError(f"The archive is damaged: {name[:60]!r} is cut off.")
        return content


def npy_array(content: bytes, name: str) -> NDArray[Any]:
    """Return the read-only array of numbers or text in a .npy file.

    Args:
        content: the whole file.
        name: of the array, for messages.

    Raises:
        FormatError: it is damaged, shorter than its header says, or neither numbers nor text.
    """
    descr, shape, fortran, begin = _header(content, name)
    if not _DTYPE.fullmatch(descr):
        raise FormatError(
            f"The array {name[:60]!r} cannot be read without unpickling it: expected numbers or "
            f"text, got {descr[:40]!r}."
        )
    try:
        dtype = np.dtype(descr)
    except TypeError as error:  # the size is impossible on this machine
        raise FormatError(f"The array {name[:60]!r} has the unknown type {descr!r}.") from error
    needed = math.prod(shape) * dtype.itemsize
    if needed > len(content) - begin or math.prod(n or 1 for n in shape) > 2**31:
        raise FormatError(
            f"The array {name[:60]!r} is cut off: {str(shape)[:60]} of {descr} is {needed:,} "
            f"bytes, got {len(content) - begin:,}."
        )
    if dtype.kind == "U" and needed:
        _check_text(np.frombuffer(content, f"{dtype.str[0]}u4", needed // 4, begin), name)
    order: Any = "F" if fortran else "C"
    if not needed:
        return np.empty(shape, dtype, order)
    return np.ndarray(shape, dtype, buffer=content, offset=begin, order=order)


def npz_arrays(archive: Archive) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz, by name; see `npy_array`.

    Raises:
        FormatError: one cannot be read; says which.
    """
    names = [name for name in archive.names if name.endswith(".npy")]
    return {
        name.removesuffix(".npy"): npy_array(archive.content(name), name.removesuffix(".npy"))
        for name in names
    }


def _header(content: bytes, name: str) -> tuple[str, tuple[int, ...], bool, int]:
    """Return type, shape, order of an array, and the offset of its bytes."""
    damaged = FormatError(f"The array {name[:60]!r} has a damaged header, or is no .npy file.")
    if not content.startswith(NPY_MAGIC) or len(content) < 12:
        raise damaged
    width, layout = (2, "<H") if content[6] == 1 else (4, "<I")
    (length,) = struct.unpack_from(layout, content, 8)
    begin = 8 + width + length
    if begin > len(content) or length > _LONGEST_HEADER:
        raise damaged
    try:
        header = ast.literal_eval(content[8 + width : begin].decode("latin1").strip())
    except _HEADER_ERRORS as error:
        raise damaged from error
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise damaged
    shape = header["shape"]
    sizes = isinstance(shape, tuple) and len(shape) <= _MAX_AXES
    if not sizes or not all(type(size) is int and size >= 0 for size in shape):
        raise damaged
    return str(header["descr"]), shape, bool(header["fortran_order"]), begin


def _check_text(codes: NDArray[Any], name: str) -> None:
    if codes.max(initial=0) > _LAST_CHARACTER:
        raise FormatError(f"The array {name[:60]!r} holds numbers where text should be.")


def _brief(error: Exception) -> str:
    """Return the message of an error, with at most a short excerpt of the file."""
    return str(error)[:80]
