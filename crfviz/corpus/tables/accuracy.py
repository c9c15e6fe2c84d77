"""Tables of accuracy: tags, entities, decoders, calibration and coverage.

    precision = right / predicted    recall = right / gold    F1 = 2 right / (predicted + gold)

Shares of words get the Wilson interval. Kinds of entity errors come from the SemEval schemes of
`crfviz.corpus.counts.exact`: *missed* and *spurious* overlap nothing on the other side;
*wrong type* is exact minus strict, *wrong boundary* is type minus strict, and the remaining errors
are *wrong type and boundary*.

Calibration has a row for each non-empty bin of 15: words by their largest marginal, sentences by
the probability of the Viterbi path, entities by their exact probability
(`crfviz.chain.questions.entities`). Coverage takes the words of the largest marginals first.
"""

import json
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.questions.costs import KINDS, cost_matrix, kinds_of_errors
from crfviz.corpus.counts.exact import UNIT, Bins, expected_error
from crfviz.corpus.counts.run_counts import CountedRun, RunCounts
from crfviz.corpus.metrics import (
    NUM_BINS,
    Accuracy,
    EntityScores,
    f1_rate,
    mcnemar,
    rates_of,
    wilson,
)
from crfviz.corpus.run.results import BEAMS, LEAST_COST, ORACLE_PATHS, RULE
from crfviz.corpus.table import Table, TableRow, rate_cells
from crfviz.text.schemes import BIO

TITLES = {
    "independent": "independent",
    "left_to_right": "greedy",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
}
DECODERS = tuple(TITLES)  # in a report; the table also has beams
ALL_TITLES = {
    **TITLES,
    RULE: "Viterbi with the rule",
    LEAST_COST: "least cost",
    **{name: f"beam of {width}" for name, width in BEAMS.items()},
}
SEED = 0  # seed of the bootstrap
COVERAGES = tuple(range(5, 101, 5))  # per cent


def confusion_table(run: CountedRun) -> Table:
    """Return a row for each pair of gold and Viterbi tags, most frequent first."""
    names = run.tagger.tags
    pairs = [
        (words, i, j)
        for i, row in enumerate(run.tally.confusion)
        for j, words in enumerate(row)
        if words
    ]
    return [
        {"gold": names[i], "predicted": names[j], "words": words}
        for words, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1:]))
    ]


def tag_table(run: CountedRun) -> Table:
    """Return one row for each tag that occurs in gold or predictions, in the order of the tags."""
    counts = run.tally.confusion
    rows: Table = []
    for tag, name in enumerate(run.tagger.tags):
        right, gold = counts[tag][tag], sum(counts[tag])
        predicted = sum(row[tag] for row in counts)
        if gold or predicted:
            rows.append(
                {
                    "tag": name,
                    "gold": gold,
                    "predicted": predicted,
                    "right": right,
                    **rate_cells("precision", wilson(right, predicted)),
                    **rate_cells("recall", wilson(right, gold)),
                    **rate_cells("f1", f1_rate(right, predicted, gold)),
                }
            )
    return rows


def scheme_table(tally: RunCounts) -> Table:
    """Return one row for each scheme with its counts, precision, recall and F1."""
    return [
        {"scheme": name, **counts, **_entity_rates(counts, half=name == "partial")}
        for name, counts in tally.schemes.items()
    ]


def entity_kind_table(tally: RunCounts) -> Table:
    """Return the number of right entities, and of wrong ones by kind of error."""
    counts = tally.schemes
    strict = counts["strict"]
    wrong_type = counts["exact"]["correct"] - strict["correct"]
    wrong_boundary = counts["type"]["correct"] - strict["correct"]
    kinds = {
        "right": strict["correct"],
        "wrong type": wrong_type,
        "wrong boundary": wrong_boundary,
        "wrong type and boundary": max(0, strict["incorrect"] - wrong_type - wrong_boundary),
        "missed": strict["missed"],
        "spurious": strict["spurious"],
    }
    return [{"kind": kind, "entities": number} for kind, number in kinds.items()]


def _entity_rates(counts: dict[str, int], *, half: bool) -> dict[str, float]:
    """Return precision, recall and F1; 0 if the denominator is 0."""
    good = counts["correct"] + (0.5 * counts["partial"] if half else 0.0)
    both = counts["correct"] + counts["incorrect"] + counts["partial"]
    guessed, gold = both + counts["spurious"], both + counts["missed"]
    return {
        "precision": good / max(1, guessed),
        "recall": good / max(1, gold),
        "f1": 2 * good / max(1, guessed + gold),
    }


@dataclass(frozen=True)
class DecoderScores:
    """Accuracy, entity scores and decoding time of one decoder."""

    accuracy: Accuracy
    entities: EntityScores | None  # None if the tags are of no scheme
    invalid_bio: int | None  # sentences that break the scheme of the tags
    seconds: float  # decoding time of all sentences, without scoring


