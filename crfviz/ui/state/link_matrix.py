"""Edits of a whole matrix as one short text, for links: a step of learning moves every weight.

    ADJ.NOUN.VERB:gICAgAAAAIB...

The names of the tags in the order of rows and columns, then in base64 one int32 a cell, row by row:
START and the tags, by the tags and END; millionths of a nat, one number for "no edit" and one for
"forbidden".
"""

import base64
import binascii
import math
import re
from collections.abc import Mapping
from urllib.parse import unquote

import numpy as np

from crfviz.chain.edits import END, START, Move
from crfviz.ui.state.link_items import tag_text

FEW = 30  # edits are written one by one, to be read and changed by hand

_UNEDITED, _FORBIDDEN = -(2**31), -(2**31) + 1
_LARGEST = 2000.0  # nats; more does not fit
_MILLIONTHS = 1_000_000
_MOST_NAMES = 200
_TEXT = re.compile(r"[A-Za-z0-9_-]*")


def pack(transitions: Mapping[Move, float]) -> str:
    """Many edits as one text; empty where they are few or have more than six decimals."""
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
    """The edits of `pack`; None where the text is something else."""
    written, _, packed = text.partition(":")
    names = [unquote(name) for name in written.split(".")]
    sources, targets = _sides(names)
    if not all(names) or len({*names}) < len(names) or len(names) > _MOST_NAMES:
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
    """Every tag once, in the order of the edits; START may be a tag as target, END as source."""
    sides = (side for move in transitions for side in zip(move, (START, END), strict=True))
    return list(dict.fromkeys(name for name, border in sides if name != border))


def _sides(names: list[str]) -> tuple[list[str], list[str]]:
    return [START, *(n for n in names if n != START)], [*(n for n in names if n != END), END]


def _millionths(score: float) -> int | None:
    """None where six decimals do not make the number."""
    if abs(score) > _LARGEST:
        return None
    number = round(score * _MILLIONTHS)
    return number if number / _MILLIONTHS == score else None
