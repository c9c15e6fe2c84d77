"""Text of the parts of a URL, written and parsed: `DET.NOUN:1.25`, `3.NOUN:2`, `0.DET`.

In tag names everything but letters, digits, "-" and "_" is percent-encoded, before the whole URL is
encoded. The separators ".", ":", "," and the blank of page options (`3 NOUN`, `DET NOUN`) are
therefore unambiguous. Scores, in nats, are written with all their digits.
`views/stage/web/link_text.js` is the same in the browser.
"""

import base64
import binascii
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote as percent_encode
from urllib.parse import unquote

import numpy as np

from crfviz.chain.edits import END, START, Move
from crfviz.chain.pattern_syntax import MAX_LENGTH
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    MAX_CHARACTERS,
    MAX_DRAFT,
    MAX_SCORE,
    MAX_STEP,
    OF_TAGS,
    RULE,
    RULE_DRAFT,
    THEIRS,
    TRIES,
)
from crfviz.ui.words import clean

Place = tuple[int, str]  # position of a word from 0, and a tag

_NUMBER = re.compile(r"[+-]?(\d{1,9}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,3})?", re.ASCII)
_POSITION = re.compile(r"\d{1,5}", re.ASCII)
FEW = 30  # edits; up to so many are written one by one, which people can edit by hand
_UNEDITED, _FORBIDDEN = -(2**31), -(2**31) + 1  # numbers in a packed matrix with a meaning
_LARGEST = 2000.0  # nats; larger scores are not packed
_MILLIONTHS = 1_000_000
_MAX_NAMES = 200
_TEXT = re.compile(r"[A-Za-z0-9_-]*")
_STEP = re.compile(r"\d{1,5}", re.ASCII)
_OPTION_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_START = "start"  # value of `step` before the first step
OPTION = "v."  # prefix of the name of a page option
TOUR, MAX_STOPS = "tour", 9  # the stop of the tour
LONGEST_OPTION = 64  # characters of a page option
LONGEST_NAMES = 4_000  # characters of a page option with names of tags, which grow when encoded
LONGER = {
    **dict.fromkeys(OF_TAGS, LONGEST_NAMES),
    "own": MAX_CHARACTERS,
    THEIRS: MAX_CHARACTERS,
    RULE: MAX_LENGTH,
    RULE_DRAFT: MAX_DRAFT,
    "asked": 200,
    "said": 200,
    TRIES: 4_000,
}  # characters of page options that may be longer than `LONGEST_OPTION`


def moves_text(scores: Mapping[Move, float]) -> str:
    """Return scores of transitions, such as `DET.NOUN:1.25,START.PRON:-inf`."""
    return ",".join(
        f"{tag_text(source)}.{tag_text(target)}:{number_text(score)}"
        for (source, target), score in scores.items()
    )


def scores_text(scores: Mapping[Place, float]) -> str:
    """Return scores of single words, such as `3.NOUN:2`."""
    return ",".join(
        f"{position}.{tag_text(tag)}:{number_text(score)}"
        for (position, tag), score in scores.items()
    )


def places_text(tags: Mapping[int, str]) -> str:
    """Return tags of single words, such as `0.DET,2.VERB`."""
    return ",".join(f"{position}.{tag_text(tag)}" for position, tag in tags.items())


@lru_cache(maxsize=1024)  # a page of errors has thousands of links
def tag_text(tag: str) -> str:
    """Return a tag name with everything but letters, digits, "-" and "_" percent-encoded."""
    return percent_encode(tag, safe="").replace(".", "%2E").replace("~", "%7E")


def names_text(*names: str) -> str:
    """Return tags as a page option, such as `DET NOUN`; `read_names` parses it."""
    return " ".join(map(tag_text, names))


def cell_text(position: int, tag: str) -> str:
    """Return a word and a tag as a page option, such as `3 NOUN`; `read_cell` parses it."""
    return f"{position} {tag_text(tag)}"


def read_tag(text: str, tags: Sequence[str]) -> str | None:
    """Return which of the tags a text of `tag_text` names; None if it names none.

    Links of old have names as they are: a text that is itself a tag counts where no tag is decoded.
    """
    return next((name for name in (unquote(text), text) if name in tags), None)


def read_names(text: str, first: Sequence[str], second: Sequence[str]) -> tuple[str, str] | None:
    """Parse a text of `names_text` with two names, each one of a list; None if it is invalid."""
    before, _, after = text.partition(" ")
    names = read_tag(before, first), read_tag(after, second)
    return None if None in names else names  # type: ignore[return-value]  # mypy: both are known


