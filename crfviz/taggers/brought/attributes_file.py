"""What a CRFsuite model is given at each word, as JSONL, and the emissions that follow.

A line is a sentence: `{"attributes": [["w=The", "cap"], {"w=dog": 1}], "tokens": ["The", "dog"]}`;
`tokens` and `gold` may be missing. Attributes are written as python-crfsuite takes them: a list of
names, or an object of name: number, name: true or false, name: "text" (which is the attribute
name:text), name: [names], or name: {names}.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.crfsuite_file import CrfsuiteModel
from crfviz.taggers.brought.draft import Draft, Part
from crfviz.text.lines import lines_of, shown

EXPECTED = 'a JSON object such as {"attributes": [["w=The", "cap"], {"w=dog": 1.0}]}'
KNOWN = ("attributes", "tokens", "gold")
KIND = "CRFsuite model with attributes as JSONL"
DEEPEST = 20  # attributes inside attributes


def crfsuite_draft(model: CrfsuiteModel, text: str) -> Draft:
    """The sentences of a JSONL text, scored.

    Raises:
        FormatError: a line is no such sentence; says which.
    """
    parts, unknown, total = [], 0, 0
    for number, line in enumerate(lines_of(text), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        content = _object(line, where)
        rows = [_pairs(where, word) for word in content["attributes"]]
        unknown += sum(name not in model.attributes for row in rows for name, _ in row)
        total += sum(map(len, rows))
        emissions = emissions_of(model, rows)
        parts.append(Part(where, emissions, tokens=content.get("tokens"), gold=content.get("gold")))
    notes = [f"{unknown:,} of {total:,} attributes are not in the model: they say nothing."]
    return Draft(
        kind=KIND,
        parts=parts,
        tags=model.labels,
        transitions=model.transitions,
        start=np.zeros(len(model.labels)),  # CRFsuite has none
        end=np.zeros(len(model.labels)),
        notes=notes if unknown else (),
    )


def emissions_of(
    model: CrfsuiteModel, rows: Sequence[Iterable[tuple[str, float]]]
) -> NDArray[np.float64]:
    """The sum of the weights of each word's attributes, times their values.

    Args:
        model: the weights.
        rows: names and values of the attributes of T words; a name may come twice, and counts
            twice then.

    Returns:
        (T, K).
    """
    emissions = np.zeros((len(rows), len(model.labels)))
    for row, pairs in zip(emissions, rows, strict=True):
        for name, value in pairs:
            attribute = model.attributes.get(name)
            if attribute is not None:
                row += value * model.weights[attribute]
    return emissions


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: expected {EXPECTED}, got {shown(line)} ({error}).") from error
    if not isinstance(content, dict) or not isinstance(content.get("attributes"), list):
        raise FormatError(f"{where}: expected {EXPECTED}, got {shown(line)}.")
    for name in content:
        if name not in KNOWN:
            raise FormatError(f"{where}: no field {name[:60]!r}; known: {', '.join(KNOWN)}.")
    for name in ("tokens", "gold"):
        words = content.get(name)
        if words is not None and not (
            isinstance(words, list) and all(isinstance(word, str) for word in words)
        ):
            raise FormatError(f"{where}: “{name}” must be a list of strings.")
    return content


def _pairs(where: str, word: object) -> list[tuple[str, float]]:
    """Names and values of the attributes of one word."""
    if isinstance(word, list) and all(isinstance(name, str) for name in word):
        return [(name, 1.0) for name in word]
    if isinstance(word, dict):
        return list(_flat(where, "", word))
    raise FormatError(
        f"{where}: the attributes of a word must be a list of names or an object, "
        f"got {shown(json.dumps(word))}."
    )


def _flat(where: str, prefix: str, value: Any, depth: int = 0) -> Iterator[tuple[str, float]]:  # noqa: ANN401
    """The attributes that a value stands for, as python-crfsuite names them."""
    if depth > DEEPEST:
        raise FormatError(f"{where}: attributes stand inside of {DEEPEST} others.")
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(where, f"{prefix}:{name}" if depth else name, inner, depth + 1)
    elif isinstance(value, list) and all(isinstance(name, str) for name in value):
        yield from ((f"{prefix}:{name}", 1.0) for name in value)
    elif isinstance(value, str):
        yield f"{prefix}:{value}", 1.0
    elif isinstance(value, int | float) and abs(value) < float("inf"):
        yield prefix, float(value)
    else:
        raise FormatError(
            f"{where}: the attribute {shown(prefix)} must be a finite number, text, or more "
            f"attributes, got {shown(json.dumps(value))}."
        )
