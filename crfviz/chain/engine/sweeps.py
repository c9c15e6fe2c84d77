"""Forward and backward sweeps as products, and the proof of when they are exact.

Emissions are (N, K) rows of packed sentences, transitions (K, K), both sweeps (N, K).

Sums over paths are fastest as sums of products, without a logarithm at every step (Rabiner, 1989,
section V.A, divides every row by its sum to prevent underflow). If scores differ by too much, this
fails silently: a tag with a tiny share up to here may lie on the best path, and is lost once its
share is below the smallest float. `exponentials` and `is_exact` decide whether the products may be
used; if not, `crfviz.chain.recursions` computes the result.

Of the scores that are not forbidden, let emissions lie at most r_e nats below the best one of their
word, and transitions, starts and ends at most r_w below the best of them all. The best score
becomes 1. A row of a sweep is divided by its sum after every n steps,
n = MAX_DECAY / max(r_w, log K).

Before: r_e + r_w is at most MAX_SPREAD, so that n is at least 1. Without forbidden scores, every
step comes from all tags. So the sum of a row shrinks by exp(-r_w) at most and grows by K at most in
a step, and no tag is below exp(-r_e - r_w) of the sum before. Hence all rows are normal floats,
from exp(-MAX_SPREAD - MAX_DECAY) to exp(MAX_DECAY), and the products of both sweeps at a word add
up to exp(-2 MAX_DECAY) / K or more: normal floats go from exp(-708) to exp(709).

After: with forbidden scores, a tag may be reached from a hopeless one alone. Then the smallest
positive number in both sweeps must be at least exp(r_e + r_w - MAX_DECAY). By induction: as far as
that holds, what the next step reaches is at least exp(-MAX_DECAY), and exp(-2 MAX_DECAY) after a
division. So it is not lost, and the check sees it; and the product of two such numbers is a normal
float. What is 0 then is forbidden. In any case the sums of the products of both sweeps must be
positive at all words of a sentence or at none.

With x, E, s and f the exponentials of emissions, transitions, start and end:

    prefixes   a_1 = s ∘ x_1        a_t = (a_{t-1} E) ∘ x_t
    suffixes   b_T = f ∘ x_T        b_t = (b_{t+1} Eᵀ) ∘ x_t

A suffix is a prefix of the sentence read from its end, so one product serves both. The incoming
sums at a word, before multiplying by x_t, are stored, too: for suffixes they are β_t, and a_t ∘ β_t
adds up to Z at every word, up to the divisors of the rows.

Source: Rabiner, "A tutorial on hidden Markov models" (1989), sections III.A and V.A.

A recursion over T words takes T steps, however few numbers there are in each. But the effect of a
chunk of L words on a prefix is a matrix, and those of all chunks are computed together, in L steps:

    S = E ∘ x_1 (E ∘ x_2) ... (E ∘ x_L)          one row for each tag of the word before

From chunk to chunk, these matrices give the incoming sums on both sides of each, in T / L steps.
Then each chunk is a sentence of its own, with these sums as start and end, and the sweeps of all
chunks take L steps together.

If nothing is forbidden, this is as exact as the sweeps: a row of S is a sweep from one tag, and the
incoming sums of a chunk lie, like a start, at most r_w nats below their best. With forbidden
scores, a tag may be reachable from a single tag only, and the bound does not hold.

Source: Särkkä and García-Fernández, "Temporal parallelization of Bayesian smoothers" (2021).
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.engine.packing import (
    Array,
    Ids,
    Packed,
    copy_of,
    empty,
    largest,
    library,
    log,
    lowest_finite,
    pack,
    scratch,
    take_rows,
    views,
)

MAX_SPREAD = 280.0  # nats
MAX_DECAY = 340.0  # nats


@dataclass(frozen=True, eq=False)
class Exponentials:
    """exp(score - best): `best` is the maximum of a word, or of all transitions."""

    emissions: Array  # (N, K)
    transitions: Array  # (K, K), or (T-1, K, K) for one sentence
    start: Array  # (K,), or (B, K) for the places of a batch
    end: Array  # (K,), or (B, K)
    best_emissions: Array  # (N,) nats; 0 where every tag is forbidden
    best_move: float  # nats, of transitions, starts and ends
    stride: int  # n: number of steps after which a row is divided by its sum
    smallest: float  # a positive number in a sweep must be at least this; 0 if nothing is forbidden


def exponentials(
    emissions: Array, transitions: Array, start: Array, end: Array
) -> Exponentials | None:
    """Return exp of the scores of N words and all moves; None if their range is too large."""
    best = largest(emissions)
    best[best == -math.inf] = 0.0
    words = emissions - best[:, None]
    return exponentials_below(words, best, lowest_finite(words), transitions, start, end)


def exponentials_below(
    words: Array,
    best: Array,
    lowest: tuple[float, bool],
    transitions: Array,
    start: Array,
    end: Array,
) -> Exponentials | None:
    """Return the same as `exponentials`, from scores minus the best score of their word.

    Args:
        words: (N, K) nats, at most 0; overwritten.
        best: (N,) the best score of each word, nats.
        lowest: the result of `lowest_finite` for the words.
        transitions: original scores, as are start and end.
        start: of each place, or of all.
        end: the same.
    """
    xp, num_tags = library(words), words.shape[1]
    parts = [scores.reshape(-1, num_tags) for scores in (transitions, start, end)]
    moves = xp.concatenate(parts)
    best_move = max(float(moves.max()), -1e300)
    moves -= best_move
    lowest_word, forbidden_word = lowest
    lowest_move, forbidden_move = lowest_finite(moves)
    spread = -lowest_word - lowest_move
    if not spread <= MAX_SPREAD:
        return None
    xp.exp(moves, out=moves)
    return Exponentials(
        emissions=xp.exp(words, out=words),
        transitions=moves[: len(parts[0])].reshape(transitions.shape),
        start=moves[len(parts[0]) : -len(parts[2])].reshape(start.shape),
        end=moves[-len(parts[2]) :].reshape(end.shape),
        best_emissions=best,
        best_move=best_move,
        stride=int(MAX_DECAY / max(-lowest_move, math.log(num_tags), 1e-6)),
        smallest=math.exp(spread - MAX_DECAY) if forbidden_word or forbidden_move else 0.0,
    )


FEW_TAGS = 24  # up to here, one 2K x 2K product with zeros is faster than two K x K products


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Both sweeps over N words of K tags; each row up to a factor."""

    prefixes: Array  # (N, K) a
    arriving: Array  # (N, K) β
    suffixes: Array  # (N, K) b
    divided: tuple[Array, Array] | None  # (N,) log divisors of a, and of b from the end


