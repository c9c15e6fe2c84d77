"""Forward-backward: the sum over all paths, and the probability of every tag and tag pair.

    p(y_t = k | x)                = exp(α_t(k) + β_t(k) - log Z)
    p(y_t = j, y_{t+1} = k | x)   = exp(α_t(j) + w(j, k) + e_{t+1}(k) + β_{t+1}(k) - log Z)

Each position is normalised by its own sum. On paper this is Z; in floats it also cancels the
rounding errors that α and β share. Source: Sutton and McCallum (2012), section 4.1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.engine import compiled
from crfviz.chain.engine.packing import ChainsOrBatch, chain_batch, pack_one
from crfviz.chain.engine.sums import Sums, edges, log_tables, sums
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Array, Potentials


@dataclass(frozen=True, eq=False, repr=False)
class ForwardBackward(NotebookRepr):
    """The tables of the two sweeps. Without an allowed path all probabilities are 0."""

    log_alpha: Tensor  # (T, K) log-sum of prefixes that end in tag k at t; start and e_t included
    log_beta: Tensor  # (T, K) log-sum of suffixes after tag k at t; e_t excluded, end included
    log_partition: float  # log Z in nats; -inf if no path is allowed
    marginals: Tensor  # (T, K) p(y_t = k | x); each row sums to 1
    edge_marginals: Tensor  # (T-1, K, K) p(y_t = j, y_{t+1} = k | x); each matrix sums to 1

    @cached_property
    def entropy(self) -> float:
        """Entropy of the paths, nats: H(y_1) + Σ_t H(y_{t+1} | y_t); 0 if no path is allowed.

        H(y_{t+1} | y_t) is H(y_t, y_{t+1}) - H(y_t).
        """
        marginals, pairs = self.marginals.numpy(), self.edge_marginals.numpy()
        nodes = _spread(marginals[:-1]) - _spread(marginals[:1])
        return max(0.0, _spread(pairs) - nodes)


_LOG_PARTITIONS: WeakKeyDictionary[Potentials, float] = WeakKeyDictionary()  # cache


def forward_backward(potentials: Potentials) -> ForwardBackward:
    """Return all tables of the sum over paths, in O(T K^2).

    Example:
        >>> coin = Potentials([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
        >>> forward_backward(coin).marginals.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    tables = _compiled(potentials) or _by_arrays(potentials)
    _LOG_PARTITIONS[potentials] = tables.log_partition
    return tables


class Posterior(NamedTuple):
    """The most used results of a sum over paths, as in `ForwardBackward`."""

    log_alpha: Tensor
    log_beta: Tensor
    log_partition: float
    marginals: Tensor


def posteriors(chains: ChainsOrBatch) -> list[Posterior]:
    """Return the posteriors of chains with the same tags, computed as one batch."""
    batch = chain_batch(chains)
    path_sums = None
    if batch.steps.ndim == 2:
        path_sums = sums(batch.emissions, batch.steps, batch.start, batch.end, batch.packed)
    if path_sums is None:
        tables = map(forward_backward, batch.given)
        return [Posterior(*(getattr(t, name) for name in Posterior._fields)) for t in tables]
    alpha, beta, marginals = (
        map(torch.from_numpy, batch.split(rows))
        for rows in (*log_tables(path_sums), path_sums.marginals(path_sums.ahead()))
    )
    totals = batch.packed.by_sentence(path_sums.log_partition()).tolist()
    _LOG_PARTITIONS.update(zip(batch.given, totals, strict=True))
    return list(map(Posterior, alpha, beta, totals, marginals))


def log_partition(potentials: Potentials) -> float:
    """Return log Z in nats, without other tables; -inf if no path is allowed."""
    known = _LOG_PARTITIONS.get(potentials)
    if known is None:
        if tables := compiled.tables(potentials.scores()):
            known = tables.log_partition
        elif (path_sums := _sums(potentials)) is None:
            known = float(recursions.log_partition(*potentials.arrays()))
        else:
            known = path_sums.log_partition().item()
        _LOG_PARTITIONS[potentials] = known
    return known


def _compiled(potentials: Potentials) -> ForwardBackward | None:
    if (tables := compiled.tables(potentials.scores())) is None:
        return None
    return ForwardBackward(
        log_alpha=torch.from_numpy(tables.log_alpha),
        log_beta=torch.from_numpy(tables.log_beta),
        log_partition=tables.log_partition,
        marginals=torch.from_numpy(tables.marginals),
        edge_marginals=torch.from_numpy(tables.edge_marginals),
    )


def _by_arrays(potentials: Potentials) -> ForwardBackward:
    path_sums = _sums(potentials)
    return _in_log_space(potentials) if path_sums is None else _by_products(potentials, path_sums)


def _sums(potentials: Potentials) -> Sums | None:
    """Return both sweeps by products; None if these are not exact."""
    return sums(*potentials.scores(), pack_one(potentials.num_tokens))


def _by_products(potentials: Potentials, path_sums: Sums) -> ForwardBackward:
    alpha, beta = log_tables(path_sums)
    emissions, _, start, end = potentials.scores()
    alpha[0], beta[-1] = start + emissions[0], end  # exact copies, bit by bit
    ahead = path_sums.ahead()
    marginals, pairs = path_sums.marginals(ahead), edges(path_sums, ahead)
    return ForwardBackward(
        log_alpha=torch.from_numpy(alpha),
        log_beta=torch.from_numpy(beta),
        log_partition=path_sums.log_partition().item(),
        marginals=torch.from_numpy(marginals),
        edge_marginals=torch.from_numpy(pairs),
    )


def _in_log_space(potentials: Potentials) -> ForwardBackward:
    emissions, steps, start, end = potentials.arrays()
    alpha = recursions.forward(emissions, steps, start)
    beta = recursions.backward(emissions, steps, end)
    pairs = alpha[:-1, :, None] + steps + (emissions + beta)[1:, None, :]  # (T-1, K, K)
    marginals = normalise(torch.from_numpy(alpha + beta))
    edge_marginals = normalise(torch.from_numpy(pairs).flatten(-2)).view(pairs.shape)
    return ForwardBackward(
        log_alpha=torch.from_numpy(alpha),
        log_beta=torch.from_numpy(beta),
        log_partition=float(recursions.logsumexp(alpha[-1] + end, -1)),
        marginals=marginals,
        edge_marginals=edge_marginals,
    )


def normalise(log_weights: Tensor) -> Tensor:
    """Like softmax over the last dimension, but an all -inf row gives zeros instead of NaN."""
    dead = torch.isneginf(log_weights).all(-1, keepdim=True)
    return torch.softmax(log_weights.masked_fill(dead, 0.0), -1).masked_fill(dead, 0.0)


def _spread(probabilities: Array) -> float:
    """Return the entropy -Σ p log p over all entries."""
    present = np.where(probabilities > 0.0, probabilities, 1.0).ravel()
    return -float(np.einsum("i,i", present, np.log(present)))
