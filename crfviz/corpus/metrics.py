"""Accuracy, entity scores and calibration of a tagging, with 95 % intervals.

Shares of words and of sentences get the Wilson score interval, which treats words (sentences) as
independent draws. Entity scores have no such formula: their intervals are the 2.5 and 97.5
percentiles over samples of whole sentences, drawn with replacement (bootstrap).

An entity is right when its type and both ends are. Entities are read strictly, as
`crfviz.text.schemes.spans` does: an `I-X` that continues no entity is ignored.

    expected calibration error = sum over bins of share(bin) * |accuracy(bin) - mean p(bin)|

over predictions, where p is the probability of a prediction, in 15 bins of equal width.

Source:
    Wilson (1927); Efron (1979); Tjong Kim Sang and De Meulder (2003) for entity scores; Guo et al.
    (2017) for calibration; McNemar (1947) with the exact test of Dietterich, "Approximate
    Statistical Tests for Comparing Supervised Classification Learning Algorithms" (1998), 3.1.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.text.schemes import BIO, spans

Z = 1.959963984540054  # 95 % of the normal distribution lie within ±Z
SAMPLES = 1000  # bootstrap samples
SAMPLES_AT_ONCE = 100
NUM_BINS = 15  # calibration bins

Pattern = tuple[int, int, int]  # entities of a sentence: right, guessed, in gold


@dataclass(frozen=True)
class Rate:
    """A share in [0, 1] with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Accuracy:
    """Words with the right tag, and sentences where every word has it."""

    tokens: Rate
    sentences: Rate


@dataclass(frozen=True)
class EntityScores:
    """Precision, recall and F1 over all entities, and F1 of each type."""

    precision: Rate
    recall: Rate
    f1: Rate
    f1_by_type: dict[str, float]  # types of gold or predicted entities, by name


def wilson(right: int, total: int) -> Rate:
    """Return `right / total` with the Wilson score interval; all of [0, 1] if total is 0.

    >>> rate = wilson(8, 10)
    >>> round(rate.value, 4), round(rate.low, 4), round(rate.high, 4)
    (0.8, 0.4902, 0.9433)
    """
    if total == 0:
        return Rate(0.0, 0.0, 1.0)
    share = right / total
    scale = 1 + Z**2 / total
    centre = (share + Z**2 / (2 * total)) / scale
    reach = Z / scale * math.sqrt(share * (1 - share) / total + Z**2 / (4 * total**2))
    low = 0.0 if right == 0 else centre - reach  # exactly 0 and 1, but for rounding
    high = 1.0 if right == total else centre + reach
    return Rate(share, low, high)


def accuracy(gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]]) -> Accuracy:
    """Return the accuracy of words and of sentences."""
    pairs = list(zip(gold, guess, strict=True))
    right = sum(a == b for x, y in pairs for a, b in zip(x, y, strict=True))
    whole = sum(list(x) == list(y) for x, y in pairs)
    return Accuracy(wilson(right, sum(map(len, gold))), wilson(whole, len(pairs)))


def entity_scores(
    gold: Sequence[Sequence[str]],
    guess: Sequence[Sequence[str]],
    generator: np.random.Generator,
) -> EntityScores:
    """Return precision, recall and F1 of the BIO entities of at least one sentence.

    A score is 0 if its denominator is 0. The generator draws the sentences of the bootstrap.
    """
    counts = entity_counts(gold, guess)
    return rates_of(totals(counts), patterns(counts, len(gold)), generator)


def entity_counts(
    gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]], scheme: str = BIO
) -> dict[str, NDArray[np.int64]]:
    """Return (N, 3) for each type: right, predicted and gold entities."""
    counts: dict[str, NDArray[np.int64]] = defaultdict(
        lambda: np.zeros((len(gold), 3), dtype=np.int64)
    )
    for sentence, tags in enumerate(zip(gold, guess, strict=True)):
        expected, guessed = (set(spans(side, scheme)) for side in tags)
        for column, entities in enumerate((expected & guessed, guessed, expected)):
            for entity in entities:
                counts[entity.type][sentence, column] += 1
    return counts


def totals(counts: Mapping[str, NDArray[np.int64]]) -> dict[str, list[int]]:
    """Return the sums over sentences of `entity_counts`."""
    return {name: table.sum(axis=0).tolist() for name, table in counts.items()}


def patterns(counts: Mapping[str, NDArray[np.int64]], sentences: int) -> dict[Pattern, int]:
    """Count the sentences by their numbers of right, guessed and gold entities of all types.

    The bootstrap needs only these numbers, and many sentences share them.
    """
    per_sentence = sum(counts.values(), np.zeros((sentences, 3), dtype=np.int64))
    distinct, times = np.unique(per_sentence, axis=0, return_counts=True)
    return {
        (right, guessed, gold): number
        for (right, guessed, gold), number in zip(distinct.tolist(), times.tolist(), strict=True)
    }


