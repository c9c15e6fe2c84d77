"""Reader of CRFsuite models without the C library.

CRFsuite's own dump rounds weights to six decimals, and its C code trusts offsets in the file, so
that a damaged one can end the process. All numbers are little-endian; offsets count from the start.

    header      "lCRF", size, "FOMC", version, number of features, labels L, attributes A,
                offsets of: features, labels, attributes, two lists not needed here
    features    "FEAT", size, number; then each as: type, from, to (uint32), weight (float64);
                type 0 is attribute `from` with label `to`, 1 is a transition
    labels      a quark database (CQDB): "CQDB", size, flag, byte order, number of ids, offset of
    attributes  a list of offsets by id; there: id, length with the final zero, name (UTF-8)

The attributes of the words come as JSONL, one sentence per line:
`{"attributes": [["w=The", "cap"], {"w=dog": 1}], "tokens": ["The", "dog"]}`; `tokens` and `gold`
may be missing. Attributes are written as python-crfsuite takes them: a list of names, or an object
of name: number, name: true or false, name: "text" (which is the attribute name:text), name:
[names], or name: {names}.

Source: the file format of CRFsuite 0.12 (Okazaki, 2007), format version 100.
"""

import json
import re
import struct
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import LARGEST
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.features_file import write_features
from crfviz.taggers.brought.parsed_model import (
    MAX_TAGS,
    MAX_WORDS,
    FeatureWeights,
    ParsedModel,
    SentenceScores,
    Steps,
    WordFeatures,
    readable_sentences,
    require_fields,
    require_scores,
    require_words,
    text_list,
)
from crfviz.text.files import abbreviate
from crfviz.text.jsonl import json_value

MAGIC = b"lCRF"
FIRST_ORDER, VERSION = b"FOMC", 100
STATE, TRANSITION = 0, 1  # types of features
MAX_ATTRIBUTES = 600_000
MAX_LINE = 60_000_000  # bytes of memory that a parsed line may take
EXPECTED = 'a JSON object such as {"attributes": [["w=The", "cap"], {"w=dog": 1.0}]}'
KNOWN = ("attributes", "tokens", "gold")
KIND = "CRFsuite model with attributes as JSONL"
DEEPEST = 20  # levels of nested attributes

_LINE = re.compile(r"[^\n]*\n?")
_HEADER = struct.Struct("<4sI4sI8I")
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


@dataclass(frozen=True, eq=False)
class CrfsuiteModel:
    """Labels, transitions and weights of each attribute."""

    labels: tuple[str, ...]  # K, in id order
    transitions: NDArray[np.float64]  # (K, K) from, to; 0 where the model has no such feature
    attributes: Mapping[str, int]  # A names with their ids
    features: FeatureWeights  # weights of each attribute for each label

    def emissions(
        self, where: str, words: Sequence[object]
    ) -> tuple[NDArray[np.float64], WordFeatures, int]:
        """Return the emissions (T, K), the known attributes, and the number of all attributes.

        `parts` describes `where` and each word.
        """
        scores = np.zeros((len(words), len(self.labels)))
        counts, ids, values, total = list[int](), array("I"), array("d"), 0
        for t, word in enumerate(words):
            parts = self.parts(f"{where}, word {t + 1}", word)
            known = [(attribute, value) for _, attribute, value in parts if attribute is not None]
            with np.errstate(over="ignore", invalid="ignore"):  # later checks report it
                for attribute, value in known:
                    scores[t] += value * self.features.row(attribute, len(self.labels))
            counts.append(len(known))
            ids.extend(attribute for attribute, _ in known)
            values.extend(value for _, value in known)
            total += len(parts)
        return scores, WordFeatures(np.array(counts), np.array(ids), np.array(values)), total

    def parts(self, where: str, word: object) -> list[tuple[str, int | None, float]]:
        """Return name, id and value of each attribute of a word; the id is None if unknown.

        The formats are those of python-crfsuite. A FormatError for others begins with `where`.
        """
        return [(name, self.attributes.get(name), value) for name, value in _pairs(where, word)]


def read_crfsuite(data: bytes) -> CrfsuiteModel:
    """Return the model in the bytes of a file.

    Raises:
        FormatError: it is not a CRFsuite model, or damaged.
    """
    if not data.startswith(MAGIC) or len(data) < _HEADER.size:
        raise _damaged("the header is cut off")
    _, size, kind, version, _, num_labels, num_attributes, *offsets = _HEADER.unpack_from(data)
    if (kind, version) != (FIRST_ORDER, VERSION):
        raise FormatError(
            f"Expected a first-order CRFsuite model (FOMC, version {VERSION}), "
            f"got {kind!r}, version {version}."
        )
    if size != len(data):
        raise _damaged(f"it should have {size:,} bytes, and has {len(data):,}")
    if not 1 <= num_labels <= MAX_TAGS or num_attributes > MAX_ATTRIBUTES:
        raise FormatError(
            f"The model has {num_labels} labels and {num_attributes:,} attributes; expected 1 to "
            f"{MAX_TAGS} labels and at most {MAX_ATTRIBUTES:,} attributes."
        )
    features = _features(data, offsets[0])
    labels = _names(data, offsets[1], num_labels)
    attributes = _names(data, offsets[2], num_attributes)
    states, steps = (features[features["type"] == of] for of in (STATE, TRANSITION))
    for chosen, sources in ((states, num_attributes), (steps, num_labels)):
        if (chosen["source"] >= sources).any() or (chosen["target"] >= num_labels).any():
            raise _damaged("a feature speaks of a label or attribute that is not there")
    transitions = np.zeros((num_labels, num_labels))
    transitions[steps["source"], steps["target"]] = steps["weight"]
    states = states[np.argsort(states["source"], kind="stable")]
    return CrfsuiteModel(
        labels=tuple(labels),
        transitions=transitions,
        attributes={name: number for number, name in enumerate(attributes)},
        features=FeatureWeights(
            np.searchsorted(states["source"], np.arange(num_attributes + 1)),
            states["target"],
            states["weight"],
        ),
    )


