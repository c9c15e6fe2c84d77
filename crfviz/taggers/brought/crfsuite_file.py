"""A CRFsuite model file, read without the C library: with all its digits, and never beyond its end.

CRFsuite's own dump rounds weights to six decimals, and its C code trusts offsets in the file, so
that a damaged one can end the process. All numbers are little-endian; offsets count from the start.

    header      "lCRF", size, "FOMC", version, number of features, labels L, attributes A,
                offsets of: features, labels, attributes, two lists not needed here
    features    "FEAT", size, number; then each as: type, from, to (uint32), weight (float64);
                type 0 says that attribute `from` speaks for label `to`, 1 is a transition
    labels      a quark database (CQDB): "CQDB", size, flag, byte order, number of ids, offset of
    attributes  a list of offsets by id; there: id, length with the final zero, name (UTF-8)

Source: the file format of CRFsuite 0.12 (Okazaki, 2007), format version 100.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError

MAGIC = b"lCRF"
KIND, VERSION = b"FOMC", 100
STATE, TRANSITION = 0, 1  # types of features
MOST_WEIGHTS = 400_000_000  # bytes of the table of attributes by labels

_HEADER = struct.Struct("<4sI4sI8I")
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


@dataclass(frozen=True, eq=False)
class CrfsuiteModel:
    """Labels, transitions and what each attribute says."""

    labels: tuple[str, ...]  # K, in id order
    transitions: NDArray[np.float64]  # (K, K) from, to; 0 where the model has no such feature
    attributes: Mapping[str, int]  # A names with their ids
    weights: NDArray[np.float64]  # (A, K)


def read_crfsuite(data: bytes) -> CrfsuiteModel:
    """The model in the bytes of a file.

    Raises:
        FormatError: it is no CRFsuite model, or damaged.
    """
    if not data.startswith(MAGIC) or len(data) < _HEADER.size:
        raise _damaged("the header is cut off")
    _, size, kind, version, _, num_labels, num_attributes, *offsets = _HEADER.unpack_from(data)
    if (kind, version) != (KIND, VERSION):
        raise FormatError(
            f"Expected a first-order CRFsuite model (FOMC, version {VERSION}), "
            f"got {kind!r}, version {version}."
        )
    if size != len(data):
        raise _damaged(f"it should have {size:,} bytes, and has {len(data):,}")
    if num_labels == 0 or num_labels * num_attributes * 8 > MOST_WEIGHTS:
        raise FormatError(f"The model has {num_labels} labels and {num_attributes:,} attributes.")
    features = _features(data, offsets[0])
    labels = _names(data, offsets[1], num_labels)
    attributes = _names(data, offsets[2], num_attributes)
    transitions = np.zeros((num_labels, num_labels))
    weights = np.zeros((num_attributes, num_labels))
    for table, of in ((weights, STATE), (transitions, TRANSITION)):
        chosen = features[features["type"] == of]
        sources, targets = chosen["source"], chosen["target"]
        if (sources >= table.shape[0]).any() or (targets >= num_labels).any():
            raise _damaged("a feature speaks of a label or attribute that is not there")
        table[sources, targets] = chosen["weight"]
    return CrfsuiteModel(
        labels=tuple(labels),
        transitions=transitions,
        attributes={name: number for number, name in enumerate(attributes)},
        weights=weights,
    )


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
    """The names of a quark database, in id order."""
    magic, size, _, _, num_ids, list_offset = _unpack("<4s5I", data, offset)
    if magic != b"CQDB" or num_ids != number or offset + size > len(data):
        raise _damaged("a list of names is not where it should be")
    names = []
    for place in _unpack(f"<{number}I", data, offset + list_offset):
        _, length = _unpack("<2I", data, offset + place)
        begin = offset + place + 8
        raw = data[begin : begin + length - 1]
        if not 1 <= length <= len(data) - begin:
            raise _damaged("a name is cut off")
        names.append(raw.decode("utf-8", "replace"))
    return names


def _unpack(layout: str, data: bytes, offset: int) -> tuple[Any, ...]:
    try:
        return struct.unpack_from(layout, data, offset)
    except struct.error as error:
        raise _damaged("it is cut off") from error


def _damaged(why: str) -> FormatError:
    return FormatError(f"The CRFsuite model is damaged: {why}.")
