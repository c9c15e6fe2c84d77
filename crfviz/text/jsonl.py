"""JSON and JSONL: sentences as `{"tokens": [...], "tags": [...], "text": "..."}`, one per line.

Tags and text may be absent. Only JSONL preserves any word and any text.
The memory of uploaded JSON is estimated before it is parsed, by CPython's sizes on 64 bits.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import SURROGATES, abbreviate, abbreviate_value, check_utf_8
from crfviz.text.sentences import Sentence

EXPECTED = 'a JSON object such as {"tokens": ["Hello"], "tags": ["INTJ"]}'
MAX_JSON = 110_000_000  # maximum bytes of parsed JSON, including the text
_VALUE, _LIST, _OBJECT, _TEXT = 33, 72, 250, 55  # bytes of each


def numbered_sentences(
    lines: Iterable[str], name: str, first: int = 1
) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of JSONL with their line numbers; one without words is dropped.

    Other keys of an object are ignored.

    Raises:
        FormatError: a line is not a valid object; names the line and the problem.
    """
    for number, line in enumerate(lines, start=first):
        where = f"{name}, line {number}"
        if line.strip() and (sentence := sentence_of(parse_object(line, where), where)).tokens:
            yield number, sentence


def render_jsonl(sentences: Iterable[Sentence]) -> str:
    """Return the sentences as JSONL, without missing tags and texts."""
    known = (
        {name: value for name, value in vars(sentence).items() if value is not None}
        for sentence in sentences
    )
    return "".join(f"{json.dumps(fields, ensure_ascii=False)}\n" for fields in known)


def parse_object(line: str, where: str) -> dict[str, object]:
    """Return a JSON object.

    Raises:
        FormatError: the line is not an object; names the place `where`.
    """
    fields = parsed(line, where)
    if not isinstance(fields, dict):
        raise FormatError(f"{where}: expected {EXPECTED}, got {abbreviate(line)}")
    return fields


def parsed(text: str, where: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a JSON text.

    Raises:
        FormatError: it is not JSON, or not UTF-8; names the place `where`.
    """
    check_utf_8(text, where)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{where}: expected {EXPECTED}, got {abbreviate(text)} ({error})"
        ) from error


def list_elements(text: str, name: str) -> Iterator[tuple[int, object]]:
    """Yield the elements of a JSON list with their lines; the last is an error if it is invalid.

    Text after the list is also such an error.
    """
    decoder = json.JSONDecoder()
    index, line, counted = text.find("[") + 1, 1, 0
    if not index:
        yield line, FormatError(f"{name}, line {line}: expected a JSON list")
        return
    while True:
        while index < len(text) and (text[index].isspace() or text[index] == ","):
            index += 1
        line += text.count("\n", counted, index)
        counted = index
        where = f"{name}, line {line}"
        if text[index : index + 1] == "]":
            if text[index + 1 :].strip():
                yield (
                    line,
                    FormatError(f"{where}: expected nothing after the list; the rest is not read"),
                )
            return
        try:
            element, index = decoder.raw_decode(text, index)
        except (ValueError, RecursionError) as error:
            yield line, FormatError(f"{where}: expected JSON, got {error}; the rest is not read")
            return
        yield line, element


def sentence_of(fields: Mapping[str, object], where: str) -> Sentence:
    """Return the sentence of an object.

    Raises:
        FormatError: a field has the wrong type, or the number of tags is wrong.
    """
    tokens = strings(fields.get("tokens"), "tokens", where)
    tags = None if fields.get("tags") is None else strings(fields["tags"], "tags", where)
    raw = fields.get("text")
    if raw is not None and not isinstance(raw, str):
        raise FormatError(f'{where}: expected a string in "text", got {abbreviate_value(raw)}')
    if raw is not None:
        check_whole(raw, "text", where)
    if "" in tokens:
        raise FormatError(f'{where}: expected words in "tokens", got an empty string')
    if tags is not None and len(tags) != len(tokens):
        raise FormatError(
            f"{where}: expected one tag per token, got {len(tags)} tags and {len(tokens)} tokens"
        )
    return Sentence(tokens, tags, raw)


def strings(value: object, field: str, where: str) -> tuple[str, ...]:
    """Return the strings of a list.

    Raises:
        FormatError: `value` is not a list of strings.
    """
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FormatError(
            f'{where}: expected a list of strings in "{field}", got {abbreviate_value(value)}'
        )
    for item in value:
        check_whole(item, field, where)
    return tuple(value)


def check_whole(text: str, field: str, where: str) -> None:
    r"""Reject lone surrogates, which JSON may contain, because `"\ud800"` cannot be saved.

    Raises:
        FormatError: names the character and its place.
    """
    if half := SURROGATES.search(text):
        raise FormatError(
            f'{where}: expected text, got the character U+{ord(half[0]):04X} in "{field}"'
        )


def json_bytes(text: str) -> int:
    """Return an upper estimate of the bytes of a parsed JSON text."""
    lists, objects = text.count("["), text.count("{")
    values = text.count(",") + lists + objects
    texts = text.count('"') // 2
    return (
        sys.getsizeof(text)
        + len(text)  # copies of the strings
        + _VALUE * values
        + _LIST * lists
        + _OBJECT * objects
        + _TEXT * texts
    )


def json_value(text: str, most: int | None = None) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a JSON text.

    Args:
        text: the JSON.
        most: maximum bytes; None for no limit.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
        FormatError: it exceeds the limit; a subclass of ValueError.
    """
    if most is not None:
        require_json_bytes(text, most)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("lists stand inside of lists too often") from error


def require_json_bytes(text: str, most: int) -> None:
    """Reject a JSON text that takes too much memory.

    Raises:
        FormatError: it takes more than `most` bytes.
    """
    needed = json_bytes(text)
    if needed > most:
        raise FormatError(
            f"read as JSON it would take {needed / 1e6:,.0f} MB of memory, at most "
            f"{most / 1e6:,.0f} MB are allowed: leave some out, or bring arrays as .npz"
        )
