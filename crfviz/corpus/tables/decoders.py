"""What the CRF buys: how good every decoder is, beside Viterbi, and how far the best paths reach.

What the decoders do, and on which scores, is in `crfviz.corpus.run.tagging`. Max-marginal may break
BIO in spite of the rules, for two tags that are each the likeliest need not fit together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.constraints import illegal_positions
from crfviz.corpus.metrics import (
    Accuracy,
    EntityScores,
    accuracy,
    entity_scores,
    mcnemar,
    wilson,
)
from crfviz.corpus.run.results import BEAMS, EVERY_DECODER, ORACLE_PATHS, Results
from crfviz.corpus.table import Table, TableRow, rate_cells
from crfviz.text.schemes import is_bio

TITLES = {
    "independent": "word alone",
    "left_to_right": "left to right",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
}
DECODERS = tuple(TITLES)  # of a report; the table has beams, too
ALL_TITLES = {**TITLES, **{name: f"beam of {width}" for name, width in BEAMS.items()}}
SEED = 0  # of the bootstrap


@dataclass(frozen=True)
class DecoderScores:
    """How good one decoder is."""

    accuracy: Accuracy
    entities: EntityScores | None  # BIO only
    invalid_bio: int | None  # sentences with an illegal I-X; BIO only
    seconds: float  # of decoding all sentences one by one, without the network


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


def decoder_scores(results: Results, decoder: str, gold: Sequence[Sequence[str]]) -> DecoderScores:
    """How good one decoder is, by the names of the gold tags of every sentence."""
    bio = is_bio(results.tagger.tags)
    guess = results.names(results.tags[decoder])
    return DecoderScores(
        accuracy=accuracy(gold, guess),
        entities=entity_scores(gold, guess, np.random.default_rng(SEED)) if bio else None,
        invalid_bio=sum(bool(illegal_positions(tags)) for tags in guess) if bio else None,
        seconds=results.seconds[decoder],
    )


def _row(results: Results, name: str) -> TableRow:
    scores = decoder_scores(results, name, results.names(results.gold))
    here, best = results.right(name), results.right("viterbi")
    only_this, only_viterbi = int((here & ~best).sum()), int((best & ~here).sum())
    row: TableRow = {
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
