"""Forward-backward: the sum over all paths, and the probability of every tag and tag pair.

    p(y_t = k | x)                = exp(α_t(k) + β_t(k) - log Z)
    p(y_t = j, y_{t+1} = k | x)   = exp(α_t(j) + w(j, k) + e_{t+1}(k) + β_{t+1}(k) - log Z)

Each position is normalised by its own sum, which is Z on paper and cancels in floats the rounding
that α and β share. Source: Sutton and McCallum (2012), section 4.1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.potentials import Potentials


@dataclass(frozen=True, eq=False)
class ForwardBackward:
    """What the two sweeps give. A chain without an allowed path has zeros for all probabilities."""

    log_alpha: Tensor  # (T, K) log-sum of prefixes that end in tag k at t; start and e_t included
    log_beta: Tensor  # (T, K) log-sum of suffixes after tag k at t; e_t excluded, end included
    log_partition: float  # log Z in nats; -inf if no path is allowed
    marginals: Tensor  # (T, K) p(y_t = k | x); each row sums to 1
    edge_marginals: Tensor  # (T-1, K, K) p(y_t = j, y_{t+1} = k | x); each matrix sums to 1
    entropy: float  # of the path distribution, nats; 0 if no path is allowed


def forward_backward(potentials: Potentials) -> ForwardBackward:
    """All tables of the sum over paths, in O(T K^2).

    Example:
        >>> coin = Potentials([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
        >>> forward_backward(coin).marginals.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    emissions, steps, start, end = potentials.arrays()
    alpha = recursions.forward(emissions, steps, start)
    beta = recursions.backward(emissions, steps, end)
    edges = alpha[:-1, :, None] + steps + (emissions + beta)[1:, None, :]  # (T-1, K, K)
    marginals = normalise(torch.from_numpy(alpha + beta))
    edge_marginals = normalise(torch.from_numpy(edges).flatten(-2)).view(edges.shape)
    return ForwardBackward(
        log_alpha=torch.from_numpy(alpha),
        log_beta=torch.from_numpy(beta),
        log_partition=float(recursions.logsumexp(alpha[-1] + end, -1)),
        marginals=marginals,
        edge_marginals=edge_marginals,
        entropy=_entropy(marginals, edge_marginals),
    )


def log_partition(potentials: Potentials) -> float:
    """Log Z alone, in nats; -inf if no path is allowed."""
    return float(recursions.log_partition(*potentials.arrays()))


def normalise(log_weights: Tensor) -> Tensor:
    """Like softmax over the last dimension, but an all -inf row gives zeros instead of NaN."""
    dead = torch.isneginf(log_weights).all(-1, keepdim=True)
    return torch.softmax(log_weights.masked_fill(dead, 0.0), -1).masked_fill(dead, 0.0)


def _entropy(marginals: Tensor, edge_marginals: Tensor) -> float:
    """H(y_1) + Σ_t H(y_{t+1} | y_t), where H(y_{t+1} | y_t) = H(y_t, y_{t+1}) - H(y_t)."""
    nodes = torch.special.entr(marginals).sum(-1)  # (T,)
    edges = torch.special.entr(edge_marginals).sum((-2, -1))  # (T-1,)
    return float((nodes[0] + (edges - nodes[:-1]).sum()).clamp(min=0.0))
