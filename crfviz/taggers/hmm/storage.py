"""A counted HMM as a folder: config.json, vocabulary.json and model.safetensors.

The file holds counts, as whole numbers; the probabilities are worked out when it is loaded.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.exceptions import ModelError
from crfviz.taggers.arrays import read_arrays, require_array, write_arrays
from crfviz.taggers.config import read_header, read_json_object, read_names, write_header
from crfviz.taggers.hmm.estimate import Smoothing, TagCounts
from crfviz.taggers.hmm.words import ANY, Events, parent
from crfviz.taggers.tagger import HMM

VOCABULARY_FILE = "vocabulary.json"
COUNTS_FILE = "model.safetensors"


@dataclass(frozen=True, eq=False)
class StoredHmm:
    """What the folder holds."""

    tags: tuple[str, ...]
    events: Events
    counts: TagCounts
    smoothing: Smoothing


def save_hmm(folder: Path, stored: StoredHmm) -> None:
    """Write the three files of the folder, which is made if need be."""
    fields = {"tags": list(stored.tags), "smoothing": asdict(stored.smoothing)}
    write_header(folder, HMM, fields)
    words = {"words": list(stored.events.words), "classes": list(stored.events.classes)}
    text = json.dumps(words, ensure_ascii=False, indent=0)
    (folder / VOCABULARY_FILE).write_text(text + "\n", encoding="utf-8")
    arrays = {name: table.astype(np.uint32) for name, table in vars(stored.counts).items()}
    arrays["words"] = _narrow(arrays["words"])
    arrays["classes"] = _narrow(arrays["classes"])
    write_arrays(folder / COUNTS_FILE, arrays)


def load_hmm(folder: Path) -> StoredHmm:
    """Read and check the folder.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the others; says which and where.
    """
    path, content = read_header(folder, HMM)
    tags = read_names(path, content, "tags", least=1)
    events = _events(folder / VOCABULARY_FILE)
    weights = folder / COUNTS_FILE
    arrays = read_arrays(weights)
    K, V, C = len(tags), len(events.words), len(events.classes)
    shapes: dict[str, tuple[int, ...]] = {
        "words": (V, K),
        "word_classes": (V,),
        "classes": (C, K),
        "hapaxes": (C,),
        "start": (K,),
        "transitions": (K, K),
        "end": (K,),
    }
    counts: dict[str, Any] = {}
    for name, shape in shapes.items():
        narrow = name in ("words", "classes") and name in arrays and arrays[name].dtype == np.uint16
        kind = np.uint16 if narrow else np.uint32
        table = require_array(weights, arrays, name, shape, kind)
        counts[name] = table.astype(np.int64 if name == "word_classes" else np.float64)
    if V and counts["word_classes"].max() >= C:
        raise ModelError(f"{weights}: tensor 'word_classes' must be below {C}")
    return StoredHmm(tags, events, TagCounts(**counts), _smoothing(path, content.get("smoothing")))


def _events(path: Path) -> Events:
    content = read_json_object(path)
    words = read_names(path, content, "words", least=0)
    classes = content.get("classes")
    if not isinstance(classes, list) or classes[:1] != [ANY]:
        raise ModelError(f"{path}: field 'classes' must be a list that begins with an empty text")
    rest = read_names(path, {"classes": classes[1:]}, "classes", least=0)
    places = {name: index for index, name in enumerate(rest)}
    for index, name in enumerate(rest):
        if places.get(parent(name), -1) > index:
            raise ModelError(f"{path}: field 'classes' must list {parent(name)!r} before {name!r}")
    return Events(words, (ANY, *rest))


def _smoothing(path: Path, value: object) -> Smoothing:
    names = [field.name for field in fields(Smoothing)]
    if not isinstance(value, dict) or set(value) != set(names):
        raise ModelError(f"{path}: field 'smoothing' must have the keys {', '.join(names)}")
    for name, number in value.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            good = False
        else:
            good = math.isfinite(number) and number > 0
        if not good:
            raise ModelError(
                f"{path}: field 'smoothing.{name}' must be a positive number, got {number!r}"
            )
    return Smoothing(**value)


def _narrow(table: Any) -> Any:  # noqa: ANN401 - NumPy's dtypes
    """The table in two bytes a count where they suffice."""
    return table.astype(np.uint16) if table.max(initial=0) <= np.iinfo(np.uint16).max else table
