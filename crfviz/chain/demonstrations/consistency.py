"""Ways to see that the tables are right, and what goes wrong without logarithms.

Z can be read from α at the last word, from β at the first, and from α and β together at every word
in between. Teaching texts disagree on what α holds; `forward_messages` is the other convention.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import ForwardBackward, normalise
from crfviz.chain.potentials import Potentials


@dataclass(frozen=True, eq=False)
class Consistency:
    """log Z read in T+2 ways, in nats; on paper they are all the same."""

    from_alpha: float  # log Σ_k exp(α_T(k) + end(k))
    from_beta: float  # log Σ_k exp(start(k) + e_1(k) + β_1(k))
    at_positions: Tensor  # (T,) log Σ_k exp(α_t(k) + β_t(k))
    largest_deviation: float  # between any two of them; 0 if all are -inf


def consistency(potentials: Potentials, tables: ForwardBackward) -> Consistency:
    """Read log Z from the forward table, from the backward table, and from both at every word."""
    with torch.no_grad():
        log_alpha, log_beta = tables.log_alpha, tables.log_beta
        from_alpha = torch.logsumexp(log_alpha[-1] + potentials.end, -1)
        arriving = potentials.start + potentials.emissions[0] + log_beta[0]
        from_beta = torch.logsumexp(arriving, -1)
        at_positions = torch.logsumexp(log_alpha + log_beta, -1)
        readings = torch.cat([from_alpha[None], from_beta[None], at_positions])
        spread = readings.amax() - readings.amin()
    return Consistency(
        from_alpha=from_alpha.item(),
        from_beta=from_beta.item(),
        at_positions=at_positions,
        largest_deviation=0.0 if torch.isneginf(readings).all() else spread.item(),
    )


def forward_messages(potentials: Potentials, tables: ForwardBackward) -> Tensor:
    """The other forward table: what each word passes on to the next one.

    Row t is the message α(t, y_{t+1}) = log Σ_j exp(α_t(j) + w(j, y_{t+1})): the tag at t is summed
    out, the emission at t is in, that at t+1 is not yet. The last word passes on nothing, for there
    log Z is read. With α as in `ForwardBackward`, α_{t+1} = e_{t+1} + message t. The backward
    messages β(t, y_{t-1}) of the same texts are the rows of `log_beta`, one position earlier.

    Returns:
        (T-1, K) nats.

    Source:
        Larochelle, "Neural networks", lectures 3.4 and 3.5 (2013).
    """
    with torch.no_grad():
        candidates = tables.log_alpha[:-1, :, None] + potentials.transitions  # (T-1, K from, K to)
        return torch.logsumexp(candidates, -2)


@dataclass(frozen=True, eq=False)
class Products:
    """The forward table as plain float32 products."""

    alpha: Tensor  # (T, K) float32, in [0, 1]
    lost: Tensor  # (T, K) bool, the product is 0 although allowed prefixes end here


def float32_products(potentials: Potentials, tables: ForwardBackward) -> Products:
    """The forward recursion in float32 probability space, with no rescaling: it underflows.

    Each step multiplies with the weights exp(w(j, k) + e_t(k)) of all K^2 moves, divided by their
    sum. Such a constant for each word changes no posterior; it keeps every product within [0, 1],
    so that the only thing that can happen to it is to become too small for float32 (below 1e-45).
    """
    with torch.no_grad():
        moves = potentials.transitions + potentials.emissions[1:, None, :]  # (T-1, K from, K to)
        weights = normalise(moves.flatten(-2)).view(moves.shape).float()
        first = normalise(potentials.start + potentials.emissions[0]).float()
        alpha = recursions.products(first, weights)
    return Products(alpha=alpha, lost=(alpha == 0) & ~torch.isneginf(tables.log_alpha))