def sweeps(e: Exponentials, packed: Packed) -> Sweeps:
    """Return both sweeps over all words; on a GPU, the time of a step does not depend on K."""
    few = packed.first.stop == 1 or e.emissions.shape[1] <= FEW_TAGS
    return (_both_at_once if few or isinstance(e.emissions, Tensor) else _one_by_one)(e, packed)


def _both_at_once(e: Exponentials, packed: Packed) -> Sweeps:
    """Compute both directions in one row, (N, 2, K), by one product with a block matrix."""
    num_rows, num_tags = e.emissions.shape
    words, arriving, reached = _buffers(e, num_rows, 2, num_tags)
    words[:, 0], words[:, 1] = e.emissions, take_rows(e.emissions, packed.mirrored)
    arriving[packed.first, 0], arriving[packed.first, 1] = e.start, e.end
    steps = _block_diagonal(e.transitions, _reversed_steps(e.transitions))
    divided = _fill(words, arriving, reached, steps, packed, e.stride)
    from_end = 2 * packed.mirrored + 1
    return Sweeps(
        prefixes=copy_of(reached[:, 0]),
        arriving=take_rows(arriving.reshape(-1, num_tags), from_end),
        suffixes=take_rows(reached.reshape(-1, num_tags), from_end),
        divided=None if divided is None else (divided[:, 0], divided[:, 1]),
    )


