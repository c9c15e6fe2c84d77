"""Sentences of a padded batch of scores: which axis is the batch, and how long each sentence is."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import MAX_SENTENCES, Reading, require_words

Arrays = Mapping[str, NDArray[Any]]  # by usual name, see `scores_file`


def sentences_of(arrays: Arrays, *, batch_first: bool) -> list[Arrays]:
    """Return the arrays of each sentence of a padded batch.

    Raises:
        FormatError: the shapes differ, a sentence has holes, or there are too many.
    """
    turned = {
        name: array if batch_first else array.swapaxes(0, 1)
        for name, array in arrays.items()
        if name in ("emissions", "mask", "tokens", "gold", "word_ids")
    }
    for name in ("mask", "tokens", "gold", "word_ids"):
        if name in turned and turned[name].shape != turned["emissions"].shape[:2]:
            raise FormatError(
                f"{name} must be {turned['emissions'].shape[:2]} to match the emissions, "
                f"got {turned[name].shape}."
            )
    number = len(turned["emissions"])
    if number > MAX_SENTENCES:
        raise FormatError(f"Expected at most {MAX_SENTENCES:,} sentences, got {number:,}.")
    lengths = _lengths({**arrays, **turned})
    require_words(sum(lengths))
    turned.pop("mask", None)
    return [
        {name: array[n, :length] for name, array in turned.items()}
        for n, length in enumerate(lengths)
    ]


def batch_is_first(arrays: Arrays, reading: Reading) -> tuple[bool, list[str]]:
    """Return whether the first axis is the batch, and a note if this is an assumption.

    Raises:
        FormatError: `batch_first` has texts.
    """
    if "batch_first" in arrays:
        return is_true(arrays, "batch_first"), []
    shape = arrays["emissions"].shape
    if "lengths" in arrays and shape[0] != shape[1]:
        return arrays["lengths"].shape == shape[:1], []
    for name in ("mask", "tokens"):
        if name in arrays and arrays[name].ndim == 2 and arrays[name].size:
            filled = _filled(arrays[name])
            rows, columns = _is_prefix(filled), _is_prefix(filled.T)
            if rows and not columns:
                return True, []
            if columns and not rows and reading.batch_first is None:
                return False, [
                    f"The emissions {shape} are taken as (T, B, K), {shape[1]:,} sentences: only "
                    "so has each of them words first, then padding. If they are (B, T, K), "
                    f"“{name}” has holes: cut these words out, and bring the file again."
                ]
    if reading.batch_first is None:
        return True, [f"The emissions {shape} are taken as (B, T, K): nothing tells."]
    return reading.batch_first, []


def _lengths(arrays: Arrays) -> list[int]:
    number, longest = arrays["emissions"].shape[:2]
    if "lengths" in arrays:
        lengths = arrays["lengths"]
        fits = lengths.shape == (number,) and lengths.dtype.kind in "iu"
        if not fits or not ((lengths >= 1) & (lengths <= longest)).all():
            raise FormatError(f"lengths must be {number} whole numbers from 1 to {longest}.")
        return list(map(int, lengths))
    for name in ("mask", "tokens"):
        if name in arrays:
            filled = _filled(arrays[name])
            if not _is_prefix(filled):
                raise FormatError(f"{name}: each sentence must have words first, then padding.")
            return list(map(int, filled.sum(1)))
    return [longest] * number


def is_true(arrays: Arrays, name: str) -> bool:
    """Return whether an array has a true value; false without the array.

    Raises:
        FormatError: it has texts.
    """
    if name not in arrays:
        return False
    if arrays[name].dtype.kind not in "biuf":
        raise FormatError(f"{name} must be true or false, got {arrays[name].dtype}.")
    return bool(arrays[name].any())


def _filled(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return booleans, true at words, from a mask or from tokens that are not empty."""
    if array.dtype.kind in "US":
        return np.asarray(np.strings.str_len(array) > 0)
    return array.astype(bool)


def _is_prefix(filled: NDArray[np.bool_]) -> bool:
    """Return whether each row is true first, at least once, then false."""
    return bool(filled.size and filled[:, 0].all() and (filled[:, 1:] <= filled[:, :-1]).all())
