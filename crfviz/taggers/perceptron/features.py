"""What a perceptron sees of a word: named features, each as a 32-bit number.

A feature is a template with its value, `suffix3=ing`. Its number is the CRC-32 of that text, so
that a model holds numbers and no strings: two features share a number once in four thousand million
pairs, and then they share a weight.

Source:
    Ratnaparkhi (1996), section 2, for the templates; Collins (2002), section 4, takes the same.
"""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from crfviz.taggers.features import SHAPES, form, key, shape

Keys = NDArray[np.uint32]
Rows = NDArray[np.int64]

OUTSIDE = ("", "", "")  # what stands before and after the sentence: key, three last letters, shape
NUM_FEATURES = 25  # of a word


def feature_keys(words: Sequence[str]) -> Keys:
    """The features of every word of a sentence, as typed: (T, NUM_FEATURES) numbers."""
    seen = [OUTSIDE, OUTSIDE, *map(_outline, words), OUTSIDE, OUTSIDE]
    rows = [
        [*_own_keys(word), *_context_keys(*seen[position : position + 5])]
        for position, word in enumerate(words)
    ]
    return np.array(rows, dtype=np.uint32).reshape(len(words), NUM_FEATURES)


def word_keys(words: Sequence[str]) -> Keys:
    """The number of each word as such, for "previous tag x word": (T,)."""
    return np.array([_number(f"word={key(word)}") for word in words], dtype=np.uint32)


def rows_of(keys: Keys, known: Keys) -> Rows:
    """Where each key stands in the sorted `known`; `len(known)` where it does not."""
    if len(known) == 0:
        return np.zeros(keys.shape, dtype=np.int64)
    rows = np.searchsorted(known, keys)
    is_known = known[np.minimum(rows, len(known) - 1)] == keys
    return np.where(is_known, rows, len(known))


@lru_cache(maxsize=65536)
def _outline(word: str) -> tuple[str, str, str]:
    """What neighbours see of a word."""
    return key(word), key(word)[-3:], SHAPES[shape(word)]


@lru_cache(maxsize=65536)
def _own_keys(word: str) -> tuple[int, ...]:
    """Features of the word alone: itself, affixes of up to four letters, shape."""
    folded = form(word)
    lower, kind = folded.lower(), SHAPES[shape(word)]
    texts = [
        "bias",
        f"form={folded}",
        f"word={lower}",
        f"shape={kind}",
        f"shape={kind} suffix2={lower[-2:]}",
        f"hyphen={'-' in folded} digit={'0' in folded}",
        *(f"prefix{n}={lower[:n]}" for n in (1, 2, 3, 4)),
        *(f"suffix{n}={lower[-n:]}" for n in (1, 2, 3, 4)),
    ]
    return tuple(map(_number, texts))


def _context_keys(*window: tuple[str, str, str]) -> list[int]:
    """Features of the neighbours; `window` holds two words before, the word, and two after."""
    (two_before, _, _), before, word, after, (two_after, _, _) = window
    texts = [
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
    return [_number(text) for text in texts]


def _number(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))
