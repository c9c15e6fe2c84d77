"""Whether probabilities can be trusted: calibration of words, entities and sentences.

A calibration table has a row for each of the 15 bins of equal width that is not empty. Words are
judged by their largest marginal, sentences by the probability of the Viterbi path, and entities of
the Viterbi path by their exact probability (`crfviz.chain.questions.entities`).

Risk against coverage: the words of the largest marginals first, how many of the first c % are
right? Words whose doubt, 1 less the largest marginal, is the same to 1 part in 256 go together:
where not all of them are kept, their share of right ones is taken.
"""

from crfviz.corpus.counts.certainty import Bins, expected_error
from crfviz.corpus.counts.exact import UNIT
from crfviz.corpus.counts.tally import Tally
from crfviz.corpus.metrics import NUM_BINS, wilson
from crfviz.corpus.table import Table, TableRow, rate_cells

COVERAGES = tuple(range(5, 101, 5))  # per cent


def calibration_table(tally: Tally) -> Table:
    """One row for each kind of prediction and bin that is not empty."""
    return [{"of": kind, **row} for kind, bins in tally.bins.items() for row in _rows(bins)]


def ece_table(tally: Tally) -> Table:
    """The expected calibration error of each kind of prediction."""
    return [
        {
            "of": kind,
            "predictions": sum(count for count, _, _ in bins),
            "ece": expected_error(bins),
        }
        for kind, bins in tally.bins.items()
    ]


def coverage_table(tally: Tally) -> Table:
    """Share of words right among the surest, by share of words kept."""
    total, rows = tally.size["words"], list[TableRow]()
    surest = iter(sorted(tally.doubts.items()))
    before = right_before = words = right = doubt = 0  # of the doubts so far, and of the last one
    for coverage in COVERAGES:
        kept = max(1, round(total * coverage / 100))
        while before + words < kept:
            before, right_before = before + words, right_before + right
            doubt, (words, right) = next(surest)
        among = (2 * right * (kept - before) + words) // (2 * words)  # to the nearest
        rate = rate_cells("words_right", wilson(right_before + among, kept))
        rows.append(
            {
                "coverage": coverage / 100,
                "words": kept,
                "least_marginal": tally.least[doubt],
                **rate,
            }
        )
    return rows


def _rows(bins: Bins) -> Table:
    return [
        {
            "from": index / NUM_BINS,
            "to": (index + 1) / NUM_BINS,
            "count": count,
            "confidence": promised / (count * UNIT),
            **rate_cells("right", wilson(right, count)),
        }
        for index, (count, right, promised) in enumerate(bins)
        if count
    ]
