"""Bytes as text and text as lines, for every file that people bring.

Files are UTF-8, with or without a byte order mark. LF or CR LF ends a line, and nothing else does;
only `decoded_with_notes` also takes a lone CR for a line end, and tells of what is odd.
"""

import re
import reprlib

from crfviz.exceptions import FormatError

NOT_UTF_8 = re.compile("[\udc80-\udcff]")  # how Python keeps such bytes
BYTE_ORDER_MARK = "\ufeff"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LINE_END = re.compile(r"\r\n?|\n")
SURROGATES = re.compile("[\ud800-\udfff]")  # halves of characters, which are no text
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel, _BRIEF.maxlist, _BRIEF.maxdict, _BRIEF.maxstring = 3, 10, 10, 62
NAMES = {"\n": "LF", "\r\n": "CR LF", "\r": "CR"}


def decoded(content: bytes, *, name: str = "file", first_line: int = 1) -> str:
    """The text of a file, or of some of its lines; `name` is what messages call the file.

    Raises:
        FormatError: it is not UTF-8; says in which line.
    """
    text = _kept(content)
    if wrong := NOT_UTF_8.search(text):
        number = first_line + text.count("\n", 0, wrong.start())
        check_utf_8(wrong[0], f"{name}, line {number}")
    return text.removeprefix(BYTE_ORDER_MARK) if first_line == 1 else text


def decoded_with_notes(content: bytes, name: str) -> tuple[str, list[str]]:
    """The text with LF line ends, and what was odd about it; see `check_utf_8` for its bytes.

    Raises:
        FormatError: it is UTF-16.
    """
    if content.startswith(UTF_16):
        raise FormatError(f"{name}: expected UTF-8 text, got UTF-16; save it as UTF-8")
    text, notes = _kept(content), []
    if text.startswith(BYTE_ORDER_MARK):
        text = text[1:]
        notes.append(f"{name}, line 1: the byte order mark (BOM) at the beginning was left out")
    if "\r" not in text:
        return text, notes
    ends = LINE_END.findall(text)
    odd = next((number for number, end in enumerate(ends) if end != ends[0]), None)
    if odd is not None:
        notes.append(
            f"{name}, line {odd + 1}: mixed line ends: {NAMES[ends[odd]]} after {NAMES[ends[0]]}; "
            f"all were read"
        )
    return LINE_END.sub("\n", text), notes


def check_utf_8(line: str, where: str) -> None:
    """Refuse a line with bytes that are no UTF-8.

    Raises:
        FormatError: says where and which byte.
    """
    if wrong := NOT_UTF_8.search(line):
        byte = ord(wrong[0]) - 0xDC00
        raise FormatError(f"{where}: expected UTF-8 text, got byte 0x{byte:02x}")


def lines_of(text: str) -> list[str]:
    """Lines without their LF or CR LF; no other character ends a line."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def outside(text: str, begin: str, end: str) -> list[str]:
    """What stands before, between and after the stretches of a text from `begin` to `end`.

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


def shown(text: str) -> str:
    """At most 60 characters of something from a file, quoted, for messages."""
    return repr(_beginning(text))


def shown_value(value: object) -> str:
    """At most 60 characters of any value, for messages, however large it is; texts are quoted."""
    return shown(value) if isinstance(value, str) else _beginning(_BRIEF.repr(value))


def _beginning(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def _kept(content: bytes) -> str:
    """As text in which bytes that are no UTF-8 are marked."""
    return content.decode("utf-8", errors="surrogateescape")
