"""Which tags are taken for which, and what is wrong with predicted entities.

    precision = right / predicted    recall = right / gold    F1 = 2 right / (predicted + gold)

Precision and recall of a tag are shares of words and get the Wilson interval.

Entities are counted by nervaluate:

| scheme  | an entity counts as correct if                              |
|---------|-------------------------------------------------------------|
| strict  | type and both ends agree                                    |
| exact   | both ends agree, whatever the type                          |
| partial | it overlaps one in gold (half a point if the ends disagree) |
| type    | it overlaps one in gold of the same type                    |

The kinds of error come from these counts: *missed* and *spurious* overlap nothing on the other
side; *wrong type* is exact less strict, *wrong boundary* type less strict, and *wrong type and
boundary* is what is left of the overlapping ones. Entities are read strictly, as
`crfviz.text.schemes.spans` does.

Source: SemEval 2013, task 9.1 (Segura-Bedmar et al.), for the schemes.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from nervaluate import Evaluator
from numpy.typing import NDArray

from crfviz.corpus.metrics import f1_rate, wilson
from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, rate_cells
from crfviz.text.schemes import spans, split_tag

SCHEMES = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
SENTENCES_AT_ONCE = 2000  # nervaluate keeps the place of every entity


def confusion(results: Results, decoder: str = "viterbi") -> NDArray[np.int64]:
    """Words by gold tag and by predicted tag: (K, K)."""
    K = len(results.tagger.tags)
    cells = results.gold.astype(np.int64) * K + results.tags[decoder]
    return np.bincount(cells, minlength=K * K).reshape(K, K)


def confusion_table(results: Results, decoder: str = "viterbi") -> Table:
    """One row for each pair of tags that occurs, most words first."""
    counts = confusion(results, decoder)
    names = results.tagger.tags
    pairs = [(int(counts[i, j]), i, j) for i, j in np.argwhere(counts).tolist()]
    return [
        {"gold": names[i], "predicted": names[j], "words": words}
        for words, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1:]))
    ]


def tag_table(results: Results, decoder: str = "viterbi") -> Table:
    """One row for each tag of gold or of the predictions, in the order of the tags."""
    counts = confusion(results, decoder)
    rows: Table = []
    for tag, name in enumerate(results.tagger.tags):
        right, gold, predicted = (
            int(n) for n in (counts[tag, tag], counts[tag].sum(), counts[:, tag].sum())
        )
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


def scheme_table(results: Results, decoder: str = "viterbi") -> Table:
    """One row for each scheme with its counts, precision, recall and F1."""
    return [
        {"scheme": name, **counts, **_shares(counts, half=name == "partial")}
        for name, counts in _counts(results, decoder).items()
    ]


def entity_kind_table(results: Results, decoder: str = "viterbi") -> Table:
    """How many entities are right, and how many wrong in each way."""
    counts = _counts(results, decoder)
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


def _counts(results: Results, decoder: str) -> dict[str, dict[str, int]]:
    totals = {name: Counter(dict.fromkeys(COUNTS, 0)) for name in SCHEMES.values()}
    gold, guess = (results.names(ids) for ids in (results.gold, results.tags[decoder]))
    labels = sorted({kind for tag in results.tagger.tags if (kind := split_tag(tag)[1])})
    for start in range(0, len(gold), SENTENCES_AT_ONCE):
        group = slice(start, start + SENTENCES_AT_ONCE)
        sides = [[_entities(tags) for tags in side[group]] for side in (gold, guess)]
        overall = Evaluator(*sides, tags=labels, loader="dict").evaluate()["overall"]
        for theirs, ours in SCHEMES.items():
            totals[ours].update({name: getattr(overall[theirs], name) for name in COUNTS})
    return {name: {count: total[count] for count in COUNTS} for name, total in totals.items()}


def _entities(tags: Sequence[str]) -> list[dict[str, str | int]]:
    return [{"label": s.type, "start": s.start, "end": s.end - 1} for s in spans(tags)]


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
