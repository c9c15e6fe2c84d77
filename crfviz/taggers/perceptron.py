"""Averaged perceptron, or CRF over the same features: sparse features, storage and the tagger.

A feature is a template with a value, such as `suffix3=ing`. Its number is the CRC-32 of this text,
so a model holds numbers and no strings. About one in four thousand million pairs of features
collides; such features share a weight.

Source:
    Ratnaparkhi (1996), section 2, for the templates; Collins (2002), section 4, takes the same.

    emissions[t, k]      = sum of the weights of (feature, k) over the features of word t
    transitions[t, j, k] = weight of (previous tag j, k) + weight of (previous tag j, word t, k)

The transitions differ from step to step, because the last feature depends on the word. Perceptron
training makes the best path the gold path; its weights are not logarithms of probabilities. Those
of a CRF are: it is stored with `updates` "likelihood", and without word transitions.

The folder has config.json and model.safetensors. Features are numbers (see `features`). A table of
weights is mostly zero, so it is packed into three short arrays:

    counts   (N,)  uint8 or uint16   how many cells of a row are not zero
    columns  (M,)  uint8 or uint16   their columns, row after row
    values   (M,)  int8 or float16   their values, in units of `scale`

A table has one scale: its largest absolute value, at least 1, over 127. That is coarse but enough
for a perceptron, whose weights are sums of ones. The weights of a CRF have half precision and the
scale 1.

Source:
    Collins (2002), "Discriminative training methods for hidden Markov models".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError
from crfviz.taggers.features import SHAPES, form, key, shape
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.storage import (
    WEIGHTS_FILE,
    read_arrays,
    read_choice,
    read_header,
    require_array,
    write_arrays,
    write_header,
)
from crfviz.taggers.tagger import CRF, PERCEPTRON, Contribution
from crfviz.text.schemes import scheme_of

Keys = NDArray[np.uint32]
Rows = NDArray[np.int64]

OUTSIDE = ("", "", "")  # padding around a sentence: key, three last letters, shape
NUM_FEATURES = 25  # features of each word
# Offsets of the words that each feature looks at, relative to its own word.
REACHES = (
    *[()],  # bias
    *[(0,)] * 13,
    *[(-1,), (1,), (-2,), (2,), (-1,), (1,)],
    *[(-1, 0), (0, 1), (-1, 1), (-1, 0), (0, 1)],
)

UPDATES = ("viterbi", "greedy")
LIKELIHOOD = "likelihood"  # in place of updates, marks a CRF
TRAININGS = (*UPDATES, LIKELIHOOD)
PARTS = {"counts": "uint", "columns": "uint", "values": "", "scale": "float32"}  # dtypes
LARGEST = np.iinfo(np.int8).max
LARGEST_SCALE = 1e30  # sums of weights must not leave float32


def feature_keys(words: Sequence[str]) -> Keys:
    """Return the feature numbers of every word of a sentence: (T, NUM_FEATURES)."""
    seen = [OUTSIDE, OUTSIDE, *map(_outline, words), OUTSIDE, OUTSIDE]
    rows = [
        [*_own_keys(word), *map(_number, _context_texts(*seen[position : position + 5]))]
        for position, word in enumerate(words)
    ]
    return np.array(rows, dtype=np.uint32).reshape(len(words), NUM_FEATURES)


def word_keys(words: Sequence[str]) -> Keys:
    """Return the key of each word's own feature, for "previous tag x word": (T,)."""
    return np.array([_number(f"word={key(word)}") for word in words], dtype=np.uint32)


def rows_of(keys: Keys, known: Keys) -> Rows:
    """Return the index of each key in the sorted `known`; `len(known)` if it is missing."""
    if len(known) == 0:
        return np.zeros(keys.shape, dtype=np.int64)
    rows = np.searchsorted(known, keys)
    is_known = known[np.minimum(rows, len(known) - 1)] == keys
    return np.where(is_known, rows, len(known))


@lru_cache(maxsize=65536)
def _outline(word: str) -> tuple[str, str, str]:
    """Return the part of a word that its neighbours' features use."""
    return key(word), key(word)[-3:], SHAPES[shape(word)]


def feature_texts(words: Sequence[str], position: int) -> list[str]:
    """Return the features of one word as texts, in the order of `feature_keys`."""
    seen = [OUTSIDE, OUTSIDE, *map(_outline, words), OUTSIDE, OUTSIDE]
    return [*_own_texts(words[position]), *_context_texts(*seen[position : position + 5])]


