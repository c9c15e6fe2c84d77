"""One long sentence as a batch of pieces: fewer steps, of more numbers each.

A recursion over T words takes T steps, however few numbers there are in each. But what a piece of L
words does to a prefix is a matrix, and those of all pieces are found together, in L steps:

    S = E ∘ x_1 (E ∘ x_2) ... (E ∘ x_L)          one row for each tag of the word before

From piece to piece they give what arrives at each from both sides, in T / L steps. Then the pieces
are sentences of their own, which start and end with that, and their sweeps take L steps together.

Where nothing is forbidden this is as exact as the sweeps: a row of S is a sweep from one tag, and
what arrives at a piece lies, as a start does, at most r_w nats below its best
(`crfviz.chain.engine.exponentials`). Elsewhere a tag may be reached from a single one, and no more
is known.

Source: Särkkä and García-Fernández, "Temporal parallelization of Bayesian smoothers" (2021).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt

import numpy as np

from crfviz.chain.engine.arrays import Array, Ids
from crfviz.chain.engine.exponentials import Exponentials
from crfviz.chain.engine.memory import scratch
from crfviz.chain.engine.packed import Packed, pack
from crfviz.chain.engine.sweeps import FEW_TAGS, Sweeps, sweeps

LONG = 500  # words
SHORTEST = 8  # words of a piece


@dataclass(frozen=True, eq=False)
class Pieces:
    """How T words are cut into n pieces."""

    length: int  # L words of each but the last one, which may have fewer
    packed: Packed  # the pieces as sentences, from first to last
    words: Ids  # (T,) the row of each word
    places: Ids  # (T,) the piece of each word
    first: Ids  # (n-1,) the first words of all pieces but the first


@lru_cache(maxsize=16)
def pieces(num_words: int, length: int) -> Pieces:
    """The pieces of a sentence."""
    lengths = np.full(-(-num_words // length), length)
    lengths[-1] -= lengths.sum() - num_words
    packed = pack(lengths, length)  # the longest first, which leaves the last one where it is
    words = np.arange(num_words)
    return Pieces(length, packed, packed.cells.argsort(), words // length, words[length::length])


def cut(e: Exponentials, packed: Packed) -> Pieces | None:
    """How a batch is best cut: not at all, but for one long sentence of few tags on the CPU."""
    num_words, num_tags = e.emissions.shape
    alone = packed.first.stop == 1 and isinstance(e.emissions, np.ndarray)
    if not alone or num_words < LONG or num_tags > FEW_TAGS:
        return None
    if e.transitions.ndim == 3 or e.smallest > 0.0:
        return None
    length = min(isqrt(num_words), e.stride - 2)
    return pieces(num_words, length) if length >= SHORTEST else None


def sweeps_of_pieces(e: Exponentials, cut: Pieces) -> Sweeps:
    """`sweeps` of one sentence, by its pieces."""
    start, end, factors = _between(e, _products(e, cut))
    words = e.emissions.take(cut.packed.cells, 0)
    found = sweeps(replace(e, emissions=words, start=start, end=end), cut.packed)
    prefixes, arriving, suffixes = (
        table.take(cut.words, 0) for table in (found.prefixes, found.arriving, found.suffixes)
    )
    arriving[cut.first - 1] = suffixes[cut.first] @ e.transitions.T  # by the factor of the suffix
    logs = np.log(factors).cumsum(1)
    divided = logs[0].take(cut.places), logs[1].take(cut.places[-1] - cut.places[::-1])
    return Sweeps(prefixes, arriving, suffixes, divided)


def _products(e: Exponentials, cut: Pieces) -> Array:
    """(K, n, K) what each piece does to each tag before it; the first one to the start alone."""
    num_words, num_tags = e.emissions.shape
    last = num_words % cut.length or cut.length
    num_pieces = cut.packed.first.stop
    words = np.ones((num_pieces, cut.length, num_tags))
    words.reshape(-1, num_tags)[:num_words] = e.emissions
    found, room = scratch("products of pieces", (2, num_tags, num_pieces, num_tags), words)
    found[:] = e.transitions[:, None]
    found[:, 0] = e.start
    complete = found[:, -1]
    for position, column in enumerate(words.swapaxes(0, 1).copy()):
        if position > 0:
            np.dot(found.reshape(-1, num_tags), e.transitions, out=room.reshape(-1, num_tags))
            found, room = room, found
        found *= column
        if position == last - 1:
            complete = found[:, -1].copy()
    found[:, -1] = complete
    return found


def _between(e: Exponentials, products: Array) -> tuple[Array, Array, Array]:
    """What arrives at the pieces, as starts and ends (n, K), and what each was divided by, (2, n).

    The ends and their divisors are found from the last piece to the first, in whose order the
    divisors stand.
    """
    num_tags, num_pieces, _ = products.shape
    steps = np.empty((num_pieces, 2, num_tags, num_tags))  # one direction each, which meet
    steps[:, 0] = products.swapaxes(0, 1)
    steps[1:, 1] = steps[:0:-1, 0].swapaxes(1, 2)
    reached, factors = np.empty((num_pieces, 2, 1, num_tags)), np.ones((num_pieces, 2, 1, 1))
    reached[0, 0, 0], reached[0, 1, 0] = steps[0, 0, 0], e.end
    for before, step, here, factor in zip(
        reached, steps[1:], reached[1:], factors[1:], strict=False
    ):
        np.matmul(before, step, out=here)
        here /= np.maximum.reduce(here, -1, keepdims=True, out=factor)
    start = np.empty((num_pieces, num_tags))
    start[0], start[1:] = e.start, reached[:-1, 0, 0] @ e.transitions
    divided = np.ones((2, num_pieces))
    divided[0, 1:], divided[1] = factors[:-1, 0, 0, 0], factors[:, 1, 0, 0]
    return start, reached[::-1, 1, 0], divided
