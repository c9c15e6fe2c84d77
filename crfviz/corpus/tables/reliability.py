"""Whether probabilities can be trusted: calibration of words, entities and sentences.

A calibration table has a row for each of the 15 bins of equal width that is not empty. Words are
judged by their largest marginal, sentences by the probability of the Viterbi path, and entities of
the Viterbi path by their exact probability (`crfviz.chain.entities.probability`).

Risk against coverage: the words of the largest marginals first, how many of the first c % are
right?
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.corpus.metrics import NUM_BINS, calibration_error, wilson
from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, rate_cells
from crfviz.text.schemes import is_bio

COVERAGES = tuple(range(5, 101, 5))  # per cent


@dataclass(frozen=True)
class Judged:
    """Predictions with their probabilities, and which of them are right."""

    probability: NDArray[np.float64]  # in [0, 1]
    right: NDArray[np.bool_]

    @property
    def ece(self) -> float | None:
        """Expected calibration error in [0, 1]; None where nothing was predicted."""
        if not len(self.right):
            return None
        return calibration_error(self.probability, self.right)


def judged(results: Results) -> dict[str, Judged]:
    """Words and sentences, and entities where the tags are BIO."""
    kinds = {"words": Judged(results.token_probability, results.right("max_marginal"))}
    if is_bio(results.tagger.tags):
        kinds["entities"] = Judged(results.entity_probability, results.entity_right)
    kinds["sentences"] = Judged(results.path_probability, results.sentences_right("viterbi"))
    return kinds


def calibration_table(results: Results) -> Table:
    """One row for each kind of prediction and bin that is not empty."""
    return [
        {"of": kind, **row}
        for kind, predictions in judged(results).items()
        for row in _bins(predictions)
    ]


def ece_table(results: Results) -> Table:
    """The expected calibration error of each kind of prediction."""
    return [
        {"of": kind, "predictions": len(predictions.right), "ece": predictions.ece}
        for kind, predictions in judged(results).items()
    ]


def coverage_table(results: Results) -> Table:
    """Share of words right among the surest, by share of words kept."""
    surest = np.argsort(-results.token_probability, kind="stable")
    right = results.right("max_marginal")[surest]
    rows: Table = []
    for coverage in COVERAGES:
        kept = max(1, round(len(right) * coverage / 100))
        least = float(results.token_probability[surest[kept - 1]])
        rate = rate_cells("words_right", wilson(int(right[:kept].sum()), kept))
        rows.append({"coverage": coverage / 100, "words": kept, "least_marginal": least, **rate})
    return rows


def _bins(predictions: Judged) -> Table:
    number = np.minimum((predictions.probability * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    return [
        {
            "from": index / NUM_BINS,
            "to": (index + 1) / NUM_BINS,
            "count": int(inside.sum()),
            "confidence": float(predictions.probability[inside].mean()),
            **rate_cells("right", wilson(int(predictions.right[inside].sum()), int(inside.sum()))),
        }
        for index in range(NUM_BINS)
        if (inside := number == index).any()
    ]