@lru_cache(maxsize=65536)
def _own_keys(word: str) -> tuple[int, ...]:
    return tuple(map(_number, _own_texts(word)))


def _own_texts(word: str) -> list[str]:
    """Return features of the word alone: itself, affixes of up to four letters, shape."""
    folded = form(word)
    lower, kind = folded.lower(), SHAPES[shape(word)]
    return [
        "bias",
        f"form={folded}",
        f"word={lower}",
        f"shape={kind}",
        f"shape={kind} suffix2={lower[-2:]}",
        f"hyphen={'-' in folded} digit={'0' in folded}",
        *(f"prefix{n}={lower[:n]}" for n in (1, 2, 3, 4)),
        *(f"suffix{n}={lower[-n:]}" for n in (1, 2, 3, 4)),
    ]


def _context_texts(*window: tuple[str, str, str]) -> list[str]:
    """Return features of neighbours; `window` is two words before, the word, and two after."""
    (two_before, _, _), before, word, after, (two_after, _, _) = window
    return [
        f"before={before[0]}",
        f"after={after[0]}",
        f"two before={two_before}",
        f"two after={two_after}",
        f"before suffix={before[1]}",
        f"after suffix={after[1]}",
        f"pair={before[0]} {word[0]}",
        f"pair after={word[0]} {after[0]}",
        f"around={before[0]} {after[0]}",
        f"shapes={before[2]} {word[2]}",
        f"shapes after={word[2]} {after[2]}",
    ]


def _number(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


Floats = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]


class PerceptronTagger(SentenceTagger):
    """A perceptron, or a CRF with its features, from a model folder or from training."""

    def __init__(self, folder: Path, trained: "Perceptron | None" = None) -> None:
        model = trained or load_perceptron(folder)
        super().__init__(folder, model.tags, scheme_of(model.tags))
        self.model = model
        self.updates = model.updates  # one of TRAININGS
        self.probabilistic = model.updates == LIKELIHOOD
        self.family = CRF if self.probabilistic else PERCEPTRON

    def contributions(self, words: Sequence[str], position: int) -> list[Contribution]:
        """Return the features of a word; their scores add up to its emissions."""
        rows = rows_of(feature_keys(words)[position], self.model.features)
        scores = self.model.emissions[rows].astype(np.float64)
        texts = feature_texts(words, position)
        return [
            Contribution(
                text, tuple(t for n in reach if 0 <= (t := position + n) < len(words)), row
            )
            for text, reach, row in zip(texts, REACHES, scores, strict=True)
        ]

    def _score(self, words: tuple[str, ...]) -> Potentials:
        model = self.model
        rows = rows_of(feature_keys(words), model.features)  # (T, features)
        own = rows_of(word_keys(words[1:]), model.words)  # (T-1,)
        return Potentials(
            model.emissions[rows].sum(axis=1),
            model.transitions + model.word_transitions[own],
            model.start,
            model.end,
            tags=self.tags,
            tokens=words,
        )


@dataclass(frozen=True, eq=False)
class Perceptron:
    """Averaged weights. The last row of each (N + 1) or (W + 1) table is 0, for unknown keys."""

    tags: tuple[str, ...]  # K, in id order
    updates: str  # decoder during training; LIKELIHOOD for a CRF
    features: Keys  # (N,) in ascending order
    emissions: Floats  # (N + 1, K)
    words: Keys  # (W,) in ascending order
    word_transitions: Floats  # (W + 1, K, K): previous tag x word; from, to
    transitions: Floats  # (K, K): previous tag
    start: Floats  # (K,)
    end: Floats  # (K,)


def save_perceptron(folder: Path, model: Perceptron) -> None:
    """Write both files of the folder, without the weights that round to 0."""
    num_tags = len(model.tags)
    flat = model.word_transitions[:-1].reshape(-1, num_tags * num_tags)
    arrays = {
        "transitions": model.transitions,
        "start": model.start,
        "end": model.end,
        **_packed("features", model.features, model.emissions[:-1], model.updates),
        **_packed("words", model.words, flat, model.updates),
    }
    write_header(folder, PERCEPTRON, {"tags": list(model.tags), "updates": model.updates})
    write_arrays(folder / WEIGHTS_FILE, arrays)


