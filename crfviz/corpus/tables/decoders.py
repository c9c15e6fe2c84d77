"""What the CRF buys: how good every decoder is, beside Viterbi, and how far the best paths reach.

What the decoders do, and on which scores, is in `crfviz.corpus.run.tagging`. Max-marginal may break
BIO in spite of the rules, for two tags that are each the likeliest need not fit together.
"""

import json
from dataclasses import dataclass
from statistics import median

import numpy as np

from crfviz.corpus.counts.tally import Tally
from crfviz.corpus.metrics import Accuracy, EntityScores, mcnemar, rates_of, wilson
from crfviz.corpus.run.results import BEAMS, EVERY_DECODER, ORACLE_PATHS
from crfviz.corpus.table import Table, TableRow, rate_cells

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


def decoder_table(tally: Tally) -> Table:
    """One row for each decoder, from no search to all of it.

    `only_this` counts the words that this decoder gets right and Viterbi wrong, `only_viterbi`
    those the other way round; `p` is McNemar's. `microseconds` of a sentence are the median over
    batches. Entity columns are None without BIO tags.
    """
    return [_row(tally, name) for name in EVERY_DECODER]


def oracle_table(tally: Tally) -> Table:
    """Sentences whose gold path is among the k best, k = 1, 2, ... 8."""
    total = tally.size["sentences"]
    return [
        {"k": k, **rate_cells("sentences", wilson(sum(tally.ranks[:k]), total))}
        for k in range(1, ORACLE_PATHS + 1)
    ]


def decoder_scores(tally: Tally, decoder: str) -> DecoderScores:
    """How good one decoder is."""
    counts = tally.decoders[decoder]
    return DecoderScores(
        accuracy=Accuracy(
            wilson(counts["words"], tally.size["words"]),
            wilson(counts["sentences"], tally.size["sentences"]),
        ),
        entities=_entities(tally, decoder),
        invalid_bio=tally.invalid_bio.get(decoder),
        seconds=sum(tally.seconds[decoder]),
    )


def _entities(tally: Tally, decoder: str) -> EntityScores | None:
    if decoder not in tally.entity_patterns:
        return None
    alike = {}
    for pattern, number in tally.entity_patterns[decoder].items():
        right, guessed, gold = json.loads(pattern)
        alike[right, guessed, gold] = number
    return rates_of(tally.entity_types[decoder], alike, np.random.default_rng(SEED))


def _row(tally: Tally, name: str) -> TableRow:
    scores, counts = decoder_scores(tally, name), tally.decoders[name]
    row: TableRow = {
        "decoder": ALL_TITLES[name],
        **rate_cells("words_right", scores.accuracy.tokens),
        **rate_cells("sentences", scores.accuracy.sentences),
    }
    if scores.entities is not None:
        row |= rate_cells("entity_f1", scores.entities.f1)
        row["invalid_bio"] = scores.invalid_bio
    batches = zip(tally.seconds[name], tally.batches, strict=True)
    return row | {
        "search_errors": counts["search_errors"],
        "microseconds": 1e6 * median(taken / sentences for taken, sentences in batches),
        "only_this": counts["only_this"],
        "only_viterbi": counts["only_viterbi"],
        "p": mcnemar(counts["only_this"], counts["only_viterbi"]),
    }
