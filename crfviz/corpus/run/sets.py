"""Calibrated sets (`crfviz.chain.questions.path_sets`) judged by gold sentences.

The *distance* of a gold path is the score of the best path minus its own. A set of paths covers a
sentence if the distance is at most its threshold, or if it abstains. A set of tags covers the words
whose gold tag has at least the threshold as marginal.

*Sentences*: the threshold is the ⌈(n + 1) · level⌉-th smallest distance of n gold sentences. The
set of a new sentence of the same kind then covers it with a probability of at least `level`.
*Words*: it is the largest marginal λ with (n · R(λ) + 1) / (n + 1) <= 1 - level, where R(λ) is the
mean over the n sentences of the share of words that λ does not cover. The expected share of covered
words of a new sentence is then at least `level`.

Source: Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World" (2005), for sentences;
Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal Risk Control" (2022), theorem 1, for words.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.distribution import lead
from crfviz.chain.forward_backward import Posterior
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.questions.path_sets import MAX_PATHS, Calibration, Unit, near_best_paths, slack
from crfviz.chain.recursions import TOLERANCE
from crfviz.chain.validation import require_number
from crfviz.corpus.run.results import LENGTHS
from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate_value

UNIT = 2**30  # units in 1.0: shares are counted in whole numbers, which merge exactly
COLUMNS = 6  # sentences, covered and its squares (in units), size, sized items, abstained

UNITS: tuple[Unit, ...] = get_args(Unit)
SetCounts = NDArray[np.int64]  # (5, COLUMNS), by group of lengths


@dataclass(frozen=True, eq=False)
class Judged:
    """One sentence with its gold path."""

    chain: Potentials
    best: Sequence[int]  # T tag ids of the best path
    gold: Sequence[int]  # T tag ids
    marginals: Array  # (T, K)

    @cached_property
    def distance(self) -> float:
        """The score of the best path minus that of gold, nats; inf if gold is forbidden."""
        return max(0.0, lead(self.chain, self.best, self.gold).total)

    @cached_property
    def of_gold(self) -> Array:
        """(T,) the marginals of the gold tags."""
        return self.marginals[np.arange(len(self.gold)), self.gold]

    @cached_property
    def losses(self) -> Array:
        """The distances of the best paths, one more than are listed."""
        paths = near_best_paths(self.chain, math.inf)
        return np.array([paths[0].score - path.score for path in paths])


def needed(level: float) -> int:
    """Return the number of gold sentences that a level needs at least.

    >>> needed(0.9), needed(0.99)
    (9, 99)
    """
    share = _exact(level)
    return math.ceil(share / (1 - share))


def calibrated(judged: Sequence[Judged], level: float, of: Unit) -> Calibration:
    """Return the threshold of a level from gold sentences.

    Raises:
        CrfvizError: the level or the unit is none; there are too few sentences; or too many have a
            gold tag or path that the tagger forbids.
    """
    level, n = require_number("level", level), len(judged)
    if not 0.0 < level < 1.0:
        raise CrfvizError(f"level must be between 0 and 1, such as 0.9, got {level:g}")
    if of not in UNITS:
        raise CrfvizError(f"of must be one of {', '.join(UNITS)}, got {abbreviate_value(of)}")
    if n < needed(level):
        raise CrfvizError(
            f"a level of {level:g} needs at least {needed(level):,} gold sentences, got {n:,}"
        )
    threshold = _distance(judged, level) if of == "sentences" else _marginal(judged, level)
    if threshold is None:
        raise CrfvizError(
            f"no set of {of} reaches a level of {level:g}: too many gold tags of these {n:,} "
            "sentences are forbidden; choose a lower level"
        )
    return Calibration(level, of, threshold, n)


def _distance(judged: Sequence[Judged], level: float) -> float | None:
    rank = math.ceil((len(judged) + 1) * _exact(level))
    distance = sorted(each.distance for each in judged)[rank - 1]
    return distance if distance < math.inf else None


def _marginal(judged: Sequence[Judged], level: float) -> float | None:
    values = np.concatenate([each.of_gold for each in judged])
    lengths = np.array([len(each.gold) for each in judged])
    weights = np.repeat(1.0 / lengths, lengths)  # of a word: its share of its sentence
    order = np.argsort(values, kind="stable")
    missed = np.concatenate([[0.0], np.cumsum(weights[order])[:-1]])  # n · R of words before
    values = values[order]
    first = np.searchsorted(values, values)  # equal marginals are covered together
    most = float((len(judged) + 1) * (1 - _exact(level)) - 1)
    allowed = values[missed[first] <= most + TOLERANCE * len(judged)]
    return float(allowed[-1]) if allowed[-1] > 0.0 else None


def _exact(level: float) -> Fraction:
    return Fraction(level).limit_denominator(10**9)


def count_sets(judged: Iterable[Judged], calibration: Calibration) -> SetCounts:
    """Count what the sets of sentences cover, by group of lengths; counts of parts add up."""
    counts = no_sets()
    for each in judged:
        counts[np.searchsorted(LENGTHS, len(each.gold))] += _counted(each, calibration)
    return counts


def no_sets() -> SetCounts:
    return np.zeros((len(LENGTHS) + 1, COLUMNS), np.int64)


def _counted(judged: Judged, calibration: Calibration) -> NDArray[np.int64]:
    size, sized, abstained = 0, 0, False
    if calibration.of == "sentences":
        within = calibration.threshold
        within += slack(judged.chain.score(judged.best), within)
        size = int((judged.losses <= within).sum())
        abstained = size > MAX_PATHS
        size, sized = (0, 0) if abstained else (size, 1)
        share = float(abstained or judged.distance <= within)
    else:
        size = int((judged.marginals >= calibration.threshold).sum())
        sized = len(judged.gold)
        share = float((judged.of_gold >= calibration.threshold).mean())
    covered, squares = round(share * UNIT), round(share**2 * UNIT)
    return np.array([1, covered, squares, size, sized, abstained])


def judged_of(
    chains: Iterable[Potentials],
    paths: Iterable[Sequence[int]],
    gold: Iterable[Sequence[int]],
    sums: Iterable[Posterior],
) -> Iterator[Judged]:
    """Yield sentences with their gold paths."""
    for chain, best, right, posterior in zip(chains, paths, gold, sums, strict=True):
        yield Judged(chain, best, right, posterior.marginals.numpy())
