"""Forward and backward as products, both in one loop over rows of packed sentences.

With x, E, s and f the exponentials of emissions, transitions, start and end:

    prefixes   a_1 = s ∘ x_1        a_t = (a_{t-1} E) ∘ x_t
    suffixes   b_T = f ∘ x_T        b_t = (b_{t+1} Eᵀ) ∘ x_t

A suffix is a prefix of the sentence read from its end, so that one product serves both. What
arrives at a word, before x_t is multiplied, is kept, too: for the suffixes it is β_t, and a_t ∘ β_t
adds up to Z at every word, but for what the rows were divided by.

Source: Rabiner, "A tutorial on hidden Markov models" (1989), sections III.A and V.A.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from crfviz.chain.engine.arrays import Array, empty, library, log, take
from crfviz.chain.engine.exponentials import Exponentials
from crfviz.chain.engine.packed import Packed

FEW_TAGS = 24  # up to here one product of 2K x 2K with zeros is faster than two of K x K


@dataclass(frozen=True, eq=False)
class Sweeps:
    """What the loop leaves: index 0 reads from the start of a sentence, index 1 from its end."""

    arriving: Array  # (2, N, K) before the emission; the first rows are s and f
    reached: Array  # (2, N, K) with the emission
    divided: Array | None  # (2, N) log of all that a row was divided by; None if by nothing


def sweeps(e: Exponentials, packed: Packed) -> Sweeps:
    """Prefixes and suffixes of all words, each direction in the order in which it reads."""
    xp, columns, steps = library(e.emissions), packed.columns, _steps(e, packed)
    (x, emissions), (a, arriving), (r, reached) = (_room(e.emissions) for _ in range(3))
    emissions[0], emissions[1] = e.emissions, take(e.emissions, packed.mirrored)
    arriving[0, packed.first], arriving[1, packed.first] = e.start, e.end
    reached[:, packed.first] = arriving[:, packed.first] * emissions[:, packed.first]
    divided = xp.zeros_like(emissions[..., 0]) if len(columns) >= e.stride else None
    if divided is not None and e.stride == 1:
        divided[:, packed.first] = _divide(reached[:, packed.first])
    for t, (before, here) in enumerate(pairwise(columns)):
        there = slice(before.start, before.start + here.stop - here.start)
        xp.matmul(r[..., there, :], steps[t], out=a[..., here, :])
        xp.multiply(a[..., here, :], x[..., here, :], out=r[..., here, :])
        if divided is not None:
            divided[:, here] = divided[:, there]
            if (t + 2) % e.stride == 0:
                divided[:, here] += _divide(reached[:, here])
    return Sweeps(arriving, reached, divided)


def _divide(rows: Array) -> Array:
    """Divide rows (2, n, K) by their sums, in place, and return the logarithms of these."""
    sums = rows.sum(-1)
    sums[sums == 0.0] = 1.0  # nothing is allowed
    rows /= sums[..., None]
    return log(sums)


def _room(words: Array) -> tuple[Array, Array]:
    """Room for two tables (N, K): as the factors of a product, and as (2, N, K) in any case."""
    num_words, num_tags = words.shape
    if num_tags > FEW_TAGS:
        room = empty((2, num_words, num_tags), words)
        return room, room
    room = empty((num_words, 2, num_tags), words)
    return room.reshape(num_words, 2 * num_tags), room.swapaxes(0, 1)


def _steps(e: Exponentials, packed: Packed) -> Sequence[Array]:
    """What the rows of each column but the last are multiplied by on the way to the next one."""
    if e.transitions.ndim == 2:
        return [_both_ways(e.transitions, e.transitions.T)] * len(packed.columns)
    backward = library(e.transitions).flip(e.transitions, (0,)).swapaxes(-1, -2)
    return list(map(_both_ways, e.transitions, backward))


def _both_ways(forward: Array, backward: Array) -> Array:
    """(2, K, K), or (2K, 2K) with zeros between the directions."""
    num_tags = len(forward)
    if num_tags > FEW_TAGS:
        return library(forward).stack([forward, backward])
    both = empty((2 * num_tags, 2 * num_tags), forward)
    both[:] = 0.0
    both[:num_tags, :num_tags], both[num_tags:, num_tags:] = forward, backward
    return both


def exact(e: Exponentials, found: Sweeps, totals: Array, packed: Packed) -> bool:
    """Whether nothing was lost: the check after, of `crfviz.chain.engine.exponentials`.

    Args:
        e: what the sweeps are of.
        found: the sweeps.
        totals: (N,) sums of the products of both sweeps.
        packed: whose rows they are.
    """
    if e.smallest == 0.0:
        return float(totals.min()) > 0.0
    alive = totals > 0.0
    if not (alive == alive[packed.first][packed.places]).all():
        return False
    positive = library(totals).where(found.reached > 0.0, found.reached, math.inf)
    return float(positive.min()) >= e.smallest
