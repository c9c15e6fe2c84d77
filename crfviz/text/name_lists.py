"""Names between commas, as people type them: `NN, VB` or `PER=p, LOC`; quoted as in CSV.

A name with a comma, an equals sign or blanks around it stands in double quotes. So does one that
begins with such a quote; a quote inside of quotes is written twice.
"""

import re
from collections.abc import Iterable

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')
_BLANKS = re.compile(r"\s*+")


def parse_names(text: str) -> list[str]:
    """Return the names of a list, none of an empty text; an equals sign belongs to a name.

    Raises:
        FormatError: a name is missing, or a quote is not closed.

    Example:
        >>> parse_names('NN, ",", a=b')
        ['NN', ',', 'a=b']
    """
    return [name for name, _ in _parsed(text, ",")]


def parse_pairs(text: str) -> list[tuple[str, str | None]]:
    """Return the names of a list, each with the text behind its equals sign; None without one.

    Raises:
        FormatError: a name is missing, or a quote is not closed.

    Example:
        >>> parse_pairs('NN, ","=c, "a=b"')
        [('NN', None), (',', 'c'), ('a=b', None)]
    """
    return _parsed(text, ",=")


def written_pairs(pairs: Iterable[tuple[str, str | None]]) -> str:
    """Return the text that `parse_pairs` reads."""
    return ", ".join(
        quoted(name) if value is None else f"{quoted(name)}={quoted(value)}"
        for name, value in pairs
    )


def quoted(name: str) -> str:
    """Return a name as `parse_names` reads it, in quotes if it needs them."""
    if name and name == name.strip() and name[0] != '"' and not set(name) & set(",=\n\r"):
        return name
    return '"' + name.replace('"', '""') + '"'


def _parsed(text: str, stops: str) -> list[tuple[str, str | None]]:
    pairs: list[tuple[str, str | None]] = []
    at = -1 if text.strip() else len(text)
    while at < len(text):
        name, at = _cell(text, at + 1, stops)
        value = None
        if text[at : at + 1] == "=":
            value, at = _cell(text, at + 1, ",")
        if name is None:
            raise FormatError(
                f"expected a name before and after each comma, got {abbreviate(text)}; a name with "
                'a comma stands in double quotes, as ","'
            )
        pairs.append((name, value))
    return pairs


def _cell(text: str, at: int, stops: str) -> tuple[str | None, int]:
    """Return a name, None if there is none, and where it ends: at a stop or behind the text."""
    at = _end_of(_BLANKS, text, at)
    if text[at : at + 1] != '"':
        places = (text.find(stop, at) for stop in stops)
        end = min((place for place in places if place >= 0), default=len(text))
        return text[at:end].strip() or None, end
    quoted = _QUOTED.match(text, at)
    end = len(text) if quoted is None else _end_of(_BLANKS, text, quoted.end())
    if quoted is None or (end < len(text) and text[end] not in stops):
        raise FormatError(
            f"expected a closing quote and a comma behind a name in double quotes, "
            f"got {abbreviate(text[at:])}; a quote in a name is written twice"
        )
    return quoted[1].replace('""', '"'), end


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
