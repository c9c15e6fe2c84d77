"""Which tags are taken for which, and precision, recall and F1 of each tag.

    precision = right / predicted    recall = right / gold    F1 = 2 right / (predicted + gold)

Precision and recall are shares of words and get the Wilson interval. F1 rises with the share
J = right / (predicted + gold - right), as F1 = 2 J / (1 + J); its interval is that of J.
"""

import numpy as np
from numpy.typing import NDArray

from crfviz.corpus.metrics import f1_rate, wilson
from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, rate_cells


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
