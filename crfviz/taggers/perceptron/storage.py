"""A perceptron as a folder: config.json and model.safetensors.

Features are numbers (see `perceptron_features`), weights are packed (see `sparse`). Everything is
checked before it is used, and nothing is ever unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import ModelError
from crfviz.taggers.arrays import read_arrays, require_array, write_arrays
from crfviz.taggers.config import read_header, read_names, write_header
from crfviz.taggers.perceptron.features import Keys
from crfviz.taggers.perceptron.sparse import pack, unpack
from crfviz.taggers.tagger import PERCEPTRON

WEIGHTS_FILE = "model.safetensors"
UPDATES = ("viterbi", "greedy")

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Perceptron:
    """The averaged weights. In each table of N rows a row of zeros comes last, for the unknown."""

    tags: tuple[str, ...]  # K, in id order
    updates: str  # "viterbi" or "greedy": how it was decoded while it was trained
    features: Keys  # (N,) in ascending order
    emissions: Table  # (N + 1, K)
    words: Keys  # (W,) in ascending order
    word_transitions: Table  # (W + 1, K, K): previous tag x word; from, to
    transitions: Table  # (K, K): previous tag
    start: Table  # (K,)
    end: Table  # (K,)


def save_perceptron(folder: Path, model: Perceptron) -> None:
    """Write both files of the folder, without the weights that round to 0."""
    num_tags = len(model.tags)
    flat = model.word_transitions[:-1].reshape(-1, num_tags * num_tags)
    arrays = {
        "transitions": model.transitions,
        "start": model.start,
        "end": model.end,
        **_packed("features", model.features, model.emissions[:-1]),
        **_packed("words", model.words, flat),
    }
    write_header(folder, PERCEPTRON, {"tags": list(model.tags), "updates": model.updates})
    write_arrays(folder / WEIGHTS_FILE, arrays)


def load_perceptron(folder: Path) -> Perceptron:
    """Read and check the folder.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the other; says which and where.
    """
    path, content = read_header(folder, PERCEPTRON)
    tags = read_names(path, content, "tags", least=1)
    updates = content.get("updates")
    if updates not in UPDATES:
        raise ModelError(
            f"{path}: field 'updates' must be {' or '.join(map(repr, UPDATES))}, got {updates!r}"
        )
    weights = folder / WEIGHTS_FILE
    arrays = read_arrays(weights)
    K = len(tags)
    features, words = (_keys(weights, arrays, name) for name in ("features", "words"))
    emissions = unpack(weights, arrays, "features", K)
    word_transitions = unpack(weights, arrays, "words", K * K).reshape(-1, K, K)
    for name, keys, table in (
        ("features", features, emissions),
        ("words", words, word_transitions),
    ):
        if len(keys) != len(table) - 1:
            raise ModelError(
                f"{weights}: tensor '{name}.counts' must have {len(keys)} numbers to match "
                f"'{name}.keys', got {len(table) - 1}"
            )
    return Perceptron(
        tags=tags,
        updates=updates,
        features=features,
        emissions=emissions,
        words=words,
        word_transitions=word_transitions,
        transitions=require_array(weights, arrays, "transitions", (K, K)),
        start=require_array(weights, arrays, "start", (K,)),
        end=require_array(weights, arrays, "end", (K,)),
    )


def _packed(name: str, keys: Keys, table: Table) -> dict[str, NDArray[Any]]:
    """The packed table without the rows that round to nothing."""
    packed = pack(name, table)
    kept = packed[f"{name}.counts"] > 0
    counts = packed[f"{name}.counts"][kept]
    return {**packed, f"{name}.counts": counts, f"{name}.keys": keys[kept]}


def _keys(path: Path, arrays: dict[str, NDArray[Any]], name: str) -> Keys:
    keys = require_array(path, arrays, f"{name}.keys", (None,), np.uint32)
    if (keys[1:] <= keys[:-1]).any():
        raise ModelError(f"{path}: tensor '{name}.keys' must be in ascending order")
    return keys
