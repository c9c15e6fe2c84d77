"""Bytes as text with LF line ends, and which format the text has."""

from __future__ import annotations

import re
from typing import Literal, get_args

from crfviz.annotations.files.columns import MARK
from crfviz.annotations.files.gathering import Gathering
from crfviz.annotations.files.spacy import elements
from crfviz.exceptions import FormatError
from crfviz.text.columns import is_comment, lines_of
from crfviz.text.formats import detect_format

InputFormat = Literal["text", "conllu", "iob2", "columns", "jsonl", "spacy"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
NOT_UTF_8 = re.compile("[\udc80-\udcff]")  # how Python keeps such bytes
LINE_END = re.compile(r"\r\n?|\n")
NAMES = {"\n": "LF", "\r\n": "CR LF", "\r": "CR"}
CONLLU_TABS = 9
JSON_LIST = re.compile(r"\s*\[\s*([\[{\]]|$)")


def decoded(content: bytes, gathering: Gathering) -> str:
    """The content as text with LF line ends; bytes that are no UTF-8 are marked in it.

    Raises:
        FormatError: it is UTF-16.
    """
    if content.startswith(UTF_16):
        raise FormatError(f"{gathering.name}: expected UTF-8 text, got UTF-16; save it as UTF-8")
    text = content.decode("utf-8", errors="surrogateescape")
    if text.startswith("\ufeff"):
        text = text[1:]
        gathering.say("the byte order mark (BOM) at the beginning was left out", line=1)
    first = ""
    for number, end in enumerate(LINE_END.findall(text) if "\r" in text else (), start=1):
        first = first or end
        if end != first:
            gathering.say(
                f"mixed line ends: {NAMES[end]} after {NAMES[first]}; all were read", line=number
            )
            break
    return LINE_END.sub("\n", text) if "\r" in text else text


def detected(text: str) -> InputFormat:
    """Which format a text has; one that fits no other is sentences."""
    marked = False
    for line in lines_of(text):
        marked = marked or line.startswith(MARK)
        if not line.strip() or is_comment(line):
            continue
        if marked:
            return "conllu" if line.count("\t") == CONLLU_TABS else "columns"
        if JSON_LIST.match(line) and not isinstance(
            next(elements(text), (0, None))[1], FormatError
        ):
            return "spacy"
        try:
            found = detect_format([line])
        except FormatError:
            return "text"
        return "conllu" if found == "conllu-xpos" else found
    return "columns" if marked else "text"


def check_utf_8(line: str, where: str) -> None:
    """Refuse a line in which `decoded` has marked bytes.

    Raises:
        FormatError: says where and which byte.
    """
    if wrong := NOT_UTF_8.search(line):
        byte = ord(wrong[0]) - 0xDC00
        raise FormatError(f"{where}: expected UTF-8 text, got byte 0x{byte:02x}")
