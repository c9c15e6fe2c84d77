"""Sums over paths of a packed batch by products, and the results computed from them.

With N rows, K tags and B sentences: log Z (B,), marginals (N, K), expected transitions (K, K),
log tables (N, K), and the likelihood with its gradient:

    d log p / d e_t(k)    = [y_t = k] - p(y_t = k)
    d log p / d w(j, k)   = uses of j -> k in y, minus the expected ones

so that one pass of both sweeps gives everything for the backward pass (Sutton and McCallum, 2012,
section 5.1). For second derivatives, the gradient is computed in log space.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.engine import compiled
from crfviz.chain.engine.packing import (
    Array,
    Ids,
    Packed,
    add_to,
    library,
    log,
    pick_per_row,
    sum_by_id,
    take_rows,
)
from crfviz.chain.engine.sweeps import (
    Exponentials,
    Sweeps,
    chunked_sweeps,
    chunks_for,
    exponentials,
    is_exact,
    sweeps,
)


@dataclass(frozen=True, eq=False)
class Sums:
    """Both sweeps and their products; zeros for a sentence without an allowed path."""

    scores: Exponentials
    packed: Packed
    swept: Sweeps
    totals: Array  # (N,) Σ_k a(k) β(k): Z up to a factor per row

    def log_partition(self) -> Array:
        """Return (B,) log Z of each place, nats; -inf if no path is allowed."""
        p, scores = self.packed, self.scores
        best = scores.best_emissions + scores.best_move  # of each word, with the move into it
        words = sum_by_id(best, p.places, len(p.order))
        result = words + scores.best_move + log(self.totals[p.last])
        if self.swept.divided is not None:
            result += self.swept.divided[0][p.last]
        return result

    def ahead(self, weights: Array | None = None) -> Array:
        """Return (N, K) prefixes divided by Z, times each place's weight; 0 without a path."""
        xp = library(self.totals)
        alive = self.totals > 0.0
        shares = xp.where(alive, 1.0, 0.0) / xp.where(alive, self.totals, 1.0)
        if weights is not None:
            shares *= weights[self.packed.places]
        return self.swept.prefixes * shares[:, None]

    def marginals(self, ahead: Array) -> Array:
        """Return (N, K) the probability of each tag; `ahead` is computed without weights."""
        return self.uses(ahead).clip(max=1.0)  # rounding must not exceed 1

    def uses(self, ahead: Array) -> Array:
        """Return (N, K) the expected uses of each tag, a β / Z, times the place's weight."""
        return ahead * self.swept.arriving

    def moves(self, ahead: Array) -> Array:
        """Return (K, K) the expected uses of each transition, weighted by place.

        p(y_{t-1} = j, y_t = k) is a_{t-1}(j) E(j, k) b_t(k), divided by Z at t-1.
        """
        p = self.packed
        used = take_rows(ahead, p.before).T @ self.swept.suffixes[p.later]
        return used * self.scores.transitions


def sums(
    emissions: Array, transitions: Array, start: Array, end: Array, packed: Packed
) -> Sums | None:
    """Return both sweeps over N rows of float64 emissions, or None where products are inexact."""
    scores = exponentials(emissions, transitions, start, end)
    if scores is None:
        return None
    swept = compiled.sweeps(scores, packed)
    if swept is None:
        pieces = chunks_for(scores, packed)
        swept = chunked_sweeps(scores, pieces) if pieces else sweeps(scores, packed)
    totals = library(emissions).einsum("nk,nk->n", swept.prefixes, swept.arriving)
    return Sums(scores, packed, swept, totals) if is_exact(scores, swept, totals, packed) else None


Table = NDArray[np.float64]


def log_tables(sums: Sums) -> tuple[Table, Table]:
    """Return log α and log β of all rows, (N, K) nats each; α with the emission, β without."""
    p = sums.packed
    best = sums.scores.best_emissions + sums.scores.best_move  # of each word and the move into it
    next_from_end = p.mirrored[p.later]
    ahead_of, behind_of = _carried(best, p), np.zeros(len(best))
    behind_of[p.before] = _carried(best[p.mirrored], p)[next_from_end]
    behind_of += sums.scores.best_move
    if sums.swept.divided is not None:
        prefixes, suffixes = sums.swept.divided
        ahead_of += prefixes
        behind_of[p.before] += suffixes[next_from_end]  # divisors up to that word
    alpha = log(sums.swept.prefixes)
    beta = log(sums.swept.arriving)
    alpha += ahead_of[:, None]
    beta += behind_of[:, None]
    return alpha, beta


