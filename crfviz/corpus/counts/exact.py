"""Exact, mergeable counts: fixed-point sums, calibration bins and entity counts.

Numbers are rounded to multiples of 2^-40, about 1e-12, and added as integers, so that sums do not
depend on order or sharding. Calibration uses 15 bins of equal width; risk against coverage groups
words by their doubt, 1 - p, rounded to 1 part in 256. Entities are counted by the schemes of
SemEval 2013, task 9.1 (Segura-Bedmar et al.), with nervaluate:

| scheme  | an entity counts as correct if                              |
|---------|-------------------------------------------------------------|
| strict  | type and both ends agree                                    |
| exact   | both ends agree, whatever the type                          |
| partial | it overlaps one in gold (half a point if the ends disagree) |
| type    | it overlaps one in gold of the same type                    |
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np
from nervaluate import Evaluator
from numpy.typing import NDArray

from crfviz.corpus.metrics import NUM_BINS
from crfviz.text.schemes import BIO, OUTSIDE, entity_scheme, spans

UNIT = 2**40  # units in 1.0
_HALF = 20  # bits; the sums of upper and lower halves fit into 64 bits

Counts: TypeAlias = int | list["Counts"] | dict[str, "Counts"]
_DROPPED = 15  # dropped bits, of the 23 fraction bits of a float32
SCHEMES = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
SENTENCES_AT_ONCE = 2000  # limits memory: nervaluate stores every entity


def fixed(values: NDArray[np.float64]) -> int:
    """Return the sum of finite numbers below 2^20, in units of 2^-40.

    >>> fixed(np.array([0.5, 0.25])) / UNIT
    0.75
    """
    whole = np.rint(values * UNIT).astype(np.int64)
    return (int((whole >> _HALF).sum()) << _HALF) + int((whole & (2**_HALF - 1)).sum())


def added(first: Counts, second: Counts) -> Counts:
    """Add two counts of the same form, recursively by position and key.

    >>> added({"a": 1, "b": [1, 2]}, {"b": [3, 4], "c": 5})
    {'a': 1, 'b': [4, 6], 'c': 5}
    """
    if isinstance(first, dict):
        other = cast("Mapping[str, Counts]", second)
        both = {key: added(n, other[key]) if key in other else n for key, n in first.items()}
        return both | {key: n for key, n in other.items() if key not in first}
    if isinstance(first, list):
        pairs = zip(first, cast("list[Counts]", second), strict=True)
        return [added(one, other) for one, other in pairs]
    return first + cast("int", second)


Bins = list[list[int]]  # NUM_BINS of: predictions, right ones, summed probability (`fixed`)


def bins_of(probability: NDArray[np.float64], right: NDArray[np.bool_]) -> Bins:
    """Sort N predictions into bins by their probability."""
    number = np.minimum((probability * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    counts = np.bincount(number, minlength=NUM_BINS).tolist()
    of_right = np.bincount(number[right], minlength=NUM_BINS).tolist()
    promised = [fixed(probability[number == index]) for index in range(NUM_BINS)]
    return [list(each) for each in zip(counts, of_right, promised, strict=True)]


def expected_error(bins: Bins) -> float | None:
    """Return the expected calibration error in [0, 1]; None without predictions."""
    total = sum(count for count, _, _ in bins)
    if not total:
        return None
    return sum(abs(right * UNIT - promised) for _, right, promised in bins) / (total * UNIT)


def doubts_of(
    probability: NDArray[np.float64], right: NDArray[np.bool_]
) -> tuple[dict[int, list[int]], dict[int, float]]:
    """Count all words and right words by doubt (1 - p, in bins); also return each bin's least p."""
    keys = (1.0 - probability).astype(np.float32).view(np.uint32) >> _DROPPED
    distinct, inverse = np.unique(keys, return_inverse=True)
    words = np.bincount(inverse, minlength=len(distinct))
    good = np.bincount(inverse[right], minlength=len(distinct))
    least = np.ones(len(distinct))
    np.minimum.at(least, inverse, probability)
    counts = zip(distinct.tolist(), words.tolist(), good.tolist(), strict=True)
    by_key = {key: [number, of_right] for key, number, of_right in counts}
    return by_key, dict(zip(distinct.tolist(), least.tolist(), strict=True))


Tags = Sequence[Sequence[str]]  # tag names of every sentence


def scheme_counts(gold: Tags, guess: Tags, tags: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the counts `COUNTS` of correct and wrong entities, by scheme."""
    totals = {name: Counter(dict.fromkeys(COUNTS, 0)) for name in SCHEMES.values()}
    scheme = entity_scheme(tags) or BIO
    labels = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
    for start in range(0, len(gold), SENTENCES_AT_ONCE):
        group = slice(start, start + SENTENCES_AT_ONCE)
        sides = [[_entities(names, scheme) for names in side[group]] for side in (gold, guess)]
        overall = Evaluator(*sides, tags=labels, loader="dict").evaluate()["overall"]
        for theirs, ours in SCHEMES.items():
            totals[ours].update({name: getattr(overall[theirs], name) for name in COUNTS})
    return {name: {count: total[count] for count in COUNTS} for name, total in totals.items()}


def _entities(tags: Sequence[str], scheme: str) -> list[dict[str, str | int]]:
    return [{"label": s.type, "start": s.start, "end": s.end - 1} for s in spans(tags, scheme)]
