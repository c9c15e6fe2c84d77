"""Scores as numbers from 0 to 1, and whether products of them are exact: the one decision.

Sums over paths are fastest as sums of products, without a logarithm at every step (Rabiner, 1989,
section V.A, who divides every row by its sum so that nothing underflows). Where scores differ by
too much that goes wrong without a word: a tag that looks hopeless up to here may lie on the best
path, and is lost once its share is below the smallest float. `exponentials` and `exact` decide
whether the products may be used; if not, the answer comes from `crfviz.chain.recursions`.

Of the scores that are not forbidden, let emissions lie at most r_e nats below the best one of their
word, and transitions, starts and ends at most r_w below the best of them all. What is best becomes
1. A row of a sweep is divided by its sum after every n steps, n = HALF / max(r_w, log K).

Before: r_e + r_w is at most WIDEST, so that n is at least 1. Without forbidden scores, every step
comes from all tags. So the sum of a row shrinks by exp(-r_w) at most and grows by K at most in a
step, and no tag is below exp(-r_e - r_w) of the sum before. Hence all rows are normal floats, from
exp(-WIDEST - HALF) to exp(HALF), and the products of both sweeps at a word add up to
exp(-2 HALF) / K or more: normal floats go from exp(-708) to exp(709).

After: with forbidden scores, a tag may be reached from a hopeless one alone. Then the smallest
positive number in both sweeps must be at least exp(r_e + r_w - HALF). By induction: as far as that
holds, what the next step reaches is at least exp(-HALF), and exp(-2 HALF) after a division. So it
is not lost, and the check sees it; and the product of two such numbers is a normal float. What is 0
then is forbidden. In any case the sums of the products of both sweeps must be positive at all words
of a sentence or at none.
"""

import math
from dataclasses import dataclass

from crfviz.chain.engine.arrays import Array, largest, library, lowest_finite

WIDEST = 280.0  # nats
HALF = 340.0  # nats


@dataclass(frozen=True, eq=False)
class Exponentials:
    """exp(score - best), the best being that of a word, or that of all moves."""

    emissions: Array  # (N, K)
    transitions: Array  # (K, K), or (T-1, K, K) for one sentence
    start: Array  # (K,), or (B, K) for the places of a batch
    end: Array  # (K,), or (B, K)
    best_emissions: Array  # (N,) nats; 0 where every tag is forbidden
    best_move: float  # nats, of transitions, starts and ends
    stride: int  # n: a row is to be divided by its sum after so many steps
    smallest: float  # a positive number in a sweep must be at least this; 0 if nothing is forbidden


def exponentials(
    emissions: Array, transitions: Array, start: Array, end: Array
) -> Exponentials | None:
    """The scores of N words and of all moves, float64, or None if they differ by too much."""
    xp, num_tags = library(emissions), emissions.shape[1]
    best = largest(emissions)
    best[best == -math.inf] = 0.0
    words = emissions - best[:, None]
    parts = [scores.reshape(-1, num_tags) for scores in (transitions, start, end)]
    moves = xp.concatenate(parts)
    best_move = max(float(moves.max()), -1e300)
    moves -= best_move
    lowest_word, forbidden_word = lowest_finite(words)
    lowest_move, forbidden_move = lowest_finite(moves)
    spread = -lowest_word - lowest_move
    if not spread <= WIDEST:
        return None
    xp.exp(moves, out=moves)
    return Exponentials(
        emissions=xp.exp(words, out=words),
        transitions=moves[: len(parts[0])].reshape(transitions.shape),
        start=moves[len(parts[0]) : -len(parts[2])].reshape(start.shape),
        end=moves[-len(parts[2]) :].reshape(end.shape),
        best_emissions=best,
        best_move=best_move,
        stride=int(HALF / max(-lowest_move, math.log(num_tags), 1e-6)),
        smallest=math.exp(spread - HALF) if forbidden_word or forbidden_move else 0.0,
    )