def _carried(numbers: Table, packed: Packed) -> Table:
    """Return (N,) the cumulative sum of numbers along each sentence."""
    if packed.first.stop == 1:
        return numbers.cumsum()
    carried = numbers.copy()
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        carried[here] += carried[before]
    return carried


def edges(sums: Sums, ahead: Table) -> Table:
    """Return p(y_t = j, y_{t+1} = k) of one sentence, (T-1, K, K); zeros if no path is allowed."""
    products: Table = ahead[:-1, :, None] * sums.scores.transitions
    products *= sums.swept.suffixes[1:, None, :]
    np.minimum(products, 1.0, out=products)  # rounding must not exceed 1
    return products


class Scores(NamedTuple):
    """Scores of a batch, or their gradient: four tensors, or four arrays."""

    emissions: Any  # (B, T, K), or (N, K) packed
    transitions: Any  # (K, K)
    start: Any  # (K,)
    end: Any  # (K,)


def gold_score(scores: Scores, sums: Sums, tags: Ids) -> Array:
    """Return (B,) the score of each place's tagging, nats, from packed scores and tags (N,)."""
    p = sums.packed
    terms = pick_per_row(scores.emissions, tags)
    terms[p.later] += scores.transitions[tags[p.before], tags[p.later]]
    found = sum_by_id(terms, p.places, len(p.order))
    return found + scores.start[tags[p.first]] + scores.end[tags[p.last]]


def expected_uses(sums: Sums, weights: Array) -> Scores:
    """Return the gradient of the weighted sum of log Z, with `weights` (B,) of the places."""
    p = sums.packed
    ahead = sums.ahead(weights)
    emissions = sums.uses(ahead)
    return Scores(
        emissions=emissions,
        transitions=sums.moves(ahead),
        start=emissions[p.first].sum(0),
        end=emissions[p.last].sum(0),
    )


def gradient(sums: Sums, tags: Ids, weights: Array, expected: Array) -> Scores:
    """Return the gradient of the weighted sum of the likelihoods.

    Args:
        sums: the sums of a batch of B sentences.
        tags: (N,) the tagging, packed.
        weights: (B,) weights of the observed counts, by place.
        expected: (B,) weights of the expected counts, by place: 0 if the likelihood is -inf.
    """
    p = sums.packed
    num_tags = len(sums.scores.transitions)
    ahead = sums.ahead(-expected)
    emissions = sums.uses(ahead)
    add_to(emissions, tags, weights[p.places])
    used = tags[p.before] * num_tags + tags[p.later]
    uses = sum_by_id(weights[p.places[p.later]], used, num_tags**2)
    return Scores(
        emissions=emissions,
        transitions=uses.reshape(num_tags, num_tags) + sums.moves(ahead),
        start=emissions[p.first].sum(0),
        end=emissions[p.last].sum(0),
    )


def with_gradient(
    value: Tensor,
    first: Callable[[Tensor], Scores] | None,
    again: Callable[..., Tensor],
    *scores: Tensor,
) -> Tensor:
    """Attach a gradient to a value that is already computed.

    Args:
        value: the value, without a gradient.
        first: function from the gradient of the value to those of the scores, in their shapes and
            types; None: use `again`, as second derivatives always do.
        again: the value as a function of the scores that torch can differentiate.
        scores: four tensors.
    """
    if not torch.is_grad_enabled():
        return value
    # mypy: of torch
    result: Tensor = _WithGradient.apply(value, first, again, *scores)  # type: ignore[no-untyped-call]
    return result


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's
        value: Tensor,
        first: Callable[[Tensor], Scores] | None,
        again: Callable[..., Tensor],
        *scores: Tensor,
    ) -> Tensor:
        ctx.first, ctx.again = first, again
        ctx.save_for_backward(*scores)
        return value

    @staticmethod
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 - torch's
        twice = torch.is_grad_enabled()
        if ctx.first and not twice:
            return None, None, None, *ctx.first(weights)
        scores = ctx.saved_tensors
        wanted = [score for score in scores if score.requires_grad]
        with torch.enable_grad():
            value = ctx.again(*scores)
        slopes = iter(
            torch.autograd.grad(
                value,
                wanted,
                weights,
                create_graph=twice,
                allow_unused=True,
                materialize_grads=True,
            )
        )
        return None, None, None, *(next(slopes) if s.requires_grad else None for s in scores)
