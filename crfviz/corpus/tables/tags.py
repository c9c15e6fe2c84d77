"""Which tags are taken for which, and what is wrong with predicted entities.

    precision = right / predicted    recall = right / gold    F1 = 2 right / (predicted + gold)

Precision and recall of a tag are shares of words and get the Wilson interval.

Entities are counted by the schemes of `crfviz.corpus.counts.entities`. The kinds of error come from
these counts: *missed* and *spurious* overlap nothing on the other side; *wrong type* is exact less
strict, *wrong boundary* type less strict, and *wrong type and boundary* is what is left of the
overlapping ones.
"""

from crfviz.corpus.counts.tally import Counted, Tally
from crfviz.corpus.metrics import f1_rate, wilson
from crfviz.corpus.table import Table, rate_cells


def confusion_table(found: Counted) -> Table:
    """One row for each pair of tags that occurs, by gold and by Viterbi's tag, most words first."""
    names = found.tagger.tags
    pairs = [
        (words, i, j)
        for i, row in enumerate(found.tally.confusion)
        for j, words in enumerate(row)
        if words
    ]
    return [
        {"gold": names[i], "predicted": names[j], "words": words}
        for words, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1:]))
    ]


def tag_table(found: Counted) -> Table:
    """One row for each tag of gold or of the predictions, in the order of the tags."""
    counts = found.tally.confusion
    rows: Table = []
    for tag, name in enumerate(found.tagger.tags):
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


def scheme_table(tally: Tally) -> Table:
    """One row for each scheme with its counts, precision, recall and F1."""
    return [
        {"scheme": name, **counts, **_shares(counts, half=name == "partial")}
        for name, counts in tally.schemes.items()
    ]


def entity_kind_table(tally: Tally) -> Table:
    """How many entities are right, and how many wrong in each way."""
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


def _shares(counts: dict[str, int], *, half: bool) -> dict[str, float]:
    """Precision, recall and F1; 0 where there is nothing to divide by."""
    good = counts["correct"] + (0.5 * counts["partial"] if half else 0.0)
    both = counts["correct"] + counts["incorrect"] + counts["partial"]
    guessed, gold = both + counts["spurious"], both + counts["missed"]
    return {
        "precision": good / max(1, guessed),
        "recall": good / max(1, gold),
        "f1": 2 * good / max(1, guessed + gold),
    }
