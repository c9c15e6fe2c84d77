"""A table of numbers out of a file: text of any kind, `.npz` and `.npy`. Nothing is unpickled."""

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.text.lines import shown
from crfviz.text.number_tables import MOST_CELLS, NumberTable, parse_number_table

MOST_BYTES = 5_000_000  # of a file
MOST_UNPACKED = 20_000_000  # bytes of all arrays in an .npz
ZIP_ERRORS = (  # what zipfile raises for a damaged archive; RuntimeError: an encrypted one
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
NPY_MAGIC, ZIP_MAGIC, PICKLE_MAGIC = b"\x93NUMPY", b"PK\x03\x04", b"\x80"


def read_number_table(
    data: bytes, *, names: Sequence[str] = (), words: Sequence[str] = (), prefer: str = ""
) -> NumberTable:
    """The table in the bytes of a file; its kind is told by its content.

    Args:
        data: the whole file.
        names: see `parse_number_table`.
        words: see `parse_number_table`.
        prefer: which array or table to take if the file holds several.

    Raises:
        FormatError: there is no table, or none that can be read without unpickling.
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"The file has {len(data):,} bytes, at most {MOST_BYTES:,} are read.")
    if data.startswith(ZIP_MAGIC):
        return _from_npz(data, prefer)
    if data.startswith(NPY_MAGIC):
        return _checked(_load(data), "npy")
    if data.startswith(PICKLE_MAGIC):
        raise FormatError("This is a pickle, which may hold programs. Save CSV, JSON or .npz.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"The file is neither .npz nor UTF-8 text (byte {error.start + 1} is no text)."
        ) from error
    return parse_number_table(text, names=names, words=words, prefer=prefer)


def npz_arrays(data: bytes, most_unpacked: int = MOST_UNPACKED) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz, by name.

    Raises:
        FormatError: it is damaged, unpacks to too many bytes, or holds what would have to be
            unpickled.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most_unpacked:
                raise FormatError(
                    f"The arrays unpack to more than {most_unpacked:,} bytes; save the table alone."
                )
            return {
                member.filename.removesuffix(".npy"): _load(archive.read(member))
                for member in members
                if member.filename.endswith(".npy")
            }
    except FormatError:
        raise
    except ZIP_ERRORS as error:
        raise FormatError(f"The .npz file is damaged ({error}).") from error


def _from_npz(data: bytes, prefer: str) -> NumberTable:
    arrays = npz_arrays(data)
    tables = {name: array for name, array in arrays.items() if array.ndim == 2}
    if prefer in tables:
        return _checked(tables[prefer], prefer)
    if len(tables) == 1:
        name, array = next(iter(tables.items()))
        return _checked(array, name)
    held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "no array"
    raise FormatError(
        f"The .npz must hold one table, or one named “{prefer}”; it holds {shown(held)}"
    )


def _load(data: bytes) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, TypeError, MemoryError) as error:
        raise FormatError(f"An array cannot be read without unpickling it ({error}).") from error
    return array


def _checked(array: NDArray[Any], name: str) -> NumberTable:
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.size == 0:
        raise FormatError(
            f"The array {shown(name)} must be a table of numbers, "
            f"got {array.dtype} of shape {array.shape}"
        )
    if array.size > MOST_CELLS:
        raise FormatError(f"The table has {array.shape} cells, at most {MOST_CELLS} fit.")
    return NumberTable(array.astype(np.float64), None, None, name)
