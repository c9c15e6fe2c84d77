"""Brute force: score, sort and sum all K^T paths.

    Z = Σ_y exp(score(y))      p(y_t = k | x) = Σ_{y: y_t = k} exp(score(y)) / Z

The tags of path number n are the digits of n in base K, the first word first.

Letters: `T` tokens, `K` tags, `N` = K^T paths.
"""

import math
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from crfviz.chain import recursions
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import CrfvizError

MAX_PATHS = 1_000_000
FIRST, LAST = 50, 5  # listed paths at both ends of the sorted list
CURVE_POINTS = 200  # points on the curve of the running sum
REPEATS = 5  # timed runs of the recursion, of which the fastest counts


@dataclass(frozen=True, eq=False, repr=False)
class Ranked(ShortRepr):
    """Some paths of the sorted list, with their ranks."""

    ranks: NDArray[np.int_]  # (n,) from 1
    tags: NDArray[np.int_]  # (n, T) tag ids
    scores: Array  # (n,) nats; -inf for a forbidden path
    shares: Array  # (n,) exp(score) / Z; 0 if Z is 0
    running: Array  # (n,) cumulative sum of the shares


@dataclass(frozen=True, eq=False, repr=False)
class Enumeration(ShortRepr):
    """All paths of a sentence, compared with the recursions."""

    num_paths: int  # K^T
    forbidden: int  # number of paths with score -inf
    listed: Ranked  # the first and the last paths of the sorted list
    curve: Ranked  # paths at ranks evenly spaced on a logarithmic scale, including the last
    log_sum: float  # log of the sum over all paths, nats
    log_partition: float  # log Z of the recursion, nats
    largest_deviation: float  # of log Z and of any marginal, between both methods
    seconds: float  # measured time to score, sort and sum all paths
    recursion_seconds: float  # measured time of the forward recursion, the fastest of 5 runs


def num_paths(potentials: Potentials) -> int:
    """Return K^T."""
    return int(potentials.num_tags**potentials.num_tokens)


def words_that_fit(potentials: Potentials) -> int:
    """Return the largest number of first words with at most `MAX_PATHS` paths, 0 if none fits."""
    K, T = potentials.num_tags, potentials.num_tokens
    return next((n for n in range(T, 0, -1) if K**n <= MAX_PATHS), 0)


def enumerate_paths(potentials: Potentials) -> Enumeration:
    """Score, sort and sum every path, in O(T K^T).

    Paths with the same score keep the order of their tags.

    Raises:
        CrfvizError: there are more than `MAX_PATHS` paths; the message has their number.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> enumerate_paths(coin).num_paths
        8
    """
    N = num_paths(potentials)
    if N > MAX_PATHS:
        raise CrfvizError(f"expected at most {MAX_PATHS:,} paths, got {written_count(potentials)}")
    began = perf_counter()
    scores = _scores(potentials, N)
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    top = scores[0] if scores[0] > -math.inf else 0.0
    weights = np.exp(scores - top)
    running = np.cumsum(weights)
    total = running[-1]
    seconds = perf_counter() - began

    def ranked(places: NDArray[np.int_]) -> Ranked:
        return Ranked(
            ranks=places + 1,
            tags=_digits(order[places], potentials),
            scores=scores[places],
            shares=weights[places] / (total or 1.0),
            running=running[places] / (total or 1.0),
        )

    listed = np.arange(N)
    if N > FIRST + LAST:
        listed = np.concatenate([listed[:FIRST], listed[-LAST:]])
    marks = np.unique(np.geomspace(1, N, CURVE_POINTS).round().astype(int)) - 1
    by_recursion, recursion_seconds = _timed(potentials)
    log_sum = float(top + np.log(total)) if total else -math.inf
    shares = np.empty(N)
    shares[order] = weights / (total or 1.0)
    return Enumeration(
        num_paths=N,
        forbidden=int(np.isneginf(scores).sum()),
        listed=ranked(listed),
        curve=ranked(marks),
        log_sum=log_sum,
        log_partition=by_recursion,
        largest_deviation=_deviation(potentials, shares, log_sum),
        seconds=seconds,
        recursion_seconds=recursion_seconds,
    )


def written_count(potentials: Potentials) -> str:
    """Return K^T as text for display: exact, or rounded if it is long."""
    K, T = potentials.num_tags, potentials.num_tokens
    digits = T * math.log10(K)
    if digits < 15:
        return f"{K**T:,}"
    exponent = math.floor(digits)
    return f"{10 ** (digits - exponent):.1f}e{exponent}"


def _scores(potentials: Potentials, N: int) -> Array:
    """Return (N,) the score of every path, in the order of their numbers."""
    emissions, steps, start, end = potentials.arrays()
    numbers = np.arange(N, dtype=np.int32)
    K, power = potentials.num_tags, N // potentials.num_tags
    before = numbers // power
    scores: Array = start[before] + emissions[0][before]
    for emission, step in zip(emissions[1:], steps, strict=True):
        power //= K
        tags = numbers // power % K
        scores += step[before, tags]
        scores += emission[tags]
        before = tags
    return scores + end[before]


def _digits(numbers: NDArray[np.int_], potentials: Potentials) -> NDArray[np.int_]:
    """Return (n, T) the tags of paths by their numbers."""
    K, T = potentials.num_tags, potentials.num_tokens
    powers = K ** np.arange(T - 1, -1, -1)
    return numbers[:, None] // powers % K


def _deviation(potentials: Potentials, shares: Array, log_sum: float) -> float:
    """Return the largest difference in log Z and in the marginals between both methods."""
    tables = forward_backward(potentials)
    if log_sum == -math.inf:
        return 0.0 if tables.log_partition == -math.inf else math.inf
    K, T = potentials.num_tags, potentials.num_tokens
    marginals = [shares.reshape(K**t, K, K ** (T - 1 - t)).sum((0, 2)) for t in range(T)]
    gaps = np.abs(np.stack(marginals) - tables.marginals.numpy())
    return max(abs(log_sum - tables.log_partition), float(gaps.max()))


def _timed(potentials: Potentials) -> tuple[float, float]:
    """Time the forward recursion: log Z, and the seconds of the fastest run."""
    fastest, value = math.inf, 0.0
    for _ in range(REPEATS):
        began = perf_counter()
        value = float(recursions.log_partition(*potentials.arrays()))
        fastest = min(fastest, perf_counter() - began)
    return value, fastest
