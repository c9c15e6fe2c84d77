"""Bytes of a file as lines of text: gzip, encodings, ends of lines, and other documents."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from crfviz.exceptions import FormatError
from crfviz.text.files import UTF_16, decoded, decoded_otherwise
from crfviz.text.readers.finding import BINARY, GZIP, ZIP

CHUNK = 2**20  # bytes


def unzipped(file: BinaryIO, name: str, most: int) -> bytes:
    """Return the content of a gzip archive of at most `most` bytes.

    Raises:
        FormatError: it is damaged or too large.
    """
    try:
        with gzip.open(file) as inner:
            content = inner.read(most + 1)
    except (EOFError, zlib.error, OSError) as error:
        raise FormatError(f"{name}: expected a gzip archive, got {error}") from error
    if len(content) > most or content.startswith(GZIP):
        size = f"{most / 2**20:,.0f} MB"
        raise FormatError(f"{name}: expected at most {size} in one gzip archive")
    return content


def refuse_office(content: bytes, name: str) -> None:
    """Reject an archive that is an Office document.

    Raises:
        FormatError: it is one; says what to do.
    """
    if b"[Content_Types].xml" in content[:4096] or b"mimetypeapplication/vnd" in content[:256]:
        what, advice = BINARY[ZIP]
        if b"xl/" in content:
            what, advice = "a spreadsheet", "save it as CSV"
        raise FormatError(f"{name}: expected a text file, got {what}; {advice}")


def text_otherwise(file: BinaryIO, name: str, *, seekable: bool) -> tuple[str, list[str]] | None:
    """Return a text that is not UTF-8, with notes; None for UTF-8.

    Raises:
        FormatError: the encoding is unknown.
    """
    head = file.peek(2)[:2]  # type: ignore[attr-defined] # a BufferedReader
    if head not in UTF_16 and (not seekable or _is_utf_8(file)):
        return None
    content = file.read()
    return decoded_otherwise(content, name) or (decoded(content, name=name), [])


def text_lines(file: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of UTF-8 without their ends: LF, CR LF, or CR alone.

    Raises:
        FormatError: a line has another CR, or is not UTF-8; names it.
    """
    for number, line in enumerate(file, start=1):
        text = decoded(line, name=name, first_line=number).rstrip("\r\n")
        if "\r" not in text:
            yield text
        elif number == 1 and not line.endswith(b"\n"):  # CR alone ends the lines
            yield from text.split("\r")
        else:
            raise FormatError(
                f"{name}, line {number}: has a CR inside of the line; expected LF, CR LF "
                f"or CR alone at the end of each line"
            )


def _is_utf_8(file: BinaryIO) -> bool:
    """Return whether the whole file is UTF-8; the file is then rewound."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        file.seek(0)
    return True