def decoder_table(tally: RunCounts, scheme: str = BIO) -> Table:
    """Return one row for each decoder; `scheme` is that of the tags.

    `only_this` counts words that this decoder gets right and Viterbi wrong, `only_viterbi` the
    opposite; `p` is that of McNemar's test. `repaired` and `spoilt` count sentences the same way.
    `microseconds` is the median over batches of the time per sentence. Without a scheme there are
    no entity columns.
    """
    return [_decoder_row(tally, name, scheme) for name in tally.decoders]


def oracle_table(tally: RunCounts) -> Table:
    """Return the share of sentences whose gold path is among the k best, k = 1, 2, ... 8."""
    total = tally.size["sentences"]
    return [
        {"k": k, **rate_cells("sentences", wilson(sum(tally.ranks[:k]), total))}
        for k in range(1, ORACLE_PATHS + 1)
    ]


def cost_table(run: CountedRun) -> Table:
    """Return the wrong words of Viterbi and of the least cost, by kind of error or pair of tags."""
    tally, tags = run.tally, run.tagger.tags
    costs = cost_matrix(tags, tally.costs or {})
    both = (np.array(tally.confusion), np.array(tally.confusion_by_cost))
    if isinstance(tally.costs, dict):
        kinds = kinds_of_errors(tags)
        groups = [(name.replace("_", " "), kinds == n) for n, name in enumerate(KINDS)]
    else:
        pairs = np.argwhere((both[0] + both[1] > 0) & (costs > 0))
        groups = [(f"{tags[i]} as {tags[j]}", _cell(len(tags), i, j)) for i, j in pairs.tolist()]
    rows: Table = []
    for name, cells in groups:
        viterbi, least = (int(words[cells].sum()) for words in both)
        cost = float(costs[cells].max(initial=0.0))
        rows.append({"error": name, "cost": cost, "viterbi": viterbi, "least_cost": least})
    return rows


def _cell(size: int, true: int, chosen: int) -> NDArray[np.bool_]:
    cells = np.zeros((size, size), np.bool_)
    cells[true, chosen] = True
    return cells


def decoder_scores(tally: RunCounts, decoder: str) -> DecoderScores:
    """Return accuracy, entity scores and time of one decoder."""
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


def _entities(tally: RunCounts, decoder: str) -> EntityScores | None:
    if decoder not in tally.entity_patterns:
        return None
    alike = {}
    for pattern, number in tally.entity_patterns[decoder].items():
        right, guessed, gold = json.loads(pattern)
        alike[right, guessed, gold] = number
    return rates_of(tally.entity_types[decoder], alike, np.random.default_rng(SEED))


def _decoder_row(tally: RunCounts, name: str, scheme: str) -> TableRow:
    scores, counts = decoder_scores(tally, name), tally.decoders[name]
    row: TableRow = {
        "decoder": ALL_TITLES[name],
        **rate_cells("words_right", scores.accuracy.tokens),
        **rate_cells("sentences", scores.accuracy.sentences),
    }
    if scores.entities is not None:
        row |= rate_cells("entity_f1", scores.entities.f1)
        row[f"invalid_{scheme.lower()}"] = scores.invalid_bio
    batches = zip(tally.seconds[name], tally.batches, strict=True)
    return row | {
        "search_errors": counts["search_errors"],
        "microseconds": 1e6 * median(seconds / sentences for seconds, sentences in batches),
        "only_this": counts["only_this"],
        "only_viterbi": counts["only_viterbi"],
        "p": mcnemar(counts["only_this"], counts["only_viterbi"]),
        "repaired": counts["repaired"],
        "spoilt": counts["spoilt"],
    }


def calibration_table(tally: RunCounts) -> Table:
    """Return one row for each kind of prediction and bin that is not empty."""
    return [
        {"of": kind, **row} for kind, bins in tally.bins.items() for row in _calibration_rows(bins)
    ]


def ece_table(tally: RunCounts) -> Table:
    """Return the expected calibration error of each kind of prediction."""
    return [
        {
            "of": kind,
            "predictions": sum(count for count, _, _ in bins),
            "ece": expected_error(bins),
        }
        for kind, bins in tally.bins.items()
    ]


def coverage_table(tally: RunCounts) -> Table:
    """Return the accuracy on the most certain words, by the share of words included."""
    total, rows = tally.size["words"], list[TableRow]()
    surest = iter(sorted(tally.doubts.items()))
    before = right_before = words = right = doubt = 0  # in the doubts before, and in the last one
    for coverage in COVERAGES:
        kept = max(1, round(total * coverage / 100))
        while before + words < kept:
            before, right_before = before + words, right_before + right
            doubt, (words, right) = next(surest)
        among = (2 * right * (kept - before) + words) // (2 * words)  # rounded to the nearest
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


def _calibration_rows(bins: Bins) -> Table:
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