def _one_by_one(e: Exponentials, packed: Packed) -> Sweeps:
    """Compute one direction after the other, (N, 1, K)."""
    num_rows, num_tags = e.emissions.shape
    words, arriving, reached = _buffers(e, num_rows, 1, num_tags)
    prefixes = empty(reached.shape, reached)
    arriving[packed.first, 0] = e.start
    divided = _fill(e.emissions[:, None], arriving, prefixes, e.transitions, packed, e.stride)
    words[:, 0] = take_rows(e.emissions, packed.mirrored)
    arriving[packed.first, 0] = e.end
    back = _fill(words, arriving, reached, _reversed_steps(e.transitions), packed, e.stride)
    return Sweeps(
        prefixes=prefixes[:, 0],
        arriving=take_rows(arriving[:, 0], packed.mirrored),
        suffixes=take_rows(reached[:, 0], packed.mirrored),
        divided=None if divided is None or back is None else (divided[:, 0], back[:, 0]),
    )


def _buffers(e: Exponentials, *shape: int) -> Array:
    """Return buffers for emissions, incoming sums and reached sums."""
    return scratch("sweeps", (3, *shape), e.emissions)


def _fill(
    words: Array,
    arriving: Array,
    reached: Array,
    transitions: Array,
    packed: Packed,
    stride: int,
) -> Array | None:
    """Fill tables (N, n, K) position by position, from the incoming sums of the first words.

    Returns:
        (N, n) log divisor of each row; None if no row was divided.
    """
    steps = transitions if transitions.ndim == 3 else [transitions] * len(packed.previous)
    xp = library(words)
    product = np.dot if xp is np else torch.mm  # on two matrices; faster than the checks of matmul
    divided = None
    if len(packed.columns) >= stride:
        divided = xp.zeros_like(words[..., 0])
    xp.multiply(arriving[packed.first], words[packed.first], out=reached[packed.first])
    later = packed.columns[1:]
    x, a, r = (table.reshape(len(table), -1) for table in (words, arriving, reached))
    tables = views(r, packed.previous), views(a, later), views(x, later), views(r, later)
    ways = list(zip(*tables, steps, strict=True))
    for begin in range(0, len(packed.columns), stride):
        for leaving, here, word, found, step in ways[max(begin, 1) - 1 : begin + stride - 1]:
            product(leaving, step, out=here)
            xp.multiply(here, word, out=found)
        if divided is not None:
            _divide(reached, divided, packed, range(begin, begin + stride))
    return divided


def _divide(reached: Array, divided: Array, packed: Packed, stride: range) -> None:
    """Divide the last column of a stride by its sums; accumulate the log divisors."""
    columns = packed.columns[stride.start : stride.stop]
    if stride.start > 0:
        rows = slice(columns[0].start, columns[-1].stop)
        before = packed.columns[stride.start - 1].start
        divided[rows] = divided[before + packed.places[rows]]
    if len(columns) == len(stride):
        here = columns[-1]
        sums = reached[here].sum(-1)
        sums[sums == 0.0] = 1.0  # nothing is allowed
        reached[here] /= sums[..., None]
        divided[here] += log(sums)


def _smallest_positive(table: Array) -> float:
    return float(library(table).where(table > 0.0, table, math.inf).min())


def _reversed_steps(transitions: Array) -> Array:
    if transitions.ndim == 3:
        transitions = library(transitions).flip(transitions, (0,))
    return transitions.swapaxes(-1, -2)


def _block_diagonal(ahead: Array, back: Array) -> Array:
    """Return (..., 2K, 2K) matrices that multiply both directions of a row separately."""
    num_tags = ahead.shape[-1]
    both = empty((*ahead.shape[:-2], 2 * num_tags, 2 * num_tags), ahead)
    both[:] = 0.0
    both[..., :num_tags, :num_tags], both[..., num_tags:, num_tags:] = ahead, back
    return both


def is_exact(e: Exponentials, swept: Sweeps, totals: Array, packed: Packed) -> bool:
    """Return whether nothing was lost: the check after the sweeps, as the module describes.

    Args:
        e: the exponentials.
        swept: the sweeps over them.
        totals: (N,) sums of the products of both sweeps.
        packed: the layout of their rows.
    """
    if e.smallest == 0.0:
        return float(totals.min()) > 0.0
    alive = totals > 0.0
    if not (alive == alive[packed.first][packed.places]).all():
        return False
    return min(_smallest_positive(swept.prefixes), _smallest_positive(swept.suffixes)) >= e.smallest


