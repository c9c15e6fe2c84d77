"""Ways to see that the tables are right, and what goes wrong without logarithms.

Z can be read from α at the last word, from β at the first, and from α and β together at every word
in between. Teaching texts disagree on what α holds; `forward_messages` is the other convention.

One log-sum-exp step by step:

    log Σ_j exp(a_j) = m + log Σ_j exp(a_j - m)      with m = max_j a_j

On paper any m gives the same. In floats exp overflows above 88.7 (float32) or 709.8 (float64) and
becomes 0 below -103.97 or -745.13; with the maximum taken out the largest term is exp(0) = 1.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import ForwardBackward, normalise
from crfviz.chain.potentials import Array, Potentials

PRECISIONS = ("float32", "float64")


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
    """Return the other forward table: what each word passes on to the next one.

    Row t is the message α(t, y_{t+1}) = log Σ_j exp(α_t(j) + w(j, y_{t+1})): the tag at t is summed
    out, the emission at t is in, that at t+1 is not yet. The last word passes on nothing, for there
    log Z is read: (T-1, K) nats. With α as in `ForwardBackward`, α_{t+1} = e_{t+1} + message t. The
    backward messages β(t, y_{t-1}) of the same texts are the rows of `log_beta`, one position
    earlier.

    Source:
        Larochelle, "Neural networks", lectures 3.4 and 3.5 (2013).
    """
    with torch.no_grad():
        candidates = tables.log_alpha[:-1, :, None] + potentials.transitions  # (T-1, K from, K to)
        return torch.logsumexp(candidates, -2)


@dataclass(frozen=True, eq=False)
class Direct:
    """log Σ exp without the trick, in one precision."""

    exponentials: NDArray[np.floating]  # (K,) exp(a_j): inf where it overflows
    total: float  # their sum
    result: float  # its log, nats; inf after an overflow, -inf where all became 0
    lost: int  # terms that became 0 although a_j is finite
    overflowed: int  # terms that became inf


@dataclass(frozen=True, eq=False)
class LogSumExp:
    """log Σ exp(a_j), one line after the other."""

    inputs: Array  # (K,) a_j, nats
    maximum: float  # m
    rest: Array  # (K,) exp(a_j - m), in [0, 1]
    total: float  # their sum, from 1 to K
    result: float  # m + log of the sum, nats
    direct: dict[str, Direct]  # by precision
    shifted: dict[str, float]  # the result with the trick, by precision, nats


def log_sum_exp(inputs: Array) -> LogSumExp:
    """The steps of the log-sum-exp of (K,) scores, with and without the maximum taken out."""
    maximum = float(inputs.max())
    taken_out = maximum if maximum > -np.inf else 0.0
    with np.errstate(all="ignore"):
        rest = np.exp(inputs - taken_out)
        total = float(rest.sum())
        return LogSumExp(
            inputs=inputs,
            maximum=maximum,
            rest=rest,
            total=total,
            result=float(taken_out + np.log(total)),
            direct={name: _direct(inputs, name) for name in PRECISIONS},
            shifted={name: _shifted(inputs, taken_out, name) for name in PRECISIONS},
        )


def cell_inputs(potentials: Potentials, tables: ForwardBackward, position: int, tag: int) -> Array:
    """What is summed in one cell of α: (K,) α_{t-1}(j) + w(j, k), nats, at position 1 to T-1.

    Position T is the sum that gives Z: α_T(j) + end(j), whatever the tag.
    """
    before = tables.log_alpha[position - 1]
    if position == potentials.num_tokens:
        return (before + potentials.end.detach()).numpy()
    return (before + potentials.step(position - 1).detach()[:, tag]).numpy()


def telling_position(
    potentials: Potentials, tables: ForwardBackward, path: Sequence[int], least: float = 0.01
) -> int:
    """Return the first position whose sum, for the path's tag there, is more than one term.

    Position 1 to T, as in `cell_inputs`; more than one term is there where all but the largest
    have at least a share `least` of the sum. Where none has it is the position that comes nearest.
    """
    rest = []
    for position in range(1, potentials.num_tokens + 1):
        tag = path[min(position, potentials.num_tokens - 1)]
        terms = torch.as_tensor(cell_inputs(potentials, tables, position, tag))
        rest.append(1.0 - torch.softmax(terms, -1).max().nan_to_num(1.0).item())
        if rest[-1] >= least:
            return position
    return 1 + rest.index(max(rest))


@dataclass(frozen=True, eq=False)
class Products:
    """The forward table as plain float32 products."""

    alpha: Tensor  # (T, K) float32, in [0, 1]
    lost: Tensor  # (T, K) bool, the product is 0 although allowed prefixes end here


def float32_products(potentials: Potentials, tables: ForwardBackward) -> Products:
    """Return the forward recursion in float32 probability space, with no rescaling: it underflows.

    Each step multiplies with the weights exp(w(j, k) + e_t(k)) of all K^2 moves, divided by their
    sum. Such a constant for each word changes no posterior; it keeps every product within [0, 1],
    so that the only thing that can happen to it is to become too small for float32 (below 1e-45).
    """
    with torch.no_grad():
        moves = _moves(potentials)
        weights = normalise(moves.flatten(-2)).view(moves.shape).float()
        first = normalise(potentials.start + potentials.emissions[0]).float()
        alpha = recursions.products(first, weights)
    return Products(alpha=alpha, lost=(alpha == 0) & ~torch.isneginf(tables.log_alpha))


@dataclass(frozen=True, eq=False)
class Underflow:
    """One forward recursion of scaled weights, in logarithms and as float32 products."""

    log_sums: Array  # (T,) log Σ_k of the products, worked out in log space, nats
    products: NDArray[np.float32]  # (T,) Σ_k of the float32 products
    lost: NDArray[np.int_]  # (T,) cells whose product became 0 although prefixes end there


def underflow(potentials: Potentials, tables: ForwardBackward) -> Underflow:
    """Return the table of `float32_products` word by word, beside the same numbers in log space."""
    in_float32 = float32_products(potentials, tables)
    with torch.no_grad():
        scales = torch.cumsum(_log_scales(potentials), 0)
        log_sums = torch.logsumexp(tables.log_alpha, -1) - scales
    return Underflow(
        log_sums=log_sums.numpy(),
        products=in_float32.alpha.sum(dim=1).numpy(),
        lost=in_float32.lost.sum(dim=1).numpy(),
    )


def _log_scales(potentials: Potentials) -> Tensor:
    """Return (T,) log of what the weights of the first word and of each step are divided by."""
    first = torch.logsumexp(potentials.start + potentials.emissions[0], -1)
    moves = _moves(potentials)
    scales = torch.cat([first[None], torch.logsumexp(moves.flatten(-2), -1)])
    return torch.where(torch.isneginf(scales), 0.0, scales)


def _moves(potentials: Potentials) -> Tensor:
    """Return (T-1, K from, K to) w(j, k) + e_t(k)."""
    return potentials.transitions + potentials.emissions[1:, None, :]


def _direct(inputs: Array, precision: str) -> Direct:
    exponentials = np.exp(inputs.astype(precision))
    total = exponentials.sum(dtype=precision)
    return Direct(
        exponentials=exponentials,
        total=float(total),
        result=float(np.log(total)),
        lost=int(((exponentials == 0) & np.isfinite(inputs)).sum()),
        overflowed=int(np.isinf(exponentials).sum()),
    )


def _shifted(inputs: Array, maximum: float, precision: str) -> float:
    scores = inputs.astype(precision)
    top = np.dtype(precision).type(maximum)
    return float(top + np.log(np.exp(scores - top).sum(dtype=precision)))
