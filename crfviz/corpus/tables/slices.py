"""Where the errors are: accuracy of parts of a corpus, and what repairing each part would win.

`win` is the share of all words that would become right if the part had no error. Parts of one
dimension share out all words; two dimensions can be crossed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.corpus.metrics import wilson
from crfviz.corpus.run.results import SEEN, Results
from crfviz.corpus.table import Table, TableRow, rate_cells
from crfviz.exceptions import CrfvizError
from crfviz.taggers.features import SHAPES
from crfviz.taggers.lexicon import LEXICON_FILE

LENGTHS = (5, 10, 20, 40)  # words, the upper end of each group but the last


@dataclass(frozen=True)
class Parts:
    """The part of every word, as an index into names."""

    numbers: NDArray[np.int64]  # (M,)
    names: Sequence[str]


def _length(results: Results) -> Parts:
    groups = np.searchsorted(LENGTHS, results.lengths)  # a length of 5 is in the first group
    starts = [1, *(end + 1 for end in LENGTHS)]
    names = [f"{start} to {end}" for start, end in zip(starts, LENGTHS, strict=False)]
    return Parts(np.repeat(groups, results.lengths), [*names, f"more than {LENGTHS[-1]}"])


def _position(results: Results) -> Parts:
    ends = np.cumsum(results.lengths)
    first, last = np.zeros((2, len(results.gold)), dtype=np.int64)
    first[ends - results.lengths] = 1
    last[ends - 1] = 1
    return Parts(first + 2 * last, ("inner", "first", "last", "only"))


def _seen(results: Results) -> Parts:
    if results.seen is None:
        raise CrfvizError(
            f"{results.tagger.name} has no {LEXICON_FILE}: what was seen in training is not known"
        )
    return Parts(results.seen.astype(np.int64), SEEN)


IN_TRAINING = "word in training"
_DIMENSIONS: dict[str, Callable[[Results], Parts]] = {
    "gold tag": lambda results: Parts(results.gold.astype(np.int64), results.tagger.tags),
    "sentence length": _length,
    "position": _position,
    IN_TRAINING: _seen,
    "capitalisation": lambda results: Parts(results.shapes.astype(np.int64), SHAPES),
}


def dimensions_of(results: Results) -> list[str]:
    """By what the words can be parted; by the training words only where these are known."""
    return [name for name in _DIMENSIONS if name != IN_TRAINING or results.seen is not None]


def slice_table(results: Results, dimensions: Sequence[str], decoder: str = "viterbi") -> Table:
    """One row for each part that has a word by one or two of `dimensions_of`, largest win first.

    Raises:
        CrfvizError: the words of the training are not known, and were asked for.
    """
    parts = [_DIMENSIONS[name](results) for name in dimensions]
    sizes = [len(part.names) for part in parts]
    cells = np.ravel_multi_index([part.numbers for part in parts], sizes)
    words = np.bincount(cells, minlength=math.prod(sizes))
    right = np.bincount(cells[results.right(decoder)], minlength=math.prod(sizes))
    rows = []
    for cell in np.flatnonzero(words).tolist():
        places = np.unravel_index(cell, sizes)
        names = [part.names[int(place)] for part, place in zip(parts, places, strict=True)]
        rows.append(_row(dimensions, names, (int(words[cell]), int(right[cell])), len(cells)))
    return sorted(rows, key=lambda row: (-float(row["win"] or 0), str(row)))


def every_slice(results: Results) -> Table:
    """The parts of every single dimension in one table, the largest win first."""
    rows: Table = []
    for name in dimensions_of(results):
        for row in slice_table(results, [name]):
            part = row.pop(name)
            rows.append({"dimension": name, "part": part, **row})
    return sorted(rows, key=lambda row: -float(row["win"] or 0))


def _row(
    dimensions: Sequence[str], part: Sequence[str], count: tuple[int, int], total: int
) -> TableRow:
    words, right = count
    return {
        **dict(zip(dimensions, part, strict=True)),
        "words": words,
        "wrong": words - right,
        **rate_cells("words_right", wilson(right, words)),
        "win": (words - right) / total,
    }
