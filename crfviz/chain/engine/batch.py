"""What the paths of each sentence of a batch add up to, by products; log space where they fail."""

from dataclasses import dataclass

from crfviz.chain.engine.arrays import Array, library, log, take
from crfviz.chain.engine.exponentials import Exponentials, exponentials
from crfviz.chain.engine.packed import Packed
from crfviz.chain.engine.sweeps import Sweeps, exact, sweeps


@dataclass(frozen=True, eq=False)
class Sums:
    """Both sweeps and their products; a sentence without an allowed path has zeros."""

    scores: Exponentials
    packed: Packed
    swept: Sweeps
    suffixes: Array  # (N, K) β of every row, up to a factor of the row
    totals: Array  # (N,) Σ_k a(k) β(k), which is Z up to that factor

    def log_partition(self) -> Array:
        """(B,) log Z of each place, nats; -inf if no path is allowed."""
        p, scores = self.packed, self.scores
        best = scores.best_emissions + scores.best_move  # of each word with the move to it
        words = library(best).bincount(p.places, best)
        found = words + scores.best_move + log(self.totals[p.last])
        if self.swept.divided is not None:
            found += self.swept.divided[0][p.last]
        return found

    def shares(self) -> Array:
        """(N,) what a product at a row is multiplied by to be a probability."""
        xp = library(self.totals)
        alive = self.totals > 0.0
        return xp.where(alive, 1.0, 0.0) / xp.where(alive, self.totals, 1.0)

    def marginals(self, weights: Array | None = None) -> Array:
        """(N, K) the probability of each tag, times the weight of its place; 0 without a path."""
        shares = self.shares() if weights is None else self.shares() * weights[self.packed.places]
        found = self.swept.reached[0] * self.suffixes
        found *= shares[:, None]
        return found

    def moves(self, weights: Array) -> Array:
        """(K, K) the expected number of uses of each transition, each place times its weight.

        p(y_{t-1} = j, y_t = k) is a_{t-1}(j) E(j, k) b_t(k), divided by Z at t-1.
        """
        p = self.packed
        ahead = self.swept.reached[0] * (self.shares() * weights[p.places])[:, None]
        behind = take(self.swept.reached[1], p.mirrored[p.later])
        return (take(ahead, p.before).T @ behind) * self.scores.transitions


def sums(
    emissions: Array, transitions: Array, start: Array, end: Array, packed: Packed
) -> Sums | None:
    """Both sweeps over N rows of emissions, float64, or None where products are not exact."""
    scores = exponentials(emissions, transitions, start, end)
    if scores is None:
        return None
    swept = sweeps(scores, packed)
    suffixes = take(swept.arriving[1], packed.mirrored)
    totals = library(emissions).einsum("nk,nk->n", swept.reached[0], suffixes)
    return (
        Sums(scores, packed, swept, suffixes, totals)
        if exact(scores, swept, totals, packed)
        else None
    )
