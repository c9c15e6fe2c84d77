"""Where the errors are: accuracy of parts of a corpus, and what repairing each part would win.

`win` is the share of all words that would become right if the part had no error. Parts of one
dimension share out all words; two dimensions can be crossed.
"""

import math
from collections.abc import Sequence

import numpy as np

from crfviz.corpus.counts.parts import NAMES, parts_of
from crfviz.corpus.counts.tally import Counted
from crfviz.corpus.metrics import wilson
from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, TableRow, rate_cells


def slice_table(results: Results, dimensions: Sequence[str], decoder: str = "viterbi") -> Table:
    """One row for each part that has a word by one or two of `dimensions_of`, largest win first.

    Raises:
        CrfvizError: the words of the training are not known, and were asked for.
    """
    parts = [parts_of(results, name) for name in dimensions]
    sizes = [len(part.names) for part in parts]
    cells = np.ravel_multi_index([part.numbers for part in parts], sizes)
    words = np.bincount(cells, minlength=math.prod(sizes))
    right = np.bincount(cells[results.right(decoder)], minlength=math.prod(sizes))
    rows = []
    for cell in np.flatnonzero(words).tolist():
        places = np.unravel_index(cell, sizes)
        names = [part.names[int(place)] for part, place in zip(parts, places, strict=True)]
        rows.append(_row(dimensions, names, (int(words[cell]), int(right[cell])), len(cells)))
    return _by_win(rows)


def every_slice(found: Counted) -> Table:
    """The parts of every single dimension in one table, the largest win first."""
    total, rows = found.tally.size["words"], list[TableRow]()
    for name, counts in found.tally.parts.items():
        parts = zip(NAMES[name](found.tagger), counts, strict=True)
        of_one = [_row([name], [part], (n, right), total) for part, (n, right) in parts if n]
        for row in _by_win(of_one):
            part = row.pop(name)
            rows.append({"dimension": name, "part": part, **row})
    return sorted(rows, key=lambda row: -float(row["win"] or 0))


def _by_win(rows: Table) -> Table:
    return sorted(rows, key=lambda row: (-float(row["win"] or 0), str(row)))


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
