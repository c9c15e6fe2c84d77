"""Features of an uploaded model's words, in a file that is read on demand.

For W words with N features, V of them distinct, and F weights, `features.safetensors` has
    names (any,)    a JSON list of V names, as bytes
    begins (V + 1,), targets (F,), weights (F,)    the weights of each feature, and their tag ids
    counts (W,), ids (N,), values (N,)    the features of each word, word after word
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import ModelError
from crfviz.taggers.brought.parsed_model import FeatureWeights, WordFeatures
from crfviz.taggers.storage import are_texts, read_arrays, require_array, write_arrays

FEATURES_FILE = "features.safetensors"


def write_features(
    names: Mapping[int, str],
    weights: FeatureWeights,
    folder: Path,
    sentences: Sequence[WordFeatures],
    tags: Sequence[int],
) -> None:
    """Write the features of words, and the weights of these features.

    Args:
        names: names of all features, by id.
        weights: weights of all features.
        folder: the model folder.
        sentences: features of each sentence, in the model's order.
        tags: ids in `weights` of the model's K tags.
    """
    whole = WordFeatures(*map(np.concatenate, zip(*sentences, strict=True)))
    used, ids = np.unique(whole.ids, return_inverse=True)
    column = dict(zip(tags, range(len(tags)), strict=True))
    begins, targets, values = [0], list[int](), list[float]()
    for feature in used.tolist():
        own = slice(weights.begins[feature], weights.begins[feature + 1])
        for tag, weight in zip(weights.targets[own], weights.weights[own], strict=True):
            if int(tag) in column:
                targets.append(column[int(tag)])
                values.append(float(weight))
        begins.append(len(targets))
    listed = json.dumps([names[feature] for feature in used.tolist()])
    arrays = {
        "names": np.frombuffer(listed.encode(), np.uint8),
        "begins": np.array(begins),
        "targets": np.array(targets, dtype=np.uint32),
        "weights": np.array(values, dtype=np.float64),
        "counts": whole.counts,
        "ids": ids.astype(np.uint32),
        "values": whole.values,
    }
    write_arrays(folder / FEATURES_FILE, arrays)


def read_features(
    folder: Path, word: int, num_tags: int
) -> list[tuple[str, NDArray[np.float64]]] | None:
    """Return the features of a word with their scores (K,); None if the model has no features.

    Args:
        folder: the model folder.
        word: counted from 0 over all sentences.
        num_tags: K.

    Raises:
        ModelError: the file is damaged.
    """
    path = folder / FEATURES_FILE
    if not path.is_file():
        return None
    arrays = read_arrays(path)
    kinds = {"begins": "int", "targets": "uint", "weights": "float64"}
    kinds |= {"counts": "int", "ids": "uint", "values": "float64", "names": "uint8"}
    table = {name: require_array(path, arrays, name, (None,), kind) for name, kind in kinds.items()}
    weights = FeatureWeights(table["begins"], table["targets"], table["weights"])
    last = int(table["counts"][: word + 1].sum())
    own = slice(last - int(table["counts"][word]), last)
    try:
        names = json.loads(table["names"].tobytes())
        pairs = zip(table["ids"][own].tolist(), table["values"][own], strict=True)
        found = weights.by_name(((names[n], n, value) for n, value in pairs), num_tags)
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise ModelError(f"{path}: is damaged ({error})") from error
    if not are_texts([*found]):
        raise ModelError(f"{path}: tensor 'names' must hold a list of texts")
    return list(found.items())