def crfsuite_draft(model: CrfsuiteModel, text: str) -> ParsedModel:
    """Return the sentences of a JSONL text; an attribute that a word has twice counts twice.

    Raises:
        FormatError: no line can be read (says why the first cannot), or the limits are exceeded.
    """
    reader = _Attributes(model)
    parts, left_out = readable_sentences(_numbered(text), lambda each: reader.sentence(*each))
    unknown, total = reader.unknown, reader.total
    zeros = np.zeros(len(model.labels))
    notes = [f"{unknown:,} of {total:,} attributes are not in the model: they say nothing."]
    return ParsedModel(
        kind=KIND,
        parts=parts,
        tags=model.labels,
        steps=Steps(transitions=model.transitions, start=zeros, end=zeros),  # CRFsuite has neither
        notes=notes if unknown else (),
        left_out=left_out,
        write_features=partial(
            write_features,
            {number: name for name, number in model.attributes.items()},
            model.features,
        ),
    )


class _Attributes:
    """Converter of attributes to scores, which counts the unknown attributes."""

    def __init__(self, model: CrfsuiteModel) -> None:
        self.model = model
        self.unknown = self.total = self.words = 0

    def sentence(self, number: int, line: str) -> SentenceScores:
        """Return the scores of a line.

        Raises:
            FormatError: the line is not a valid sentence.
        """
        where = f"line {number}"
        content = _object(line, where)
        tokens, gold = (text_list(where, content, name) for name in ("tokens", "gold"))
        words = content["attributes"]
        if len(words) > MAX_WORDS:
            raise FormatError(
                f"{where}: at most {MAX_WORDS:,} words can be read, got {len(words):,}."
            )
        self.words += len(words)
        require_words(self.words)
        require_scores(self.words * len(self.model.labels))
        emissions, features, total = self.model.emissions(where, words)
        self.unknown += total - len(features.ids)
        self.total += total
        return SentenceScores(where, emissions, tokens, gold, features)


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank with their numbers, lazily: there may be millions."""
    for number, line in enumerate(_LINE.finditer(text), start=1):
        if line[0].strip():
            yield number, line[0]


def _features(data: bytes, offset: int) -> NDArray[np.void]:
    name, _, number = _unpack("<4sII", data, offset)
    begin = offset + 12
    if name != b"FEAT" or begin + number * _FEATURE.itemsize > len(data):
        raise _damaged("the list of features is not where it should be")
    features = np.frombuffer(data, _FEATURE, number, begin)
    if not np.isfinite(features["weight"]).all():
        raise _damaged("a weight is not finite")
    return features


def _names(data: bytes, offset: int, number: int) -> list[str]:
    magic, size, _, _, num_ids, list_offset = _unpack("<4s5I", data, offset)
    if magic != b"CQDB" or num_ids != number or offset + size > len(data):
        raise _damaged("a list of names is not where it should be")
    names, total = [], 0
    for place in _unpack(f"<{number}I", data, offset + list_offset):
        _, length = _unpack("<2I", data, offset + place)
        begin = offset + place + 8
        if not 1 <= length <= len(data) - begin:
            raise _damaged("a name is cut off")
        total += length
        if total > len(data):
            raise _damaged("its names are longer than the file")
        names.append(data[begin : begin + length - 1].decode("utf-8", "replace"))
    return names


def _unpack(layout: str, data: bytes, offset: int) -> tuple[Any, ...]:
    try:
        return struct.unpack_from(layout, data, offset)
    except struct.error as error:
        raise _damaged("it is cut off") from error


def _damaged(why: str) -> FormatError:
    return FormatError(f"The CRFsuite model is damaged: {why}.")


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        content = json_value(line, MAX_LINE)
    except ValueError as error:
        raise FormatError(
            f"{where}: expected {EXPECTED}, got {abbreviate(line)} ({error})."
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("attributes"), list):
        raise FormatError(f"{where}: expected {EXPECTED}, got {abbreviate(line)}.")
    require_fields(where, content, KNOWN)
    return content


def _pairs(where: str, word: object) -> Iterator[tuple[str, float]]:
    if isinstance(word, dict):
        return _flat(where, "", word)
    if _are_names(word):
        return ((name, 1.0) for name in word)
    raise FormatError(
        f"{where}: the attributes of a word must be a list of names or an object, "
        f"got {abbreviate(json.dumps(word, default=str))}."
    )


# ANN401: as python-crfsuite takes it
def _flat(where: str, prefix: str, value: Any, depth: int = 0) -> Iterator[tuple[str, float]]:  # noqa: ANN401
    """Yield the attributes in a nested value, named as python-crfsuite does."""
    if depth > DEEPEST:
        raise FormatError(f"{where}: attributes stand inside of {DEEPEST} others.")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(where, f"{prefix}:{name}" if depth else name, inner, depth + 1)
    elif _are_names(value):
        yield from ((f"{prefix}:{name}", 1.0) for name in value)
    elif isinstance(value, str):
        yield f"{prefix}:{value}", 1.0
    elif isinstance(value, int | float) and abs(value) < LARGEST:
        yield prefix, float(value)
    else:
        raise FormatError(
            f"{where}: the attribute {abbreviate(prefix)} must be a finite number, text, or more "
            f"attributes, got {abbreviate(json.dumps(value, default=str))}."
        )


def _are_names(value: object) -> TypeGuard[Collection[str]]:
    return isinstance(value, list | tuple | set) and all(isinstance(name, str) for name in value)
