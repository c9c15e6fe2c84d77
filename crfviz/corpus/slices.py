"""Where the errors are: accuracy of parts of a corpus, and what repairing each part would win.

`win` is the share of all words that would become right if the part had no error. Parts of one
dimension share out all words; two dimensions can be crossed.
"""

from collections.abc import Callable, Sequence

import numpy as np

from crfviz.corpus.metrics import wilson
from crfviz.corpus.results import Results
from crfviz.corpus.tables import Row, Table, rate_cells
from crfviz.taggers.features import SHAPES, shape

LENGTHS = (5, 10, 20, 40)  # words, the upper end of each group but the last


def _gold(results: Results) -> list[str]:
    return [results.tagger.tags[tag] for tag in results.gold.tolist()]


def _length(results: Results) -> list[str]:
    names = _group_names()
    groups = np.searchsorted(LENGTHS, results.lengths)  # a length of 5 is in the first group
    return [names[group] for group in groups[results.owners].tolist()]


def _position(results: Results) -> list[str]:
    return [
        "only" if length == 1 else "first" if t == 0 else "last" if t == length - 1 else "inner"
        for length in results.lengths.tolist()
        for t in range(length)
    ]


def _shape(results: Results) -> list[str]:
    known: dict[str, str] = {}
    words = [word for sentence in results.sentences for word in sentence.tokens]
    for word in set(words):
        known[word] = SHAPES[shape(word)]
    return [known[word] for word in words]


DIMENSIONS: dict[str, Callable[[Results], list[str]]] = {
    "gold tag": _gold,
    "sentence length": _length,
    "position": _position,
    "capitalisation": _shape,
}  # each names the part of every word


def slice_table(results: Results, dimensions: Sequence[str], decoder: str = "viterbi") -> Table:
    """One row for each part that has a word, the largest win first.

    Args:
        results: of a run.
        dimensions: one or two different keys of `DIMENSIONS`.
        decoder: whose errors count.
    """
    parts = list(zip(*(DIMENSIONS[name](results) for name in dimensions), strict=True))
    right = results.right(decoder).tolist()
    counts: dict[tuple[str, ...], list[int]] = {}
    for part, is_right in zip(parts, right, strict=True):
        count = counts.setdefault(part, [0, 0])
        count[0] += 1
        count[1] += is_right
    rows = [_row(dimensions, part, count, len(right)) for part, count in counts.items()]
    return sorted(rows, key=lambda row: (-float(row["win"] or 0), str(row)))


def every_slice(results: Results) -> Table:
    """The parts of every single dimension in one table, the largest win first."""
    rows: Table = []
    for name in DIMENSIONS:
        for row in slice_table(results, [name]):
            part = row.pop(name)
            rows.append({"dimension": name, "part": part, **row})
    return sorted(rows, key=lambda row: -float(row["win"] or 0))


def _row(dimensions: Sequence[str], part: tuple[str, ...], count: Sequence[int], total: int) -> Row:
    words, right = count
    return {
        **dict(zip(dimensions, part, strict=True)),
        "words": words,
        "wrong": words - right,
        **rate_cells("words_right", wilson(right, words)),
        "win": (words - right) / total,
    }


def _group_names() -> list[str]:
    starts = [1, *(end + 1 for end in LENGTHS)]
    names = [f"{start} to {end}" for start, end in zip(starts, LENGTHS, strict=False)]
    return [*names, f"more than {LENGTHS[-1]}"]
