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
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.engine.arrays import Array, copied, empty, library, log, take, views
from crfviz.chain.engine.exponentials import Exponentials
from crfviz.chain.engine.memory import scratch
from crfviz.chain.engine.packed import Packed

FEW_TAGS = 24  # up to here one product of 2K x 2K with zeros is faster than two of K x K


@dataclass(frozen=True, eq=False)
class Sweeps:
    """What the loop leaves for every word; each row up to a factor."""

    prefixes: Array  # (N, K) a
    arriving: Array  # (N, K) β
    suffixes: Array  # (N, K) b
    divided: (
        tuple[Array, Array] | None
    )  # (N,) log of what a, and b from the end on, were divided by


def sweeps(e: Exponentials, packed: Packed) -> Sweeps:
    """Prefixes and suffixes of all words; on a GPU a step costs the same for all sizes."""
    few = packed.first.stop == 1 or e.emissions.shape[1] <= FEW_TAGS
    return (_together if few or isinstance(e.emissions, Tensor) else _in_turn)(e, packed)


def _together(e: Exponentials, packed: Packed) -> Sweeps:
    """Both directions in one row, (N, 2, K), with one product: zeros keep them apart."""
    num_rows, num_tags = e.emissions.shape
    words, arriving, reached = _rooms(e, num_rows, 2, num_tags)
    words[:, 0], words[:, 1] = e.emissions, take(e.emissions, packed.mirrored)
    arriving[packed.first, 0], arriving[packed.first, 1] = e.start, e.end
    steps = _apart(e.transitions, _turned(e.transitions))
    divided = _run(words, arriving, reached, steps, packed, e.stride)
    from_end = 2 * packed.mirrored + 1
    return Sweeps(
        prefixes=copied(reached[:, 0]),
        arriving=take(arriving.reshape(-1, num_tags), from_end),
        suffixes=take(reached.reshape(-1, num_tags), from_end),
        divided=None if divided is None else (divided[:, 0], divided[:, 1]),
    )


def _in_turn(e: Exponentials, packed: Packed) -> Sweeps:
    """One direction after the other, (N, 1, K)."""
    num_rows, num_tags = e.emissions.shape
    words, arriving, reached = _rooms(e, num_rows, 1, num_tags)
    prefixes = empty(reached.shape, reached)
    arriving[packed.first, 0] = e.start
    divided = _run(e.emissions[:, None], arriving, prefixes, e.transitions, packed, e.stride)
    words[:, 0] = take(e.emissions, packed.mirrored)
    arriving[packed.first, 0] = e.end
    back = _run(words, arriving, reached, _turned(e.transitions), packed, e.stride)
    return Sweeps(
        prefixes=prefixes[:, 0],
        arriving=take(arriving[:, 0], packed.mirrored),
        suffixes=take(reached[:, 0], packed.mirrored),
        divided=None if divided is None or back is None else (divided[:, 0], back[:, 0]),
    )


def _rooms(e: Exponentials, *shape: int) -> Array:
    """Room for the words, for what arrives at them, and for what is reached with them."""
    return scratch("sweeps", (3, *shape), e.emissions)


def _run(
    words: Array,
    arriving: Array,
    reached: Array,
    transitions: Array,
    packed: Packed,
    stride: int,
) -> Array | None:
    """Fill tables (N, n, K) column by column, from what arrives at the first one on.

    Returns:
        (N, n) log of what each row was divided by; None if by nothing.
    """
    steps = transitions if transitions.ndim == 3 else [transitions] * len(packed.previous)
    xp = library(words)
    product = np.dot if xp is np else torch.mm  # a matrix each: less to look at than for matmul
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
    """Divide the last column of a stride by its sums, and carry on the logarithms of all before."""
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


def _least(table: Array) -> float:
    """The smallest positive number."""
    return float(library(table).where(table > 0.0, table, math.inf).min())


def _turned(transitions: Array) -> Array:
    """The steps of a sentence that is read from its end."""
    if transitions.ndim == 3:
        transitions = library(transitions).flip(transitions, (0,))
    return transitions.swapaxes(-1, -2)


def _apart(ahead: Array, back: Array) -> Array:
    """Steps that multiply both directions of a row, each by its own: (..., 2K, 2K)."""
    num_tags = ahead.shape[-1]
    both = empty((*ahead.shape[:-2], 2 * num_tags, 2 * num_tags), ahead)
    both[:] = 0.0
    both[..., :num_tags, :num_tags], both[..., num_tags:, num_tags:] = ahead, back
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
    return min(_least(found.prefixes), _least(found.suffixes)) >= e.smallest
