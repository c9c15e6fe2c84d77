"""Decoding of text files, lines, abbreviated values for messages, and atomic writes.

Files are UTF-8, with or without a byte order mark. Only LF or CR LF ends a line;
`decoded_with_notes` also accepts a lone CR, and notes unusual contents.
"""

import re
import reprlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from crfviz.exceptions import FormatError

NOT_UTF_8 = re.compile("[\udc80-\udcff]")  # invalid bytes, as Python preserves them
BYTE_ORDER_MARK = "\ufeff"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
IN_UTF_8 = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
LINE_END = re.compile(r"\r\n?|\n")
SURROGATES = re.compile("[\ud800-\udfff]")  # lone surrogates, which are not text
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel, _BRIEF.maxlist, _BRIEF.maxdict, _BRIEF.maxstring = 3, 10, 10, 62
LINE_END_NAMES = {"\n": "LF", "\r\n": "CR LF", "\r": "CR"}


def decoded(content: bytes, *, name: str = "file", first_line: int = 1) -> str:
    """Return the text of a file, or of some of its lines; `name` is its name in messages.

    Raises:
        FormatError: it is not UTF-8; names the line.
    """
    text = _decode_lossless(content)
    if wrong := NOT_UTF_8.search(text):
        number = first_line + text.count("\n", 0, wrong.start())
        check_utf_8(wrong[0], f"{name}, line {number}")
    return text.removeprefix(BYTE_ORDER_MARK) if first_line == 1 else text


def decoded_with_notes(content: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text with LF line ends, and notes on unusual contents.

    Invalid bytes are preserved, so that `check_utf_8` can name their line.

    Raises:
        FormatError: it begins as UTF-16 but is not.
    """
    text, notes = decoded_otherwise(content, name) or (_decode_lossless(content), [])
    if text.startswith(BYTE_ORDER_MARK):
        text = text[1:]
        notes.append(f"{name}, line 1: the byte order mark (BOM) at the beginning was left out")
    if "\r" not in text:
        return text, notes
    ends = LINE_END.findall(text)
    odd = next((number for number, end in enumerate(ends) if end != ends[0]), None)
    if odd is not None:
        notes.append(
            f"{name}, line {odd + 1}: mixed line ends: {LINE_END_NAMES[ends[odd]]} after "
            f"{LINE_END_NAMES[ends[0]]}; all were read"
        )
    return LINE_END.sub("\n", text), notes


def decoded_otherwise(content: bytes, name: str) -> tuple[str, list[str]] | None:
    """Return a text in UTF-16 or Windows-1252, and a note on the latter; None for other encodings.

    UTF-16 requires its byte order mark. Windows-1252 is accepted only without byte pairs that are
    valid
    UTF-8.

    Raises:
        FormatError: it begins as UTF-16 but is not.
    """
    if content.startswith(UTF_16):
        try:
            return content.decode("utf-16").removeprefix(BYTE_ORDER_MARK), []
        except UnicodeDecodeError as error:
            raise FormatError(f"{name}: expected UTF-16 text, got {error}") from error
    if content.isascii() or b"\0" in content or IN_UTF_8.search(content):
        return None
    try:
        return content.decode("cp1252"), [f"{name}: is not UTF-8; read as Windows-1252"]
    except UnicodeDecodeError:
        return None


def check_utf_8(line: str, where: str) -> None:
    """Reject a line with invalid UTF-8.

    Raises:
        FormatError: names the place and the byte.
    """
    if wrong := NOT_UTF_8.search(line):
        byte = ord(wrong[0]) - 0xDC00
        raise FormatError(f"{where}: expected UTF-8 text, got byte 0x{byte:02x}")


def lines_of(text: str) -> list[str]:
    """Return lines without their LF or CR LF; no other character ends a line."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def outside(text: str, begin: str, end: str) -> list[str]:
    """Return the parts of a text outside the ranges from `begin` to `end`.

    >>> outside("a <!-- b --> c <!-- d", "<!--", "-->")
    ['a ', ' c <!-- d']
    """
    pieces, at = [], 0
    while (start := text.find(begin, at)) >= 0:
        stop = text.find(end, start + len(begin))
        if stop < 0:
            break
        pieces.append(text[at:start])
        at = stop + len(end)
    return [*pieces, text[at:]]


def abbreviate(text: str) -> str:
    """Return at most 60 characters of a text, quoted, for messages."""
    return repr(_first_characters(text))


def abbreviate_value(value: object) -> str:
    """Return at most 60 characters of any value, for messages; texts are quoted."""
    return abbreviate(value) if isinstance(value, str) else _first_characters(_BRIEF.repr(value))


def abbreviate_names(names: Iterable[object]) -> str:
    """Return the first eight names, each of at most 60 characters, with commas, for messages."""
    return ", ".join(_first_characters(str(name)) for name in islice(names, 8))


def _first_characters(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def _decode_lossless(content: bytes) -> str:
    return content.decode("utf-8", errors="surrogateescape")


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a temporary file beside the target and rename it when it is complete.

    If writing fails, an older file stays. A target that is not a regular file, such as a terminal,
    is written directly.

    Raises:
        FormatError: it cannot be written; says why.

    """
    plain = not path.exists() or path.is_file()
    temporary = path.with_name(f".{path.name}.part") if plain else path
    try:
        try:
            with temporary.open("wb") as file:
                file.writelines(pieces)
            if plain:
                temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                if plain:
                    temporary.unlink()
            raise
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from error
