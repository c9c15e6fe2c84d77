"""The likelihood of tagged batches with its gradient, written out instead of recorded.

    d log p / d e_t(k)    = [y_t = k] - p(y_t = k)
    d log p / d w(j, k)   = uses of j -> k in y, less the expected ones

so that one pass of both sweeps has all that the way back needs (Sutton and McCallum, 2012, section
5.1). Where the gradient itself is to be differentiated, it is recorded through log space.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from crfviz.chain.engine.arrays import Array, Ids, add_to, added_up, chosen
from crfviz.chain.engine.batch import Sums


class Scores(NamedTuple):
    """What a likelihood is a function of, or its gradient: four tensors, or four arrays."""

    emissions: Any  # (B, T, K), or (N, K) packed
    transitions: Any  # (K, K)
    start: Any  # (K,)
    end: Any  # (K,)


def gold_score(scores: Scores, sums: Sums, tags: Ids) -> Array:
    """(B,) score of the tagging of each place in nats, from packed scores and tags (N,)."""
    p = sums.packed
    terms = chosen(scores.emissions, tags)
    terms[p.later] += scores.transitions[tags[p.before], tags[p.later]]
    found = added_up(terms, p.places, len(p.order))
    return found + scores.start[tags[p.first]] + scores.end[tags[p.last]]


def gradient(sums: Sums, tags: Ids, weights: Array, expected: Array) -> Scores:
    """That of the likelihoods of all places, summed up with weights.

    Args:
        sums: of a batch of B sentences.
        tags: (N,) the tagging, packed.
        weights: (B,) of each place, for its tagging.
        expected: (B,) the same, for what the chain expects: 0 where the likelihood is -inf.
    """
    p = sums.packed
    num_tags = len(sums.scores.transitions)
    ahead = sums.ahead(-expected)
    emissions = sums.uses(ahead)
    add_to(emissions, tags, weights[p.places])
    used = tags[p.before] * num_tags + tags[p.later]
    uses = added_up(weights[p.places[p.later]], used, num_tags**2)
    return Scores(
        emissions=emissions,
        transitions=uses.reshape(num_tags, num_tags) + sums.moves(ahead),
        start=emissions[p.first].sum(0),
        end=emissions[p.last].sum(0),
    )


def recorded(
    value: Tensor,
    first: Callable[[Tensor], Scores] | None,
    again: Callable[..., Tensor],
    *scores: Tensor,
) -> Tensor:
    """A value that is known already, with its gradient.

    Args:
        value: without a gradient.
        first: from the gradient of the value to those of the scores, in their shapes and types;
            None: through `again`, as the second derivative in any case.
        again: the value as a function of the scores that torch can differentiate.
        scores: four tensors.
    """
    if not torch.is_grad_enabled():
        return value
    found: Tensor = _Recorded.apply(value, first, again, *scores)  # type: ignore[no-untyped-call]
    return found


class _Recorded(torch.autograd.Function):
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
