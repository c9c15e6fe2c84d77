"""Tables of errors: by kind, pair of tags, transition and part of the corpus.

Kinds are those of `crfviz.chain.questions.triage`; `crfviz.corpus.run.results` says which errors
are attributed to a transition. `win` is the share of all words that would become right if a part
had no errors.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from crfviz.chain.edits import Move
from crfviz.chain.questions.triage import KINDS
from crfviz.corpus.counts.exact import UNIT
from crfviz.corpus.counts.run_counts import NAMES, CountedRun, RunCounts, parts_of
from crfviz.corpus.metrics import wilson
from crfviz.corpus.run.errors import Error
from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, TableRow, rate_cells
from crfviz.text.sentences import Sentence


def kind_table(tally: RunCounts) -> Table:
    """Return errors and wrong words of each kind, in the order of `KINDS`."""
    rows: Table = []
    for kind in KINDS:
        errors, words = tally.kinds.get(kind, (0, 0))
        share = errors / max(1, tally.num_errors)
        rows.append({"kind": kind, "errors": errors, "words": words, "share": share})
    return rows


def pair_table(tally: RunCounts) -> Table:
    """Count wrong words by gold and predicted tag, most frequent first, and by kind of error."""
    words = {pair: sum(kinds.values()) for pair, kinds in tally.pairs.items()}
    total, rows = sum(words.values()), list[TableRow]()
    for pair, number in sorted(words.items(), key=lambda item: -item[1]):
        gold, predicted = json.loads(pair)
        by_kind: TableRow = {kind: tally.pairs[pair].get(kind, 0) for kind in KINDS}
        both: TableRow = {"gold": gold, "predicted": predicted}
        rows.append({**both, "words": number, "share": number / total, **by_kind})
    return rows


def transition_table(tally: RunCounts) -> Table:
    """Return errors by the transition that causes them, most frequent first.

    `share` is the share of all errors; `share_so_far` is the sum of the shares up to this row.
    `step_gap` is the mean score of the wrong step minus that of the gold step, in nats; infinite if
    the gold step is forbidden.
    """
    moves = sorted(_moves(tally), key=lambda move: (-move.errors, move.chosen, move.gold))
    shares = _shares([move.errors for move in moves], tally)
    return [
        {
            "chosen": " → ".join(move.chosen),
            "gold": " → ".join(move.gold),
            **cells,
            "step_gap": move.gap,
        }
        for move, cells in zip(moves, shares, strict=True)
    ]


def weight_table(tally: RunCounts) -> Table:
    """Return errors by the transition weight that is too strong, most frequent first."""
    counts: Counter[Move] = Counter()
    for move in _moves(tally):
        counts[move.chosen] += move.errors
    weights = counts.most_common()
    shares = _shares([number for _, number in weights], tally)
    return [
        {"from": before, "to": after, **cells}
        for ((before, after), _), cells in zip(weights, shares, strict=True)
    ]


class _Moves(NamedTuple):
    """The transitions of the best path and of gold at a step, and their errors."""

    chosen: Move
    gold: Move
    errors: int
    gap: float  # mean step gap in nats


def _moves(tally: RunCounts) -> list[_Moves]:
    rows = []
    for moves, (errors, gaps, endless) in tally.moves.items():
        chosen, gold = (tuple(move) for move in json.loads(moves))
        gap = math.inf if endless else gaps / UNIT / errors
        rows.append(_Moves(chosen, gold, errors, gap))
    return rows


def conll(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> str:
    """Return the sentences with errors as CoNLL columns: word, gold tag, predicted tag, kind.

    The kind of right words is `_`. Columns are separated by TAB.
    """
    by_sentence: dict[int, list[Error]] = defaultdict(list)
    for error in errors:
        by_sentence[error.sentence].append(error)
    return "".join(
        "".join(f"{line}\n" for line in _lines(sentences[number], wrong)) + "\n"
        for number, wrong in sorted(by_sentence.items())
    )


def _lines(sentence: Sentence, errors: Sequence[Error]) -> Iterator[str]:
    tags = sentence.tags or ()
    predicted, kinds = list(tags), ["_"] * len(tags)
    for error in errors:
        predicted[error.first : error.last + 1] = error.predicted
        kinds[error.first : error.last + 1] = [error.triage.kind] * len(error.gold)
    for cells in zip(sentence.tokens, tags, predicted, kinds, strict=True):
        yield "\t".join(cells)


def _shares(numbers: Sequence[int], tally: RunCounts) -> Table:
    total = tally.num_errors
    return [
        {"errors": number, "share": number / total, "share_so_far": so_far / total}
        for number, so_far in zip(numbers, accumulate(numbers), strict=True)
    ]


def slice_table(results: Results, dimensions: Sequence[str]) -> Table:
    """Return a row for each slice by one or two of `dimensions_of`, largest win first.

    Raises:
        CrfvizError: a dimension is `IN_TRAINING`, but the tagger has no lexicon.
    """
    parts = [parts_of(results, name) for name in dimensions]
    sizes = [len(part.names) for part in parts]
    cells = np.ravel_multi_index([part.numbers for part in parts], sizes)
    words = np.bincount(cells, minlength=math.prod(sizes))
    right = np.bincount(cells[results.right("viterbi")], minlength=math.prod(sizes))
    rows = []
    for cell in np.flatnonzero(words).tolist():
        places = np.unravel_index(cell, sizes)
        names = [part.names[int(place)] for part, place in zip(parts, places, strict=True)]
        rows.append(_slice_row(dimensions, names, (int(words[cell]), int(right[cell])), len(cells)))
    return _by_win(rows)


def all_slices(run: CountedRun) -> Table:
    """Return the slices by every single dimension in one table, largest win first."""
    total, rows = run.tally.size["words"], list[TableRow]()
    for name, counts in run.tally.parts.items():
        parts = zip(NAMES[name](run.tagger), counts, strict=True)
        of_one = [_slice_row([name], [part], (n, right), total) for part, (n, right) in parts if n]
        for row in _by_win(of_one):
            part = row.pop(name)
            rows.append({"dimension": name, "part": part, **row})
    return sorted(rows, key=lambda row: -float(row["win"] or 0))


def _by_win(rows: Table) -> Table:
    return sorted(rows, key=lambda row: (-float(row["win"] or 0), str(row)))


def _slice_row(
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