def rates_of(
    by_type: Mapping[str, Sequence[int]],
    sentences: Mapping[Pattern, int],
    generator: np.random.Generator,
) -> EntityScores:
    """Return the scores of `totals` and `patterns`; the generator draws the bootstrap."""
    kinds = sorted(sentences)
    rows = np.array(kinds, dtype=np.int64).reshape(-1, 3)
    times = np.array([sentences[kind] for kind in kinds], dtype=np.int64)
    points = _precision_recall_f1(times @ rows)
    sampled = _precision_recall_f1(resampled(rows, generator, times).T)
    precision, recall, f1 = map(_rate, points, sampled)
    f1_by_type = {
        name: float(_precision_recall_f1(np.array(count))[2])
        for name, count in sorted(by_type.items())
    }
    return EntityScores(precision, recall, f1, f1_by_type)


def entity_f1(gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]]) -> float:
    """Return F1 of entities; 0 without gold or predicted ones."""
    right, guessed, actual = sum(entity_counts(gold, guess).values(), np.zeros((1, 3))).sum(axis=0)
    return float(2 * right / max(1, guessed + actual))


def f1_rate(right: int, predicted: int, gold: int) -> Rate:
    """Return F1 with its 95 % interval, which is that of J = right / (predicted + gold - right).

    F1 rises with this share, as F1 = 2 J / (1 + J).

    >>> rate = f1_rate(8, 10, 10)
    >>> round(rate.value, 4), round(rate.low, 4), round(rate.high, 4)
    (0.8, 0.5618, 0.9258)
    """
    share = wilson(right, predicted + gold - right)
    value, low, high = (2 * j / (1 + j) for j in (share.value, share.low, share.high))
    return Rate(value, low, high)


def mcnemar(b: int, c: int) -> float:
    """Return the exact two-sided p of b and c discordant words.

    b + c words are right in exactly one of two taggings. If both taggings are equally good, each of
    these words favours either one with probability 1/2, so

        p = min(1, 2 P(X <= min(b, c))),  X ~ Binomial(b + c, 1/2)

    Words of a sentence are not independent draws, so a small p is a little too small.

    >>> f"{mcnemar(2, 8):.6f}", mcnemar(0, 0)
    ('0.109375', 1.0)
    """
    n, least = b + c, min(b, c)
    if b == c:
        return 1.0
    ways = [
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(least + 1)
    ]
    tail = math.fsum(math.exp(log - ways[-1]) for log in ways)
    return min(1.0, 2 * math.exp(ways[-1] - n * math.log(2)) * tail)


def calibration_error(
    probability: Tensor | NDArray[np.float64], correct: Tensor | NDArray[np.bool_]
) -> float:
    """Return the expected calibration error in [0, 1] of N predictions."""
    promised, kept = torch.as_tensor(probability), torch.as_tensor(correct)
    bins = (promised * NUM_BINS).long().clamp(max=NUM_BINS - 1)
    gap = torch.zeros(NUM_BINS, dtype=torch.float64)
    gap.index_add_(0, bins, kept.double() - promised.double())
    return float(gap.abs().sum() / len(promised))


def resampled(
    per_sentence: NDArray[np.int64],
    generator: np.random.Generator,
    times: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return sums over samples of sentences, drawn with replacement: (SAMPLES, C) from (N, C).

    With `times`, (N,), each row stands for so many equal sentences.
    """
    alike = np.ones(len(per_sentence), dtype=np.int64) if times is None else times
    number = int(alike.sum())
    shares = alike / number
    drawn = [  # in groups: all samples at once take 8 kB per sentence
        generator.multinomial(number, shares, size=SAMPLES_AT_ONCE) @ per_sentence
        for _ in range(SAMPLES // SAMPLES_AT_ONCE)
    ]
    return np.concatenate(drawn)


def percentiles(sampled: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of the samples: (SAMPLES,); NaN is ignored."""
    low, high = np.nanpercentile(sampled, [2.5, 97.5])
    return float(low), float(high)


def _precision_recall_f1(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
    """Return precision, recall and F1 of (3, ...) counts: right, predicted, gold."""
    right, guessed, gold = counts
    return _ratio(right, guessed), _ratio(right, gold), _ratio(2 * right, guessed + gold)


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)


def _rate(point: NDArray[np.float64], sampled: NDArray[np.float64]) -> Rate:
    return Rate(float(point), *percentiles(sampled))