MIN_LONG_WORDS = 500  # words
MIN_CHUNK_WORDS = 8  # words of a chunk


@dataclass(frozen=True, eq=False)
class Chunks:
    """Split of T words into n chunks."""

    length: int  # L words per chunk; the last one may have fewer
    packed: Packed  # the chunks as sentences, from first to last
    words: Ids  # (T,) the row of each word
    places: Ids  # (T,) the chunk of each word
    first: Ids  # (n-1,) the first words of all chunks but the first


@lru_cache(maxsize=16)
def chunks(num_words: int, length: int) -> Chunks:
    """Return the chunks of a sentence."""
    lengths = np.full(-(-num_words // length), length)
    lengths[-1] -= lengths.sum() - num_words
    packed = pack(lengths, length)  # longest first: the shorter last one stays last
    words = np.arange(num_words)
    return Chunks(length, packed, packed.cells.argsort(), words // length, words[length::length])


def chunks_for(e: Exponentials, packed: Packed) -> Chunks | None:
    """Return the chunks of one long sentence with few tags on the CPU; None for other batches."""
    num_words, num_tags = e.emissions.shape
    alone = packed.first.stop == 1 and isinstance(e.emissions, np.ndarray)
    if not alone or num_words < MIN_LONG_WORDS or num_tags > FEW_TAGS:
        return None
    if e.transitions.ndim == 3 or e.smallest > 0.0:
        return None
    length = min(isqrt(num_words), e.stride - 2)
    return chunks(num_words, length) if length >= MIN_CHUNK_WORDS else None


def chunked_sweeps(e: Exponentials, cut: Chunks) -> Sweeps:
    """Compute `sweeps` of one sentence by its chunks."""
    start, end, factors = _sweep_between(e, _chunk_products(e, cut))
    words = e.emissions.take(cut.packed.cells, 0)
    swept = sweeps(replace(e, emissions=words, start=start, end=end), cut.packed)
    prefixes, arriving, suffixes = (
        table.take(cut.words, 0) for table in (swept.prefixes, swept.arriving, swept.suffixes)
    )
    arriving[cut.first - 1] = suffixes[cut.first] @ e.transitions.T  # by the factor of the suffix
    logs = np.log(factors).cumsum(1)
    divided = logs[0].take(cut.places), logs[1].take(cut.places[-1] - cut.places[::-1])
    return Sweeps(prefixes, arriving, suffixes, divided)


def _chunk_products(e: Exponentials, cut: Chunks) -> Array:
    """Return (K, n, K) the product of each chunk from each previous tag; the first from start."""
    num_words, num_tags = e.emissions.shape
    last = num_words % cut.length or cut.length
    num_pieces = cut.packed.first.stop
    words = np.ones((num_pieces, cut.length, num_tags))
    words.reshape(-1, num_tags)[:num_words] = e.emissions
    product, room = scratch("products of pieces", (2, num_tags, num_pieces, num_tags), words)
    product[:] = e.transitions[:, None]
    product[:, 0] = e.start
    complete = product[:, -1]
    for position, column in enumerate(words.swapaxes(0, 1).copy()):
        if position > 0:
            np.dot(product.reshape(-1, num_tags), e.transitions, out=room.reshape(-1, num_tags))
            product, room = room, product
        product *= column
        if position == last - 1:
            complete = product[:, -1].copy()
    product[:, -1] = complete
    return product


def _sweep_between(e: Exponentials, products: Array) -> tuple[Array, Array, Array]:
    """Return messages into the chunks, as starts and ends (n, K), and their divisors, (2, n).

    The ends are computed from the last chunk to the first; their divisors are in that order.
    """
    num_tags, num_pieces, _ = products.shape
    steps = np.empty((num_pieces, 2, num_tags, num_tags))  # both directions in one table
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
