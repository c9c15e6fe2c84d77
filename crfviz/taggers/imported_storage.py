"""Sentences with given scores as a folder: config.json and model.safetensors.

The file holds `emissions.N` (T, K) of each sentence, and `transitions`, `start` and `end` once
where all sentences share them, else `transitions.N` and so on. All are float64, -inf where
forbidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.taggers.arrays import read_arrays, write_arrays
from crfviz.taggers.config import read_header, read_names, write_header
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON

IMPORTED = (
    "imported"  # what config.json says under `family`; `scores` holds the family of the scores
)
SCORES_FILE = "model.safetensors"
FAMILIES = (CRF, PERCEPTRON, HMM)
SHARED = ("transitions", "start", "end")


@dataclass(frozen=True, eq=False)
class Imported:
    """What the folder holds."""

    tags: tuple[str, ...]  # K names
    sentences: tuple[Potentials, ...]  # each with these tags and with tokens; no two have the same
    gold: tuple[tuple[str, ...] | None, ...]  # of each sentence its T tag names, where known
    family: str  # one of FAMILIES: what the scores are
    scheme: str | None = None  # "BIO" or None


def save_imported(folder: Path, imported: Imported) -> None:
    """Write both files of the folder, which is made if need be."""
    sentences = [
        {"tokens": list(chain.tokens or ()), "gold": gold and list(gold)}
        for chain, gold in zip(imported.sentences, imported.gold, strict=True)
    ]
    fields = {
        "scores": imported.family,
        "scheme": imported.scheme,
        "tags": list(imported.tags),
        "sentences": sentences,
    }
    write_header(folder, IMPORTED, fields)
    arrays: dict[str, NDArray[Any]] = {}
    first = imported.sentences[0]
    for name in SHARED:
        shared = getattr(first, name)
        if all(_same(shared, getattr(chain, name)) for chain in imported.sentences):
            arrays[name] = shared.numpy()
    for number, chain in enumerate(imported.sentences):
        for name in ("emissions", *SHARED):
            if name not in arrays:
                arrays[f"{name}.{number}"] = getattr(chain, name).numpy()
    write_arrays(folder / SCORES_FILE, arrays)


def load_imported(folder: Path) -> Imported:
    """Read and check the folder.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the other; says which and where.
    """
    path, content = read_header(folder, IMPORTED)
    family, scheme, sentences = (content.get(name) for name in ("scores", "scheme", "sentences"))
    tags = read_names(path, content, "tags", least=1)
    if family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise ModelError(f"{path}: field 'scores' must be one of {known}, got {family!r}")
    if scheme not in (None, "BIO"):
        raise ModelError(f"{path}: field 'scheme' must be null or \"BIO\", got {scheme!r}")
    if not isinstance(sentences, list) or not sentences:
        raise ModelError(f"{path}: field 'sentences' must be a list with a sentence in it")
    arrays = read_arrays(folder / SCORES_FILE)
    chains, gold = [], []
    for number, sentence in enumerate(sentences):
        place = f"{path}, sentence {number + 1}"
        if not isinstance(sentence, dict):
            raise ModelError(f"{place}: must be an object, got {type(sentence).__name__}")
        tokens = tuple(_words(place, sentence.get("tokens")))
        right = sentence.get("gold")
        gold.append(None if right is None else tuple(_words(place, right)))
        try:
            scores = [_array(arrays, name, number) for name in ("emissions", *SHARED)]
            chains.append(Potentials(*scores, tags=tags, tokens=tokens))
        except CrfvizError as error:
            raise ModelError(f"{place}: {error}") from error
    return Imported(tags, tuple(chains), tuple(gold), str(family), scheme)


def _array(arrays: Mapping[str, NDArray[Any]], name: str, number: int) -> NDArray[Any]:
    for key in (f"{name}.{number}", name):
        if key in arrays:
            return arrays[key]
    raise ModelError(f"tensor '{name}.{number}' is missing in {SCORES_FILE}")


def _words(place: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise ModelError(f"{place}: tokens and gold must be lists of non-empty strings")
    return value


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 - tensors
    return one is other or (one.shape == other.shape and np.array_equal(one, other))
