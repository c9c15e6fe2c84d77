"""How sure a model was, and how often right, in bins.

For calibration the bins are 15 of equal width (`crfviz.corpus.metrics`). For risk against coverage
words are parted by their doubt, 1 - p: as finely as 1 part in 256, so that the surest of many words
are told apart, too.
"""

import numpy as np
from numpy.typing import NDArray

from crfviz.corpus.counts.exact import UNIT, fixed
from crfviz.corpus.metrics import NUM_BINS

_DROPPED = 15  # of the 23 bits that a float32 has behind its point

Bins = list[list[int]]  # NUM_BINS times how many, how many right, and their probability (`fixed`)


def bins_of(probability: NDArray[np.float64], right: NDArray[np.bool_]) -> Bins:
    """N predictions by their probability."""
    number = np.minimum((probability * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    counts = np.bincount(number, minlength=NUM_BINS).tolist()
    of_right = np.bincount(number[right], minlength=NUM_BINS).tolist()
    promised = [fixed(probability[number == index]) for index in range(NUM_BINS)]
    return [list(each) for each in zip(counts, of_right, promised, strict=True)]


def expected_error(bins: Bins) -> float | None:
    """Expected calibration error in [0, 1]; None where nothing was predicted."""
    total = sum(count for count, _, _ in bins)
    if not total:
        return None
    return sum(abs(right * UNIT - promised) for _, right, promised in bins) / (total * UNIT)


def doubts_of(
    probability: NDArray[np.float64], right: NDArray[np.bool_]
) -> tuple[dict[int, list[int]], dict[int, float]]:
    """Words by their doubt: how many and how many right; and the least probability of each."""
    keys = (1.0 - probability).astype(np.float32).view(np.uint32) >> _DROPPED
    found, inverse = np.unique(keys, return_inverse=True)
    words = np.bincount(inverse, minlength=len(found))
    good = np.bincount(inverse[right], minlength=len(found))
    least = np.ones(len(found))
    np.minimum.at(least, inverse, probability)
    counts = zip(found.tolist(), words.tolist(), good.tolist(), strict=True)
    by_key = {key: [number, of_right] for key, number, of_right in counts}
    return by_key, dict(zip(found.tolist(), least.tolist(), strict=True))
