"""What the paths of each sentence of a batch add up to, by products; log space where they fail."""

from dataclasses import dataclass

from crfviz.chain.engine import compiled
from crfviz.chain.engine.arrays import Array, added_up, library, log, take
from crfviz.chain.engine.exponentials import Exponentials, exponentials
from crfviz.chain.engine.packed import Packed
from crfviz.chain.engine.pieces import cut, sweeps_of_pieces
from crfviz.chain.engine.sweeps import Sweeps, exact, sweeps


@dataclass(frozen=True, eq=False)
class Sums:
    """Both sweeps and their products; a sentence without an allowed path has zeros."""

    scores: Exponentials
    packed: Packed
    swept: Sweeps
    totals: Array  # (N,) Σ_k a(k) β(k), which is Z up to a factor of the row

    def log_partition(self) -> Array:
        """(B,) log Z of each place, nats; -inf if no path is allowed."""
        p, scores = self.packed, self.scores
        best = scores.best_emissions + scores.best_move  # of each word with the move to it
        words = added_up(best, p.places, len(p.order))
        found = words + scores.best_move + log(self.totals[p.last])
        if self.swept.divided is not None:
            found += self.swept.divided[0][p.last]
        return found

    def ahead(self, weights: Array | None = None) -> Array:
        """(N, K) prefixes divided by Z, each place times its weight; 0 where no path is allowed."""
        xp = library(self.totals)
        alive = self.totals > 0.0
        shares = xp.where(alive, 1.0, 0.0) / xp.where(alive, self.totals, 1.0)
        if weights is not None:
            shares *= weights[self.packed.places]
        return self.swept.prefixes * shares[:, None]

    def marginals(self, ahead: Array) -> Array:
        """(N, K) the probability of each tag, by `ahead` without weights."""
        return self.uses(ahead).clip(max=1.0)  # no rounding above

    def uses(self, ahead: Array) -> Array:
        """(N, K) the expected number of uses of each tag, a β / Z, times the place's weight."""
        return ahead * self.swept.arriving

    def moves(self, ahead: Array) -> Array:
        """(K, K) the expected number of uses of each transition, each place times its weight.

        p(y_{t-1} = j, y_t = k) is a_{t-1}(j) E(j, k) b_t(k), divided by Z at t-1.
        """
        p = self.packed
        used = take(ahead, p.before).T @ self.swept.suffixes[p.later]
        return used * self.scores.transitions


def sums(
    emissions: Array, transitions: Array, start: Array, end: Array, packed: Packed
) -> Sums | None:
    """Both sweeps over N rows of emissions, float64, or None where products are not exact."""
    scores = exponentials(emissions, transitions, start, end)
    if scores is None:
        return None
    swept = compiled.sweeps(scores, packed)
    if swept is None:
        pieces = cut(scores, packed)
        swept = sweeps_of_pieces(scores, pieces) if pieces else sweeps(scores, packed)
    totals = library(emissions).einsum("nk,nk->n", swept.prefixes, swept.arriving)
    return Sums(scores, packed, swept, totals) if exact(scores, swept, totals, packed) else None
