"""What the CRF buys: every decoder beside Viterbi, and how far the best paths reach.

McNemar's test, exact: of the b + c words that one of two decoders gets right and the other does
not, each would be for either with probability 1/2 if they were equally good, so

    p = min(1, 2 P(X <= min(b, c))),  X ~ Binomial(b + c, 1/2)

Words of a sentence are not independent draws, so a small p is a little too small.

Source: McNemar (1947), with the exact test of Dietterich, "Approximate Statistical Tests for
Comparing Supervised Classification Learning Algorithms" (1998), section 3.1.
"""

from crfviz.corpus.metrics import mcnemar, wilson
from crfviz.corpus.run.results import EVERY_DECODER, ORACLE_PATHS, Results
from crfviz.corpus.table import Row, Table, rate_cells
from crfviz.corpus.tables.report import TITLES
from crfviz.corpus.tables.scores import decoder_scores

ALL_TITLES = {**TITLES, **{f"beam_{width}": f"beam of {width}" for width in (2, 4, 8)}}


def decoder_table(results: Results) -> Table:
    """One row for each decoder, from no search to all of it.

    `only_this` counts the words that this decoder gets right and Viterbi wrong, `only_viterbi`
    those the other way round; `p` is McNemar's. `microseconds` of a sentence are the median over
    batches. Entity columns are None without BIO tags.
    """
    return [_row(results, name) for name in EVERY_DECODER]


def oracle_table(results: Results) -> Table:
    """Sentences whose gold path is among the k best, k = 1, 2, ... 8."""
    ranks, total = results.gold_rank, len(results.gold_rank)
    return [
        {"k": k, **rate_cells("sentences", wilson(int(((ranks >= 0) & (ranks < k)).sum()), total))}
        for k in range(1, ORACLE_PATHS + 1)
    ]


def _row(results: Results, name: str) -> Row:
    scores = decoder_scores(results, name, results.names(results.gold))
    here, best = results.right(name), results.right("viterbi")
    only_this, only_viterbi = int((here & ~best).sum()), int((best & ~here).sum())
    row: Row = {
        "decoder": ALL_TITLES[name],
        **rate_cells("words_right", scores.accuracy.tokens),
        **rate_cells("sentences", scores.accuracy.sentences),
    }
    if scores.entities is not None:
        row |= rate_cells("entity_f1", scores.entities.f1)
        row["invalid_bio"] = scores.invalid_bio
    return row | {
        "search_errors": results.search_errors[name],
        "microseconds": results.microseconds[name],
        "only_this": only_this,
        "only_viterbi": only_viterbi,
        "p": mcnemar(only_this, only_viterbi),
    }