def read_cell(text: str, tags: Sequence[str]) -> tuple[int, int] | None:
    """Parse a text of `cell_text` as a position and a tag id; None if it is invalid."""
    position, _, name = text.partition(" ")
    tag = read_tag(name, tags)
    if tag is None or not _POSITION.fullmatch(position):
        return None
    return int(position), tags.index(tag)


def number_text(value: float) -> str:
    """Return a number as text with all its digits, without a trailing ".0"."""
    return repr(float(value)).removesuffix(".0")


def read_move(text: str) -> tuple[Move, float] | None:
    """Parse an item of `moves_text`; None if it is invalid."""
    tags, _, number = text.partition(":")
    score = _score(number)
    names = [unquote(tag) for tag in tags.split(".")]
    if score is None or len(names) != 2 or not all(names) or names == [START, END]:
        return None
    return (names[0], names[1]), score


def read_score(text: str) -> tuple[Place, float] | None:
    """Parse an item of `scores_text`; None if it is invalid."""
    place_text, _, number = text.partition(":")
    score, place = _score(number), read_place(place_text)
    return None if score is None or place is None else (place, score)


def read_place(text: str) -> Place | None:
    """Parse an item of `places_text`; None if it is invalid."""
    position, _, tag = text.partition(".")
    if not _POSITION.fullmatch(position) or int(position) >= MAX_CHARACTERS:
        return None
    return (int(position), unquote(tag)) if tag and "." not in tag else None


def read_number(text: str) -> float | None:
    """Parse a number, which may overflow to infinity; None if it is invalid."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _score(text: str) -> float | None:
    if text == "-inf":
        return -math.inf
    value = read_number(text)
    return None if value is None or abs(value) > MAX_SCORE else value


def pack(transitions: Mapping[Move, float]) -> str:
    """Return transition edits packed into one text.

    The text is empty if there are at most `FEW` edits, or if a score is above 2000 nats or has more
    than six decimals.
    """
    if len(transitions) <= FEW:
        return ""
    names = _names(transitions)
    sources, targets = _sides(names)
    cells = np.full((len(sources), len(targets)), _UNEDITED, dtype="<i4")
    for (source, target), score in transitions.items():
        number = _FORBIDDEN if score == -math.inf else _millionths(score)
        if number is None:
            return ""
        cells[sources.index(source), targets.index(target)] = number
    written = ".".join(tag_text(name) for name in names)
    return f"{written}:{base64.urlsafe_b64encode(cells.tobytes()).decode().rstrip('=')}"


def unpack(text: str) -> dict[Move, float] | None:
    """Return the edits in a text of `pack`; None if the text is invalid."""
    written, _, packed = text.partition(":")
    names = [unquote(name) for name in written.split(".")]
    sources, targets = _sides(names)
    if not all(names) or len({*names}) < len(names) or len(names) > _MAX_NAMES:
        return None
    if _TEXT.fullmatch(packed) is None:
        return None
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    except binascii.Error:
        return None
    if len(data) != 4 * len(sources) * len(targets):
        return None
    cells = np.frombuffer(data, dtype="<i4").reshape(len(sources), len(targets))
    edited = (cells != _UNEDITED).nonzero()
    moves = {(sources[i], targets[j]): int(cells[i, j]) for i, j in zip(*edited, strict=True)}
    moves.pop((START, END), None)
    return {
        move: -math.inf if number == _FORBIDDEN else number / _MILLIONTHS
        for move, number in moves.items()
    }


def _names(transitions: Mapping[Move, float]) -> list[str]:
    """Return each tag once, in order; a tag may be named START as a target, or END as a source."""
    sides = (side for move in transitions for side in zip(move, (START, END), strict=True))
    return list(dict.fromkeys(name for name, border in sides if name != border))


def _sides(names: list[str]) -> tuple[list[str], list[str]]:
    return [START, *(n for n in names if n != START)], [*(n for n in names if n != END), END]


def _millionths(score: float) -> int | None:
    """Return a score in millionths; None if it is too large or has more than six decimals."""
    if abs(score) > _LARGEST:
        return None
    number = round(score * _MILLIONTHS)
    return number if number / _MILLIONTHS == score else None


def step_text(step: int) -> str:
    return _START if step == BEFORE_FIRST else str(step)


def read_step(text: str) -> int | None:
    """Parse the text of `step_text`; None if it is invalid."""
    if text == _START:
        return BEFORE_FIRST
    return int(text) if _STEP.fullmatch(text) and int(text) <= MAX_STEP else None


def is_option(name: str, value: str) -> bool:
    """Return whether a name and a value are a valid page option."""
    return (
        _OPTION_NAME.fullmatch(name) is not None
        and 0 < len(value) <= LONGER.get(name, LONGEST_OPTION)
        and clean(value) == value
    )