def load_perceptron(folder: Path) -> Perceptron:
    """Read and check the model folder of a perceptron."""
    path, content, tags = read_header(folder, PERCEPTRON)
    updates = read_choice(path, content, "updates", TRAININGS, " or ".join(map(repr, TRAININGS)))
    weights = folder / WEIGHTS_FILE
    arrays = read_arrays(weights)
    K = len(tags)
    features, emissions = _keyed(weights, arrays, "features", K)
    words, word_transitions = _keyed(weights, arrays, "words", K * K)
    return Perceptron(
        tags=tags,
        updates=updates,
        features=features,
        emissions=emissions,
        words=words,
        word_transitions=word_transitions.reshape(-1, K, K),
        transitions=require_array(weights, arrays, "transitions", (K, K)),
        start=require_array(weights, arrays, "start", (K,)),
        end=require_array(weights, arrays, "end", (K,)),
    )


def pack(name: str, table: Floats, updates: str = UPDATES[0]) -> Arrays:
    """Return the arrays of an (N, M) table, named `NAME.counts` and so on.

    Values are rounded to multiples of the scale, those of a CRF to half precision.
    """
    if updates == LIKELIHOOD:
        scale, rounded = 1.0, table.astype(np.float16)
    else:
        scale = max(float(np.abs(table).max(initial=0.0)), 1.0) / LARGEST
        rounded = np.round(table / scale).astype(np.int8)
    rows, columns = np.nonzero(rounded)
    whole = np.uint8 if table.shape[1] <= np.iinfo(np.uint8).max else np.uint16
    return {
        f"{name}.counts": np.bincount(rows, minlength=len(table)).astype(whole),
        f"{name}.columns": columns.astype(whole),
        f"{name}.values": rounded[rows, columns],
        f"{name}.scale": np.array([scale], dtype=np.float32),
    }


def unpack(path: Path, arrays: Mapping[str, NDArray[Any]], name: str, width: int) -> Floats:
    """Return the table of packed arrays and a row of zeros for unknown features: (N + 1, M).

    `width` is M; `path` is used in messages.
    """
    counts, columns, values, scale = (
        require_array(path, arrays, f"{name}.{part}", (None,), kind) for part, kind in PARTS.items()
    )
    total = int(counts.sum(dtype=np.int64))
    if values.dtype not in (np.int8, np.float16):
        raise ModelError(
            f"{path}: tensor '{name}.values' must be int8 or float16, got {values.dtype}"
        )
    if not total == len(columns) == len(values):
        raise ModelError(
            f"{path}: tensors '{name}.columns' and '{name}.values' must have {total} numbers to "
            f"match '{name}.counts', got {len(columns)} and {len(values)}"
        )
    if total and int(columns.max()) >= width:
        raise ModelError(
            f"{path}: tensor '{name}.columns' must be below {width}, got {columns.max()}"
        )
    if len(scale) != 1 or not 0 < scale[0] < LARGEST_SCALE:
        raise ModelError(
            f"{path}: tensor '{name}.scale' must be one positive number below {LARGEST_SCALE:g}, "
            f"got {str(scale)[:80]}"
        )
    table = np.zeros((len(counts) + 1, width), dtype=np.float32)
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    table[rows, columns] = values.astype(np.float32) * scale[0]
    return table


def _packed(name: str, keys: Keys, table: Floats, updates: str) -> Arrays:
    """Return the packed table without the rows that round to 0."""
    packed = pack(name, table, updates)
    kept = packed[f"{name}.counts"] > 0
    counts = packed[f"{name}.counts"][kept]
    return {**packed, f"{name}.counts": counts, f"{name}.keys": keys[kept]}


def _keyed(path: Path, arrays: Arrays, name: str, width: int) -> tuple[Keys, Floats]:
    """Return the keys of the rows of a table, and the table."""
    keys = require_array(path, arrays, f"{name}.keys", (None,), "uint32")
    if (keys[1:] <= keys[:-1]).any():
        raise ModelError(f"{path}: tensor '{name}.keys' must be in ascending order")
    table = unpack(path, arrays, name, width)
    if len(keys) != len(table) - 1:
        raise ModelError(
            f"{path}: tensor '{name}.counts' must have {len(keys)} numbers to match "
            f"'{name}.keys', got {len(table) - 1}"
        )
    return keys, table
