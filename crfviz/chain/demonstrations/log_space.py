"""What goes wrong without logarithms: one log-sum-exp step by step, and α as float32 products.

    log Σ_j exp(a_j) = m + log Σ_j exp(a_j - m)      with m = max_j a_j

On paper any m gives the same. In floats exp overflows above 88.7 (float32) or 709.8 (float64) and
becomes 0 below -103.97 or -745.13; with the maximum taken out the largest term is exp(0) = 1.

Letters: `T` tokens, `K` tags.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.demonstrations.consistency import float32_products
from crfviz.chain.forward_backward import ForwardBackward
from crfviz.chain.potentials import Array, Potentials

PRECISIONS = ("float32", "float64")


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
    """The steps of the log-sum-exp of some scores, with and without the maximum taken out.

    Args:
        inputs: (K,) nats; -inf for what is forbidden.
    """
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
    """What is summed in one cell of α: (K,) α_{t-1}(j) + w(j, k), nats.

    Args:
        potentials: the chain.
        tables: of the chain.
        position: 1 to T-1; T is the sum that gives Z: α_T(j) + end(j).
        tag: id of k; ignored for Z.
    """
    before = tables.log_alpha[position - 1]
    if position == potentials.num_tokens:
        return (before + potentials.end.detach()).numpy()
    return (before + potentials.step(position - 1).detach()[:, tag]).numpy()


@dataclass(frozen=True, eq=False)
class Underflow:
    """One forward recursion of scaled weights, in logarithms and as float32 products."""

    log_sums: Array  # (T,) log Σ_k of the products, worked out in log space, nats
    products: NDArray[np.float32]  # (T,) Σ_k of the float32 products
    lost: NDArray[np.int_]  # (T,) cells whose product became 0 although prefixes end there


def underflow(potentials: Potentials, tables: ForwardBackward) -> Underflow:
    """The table of `float32_products` word by word, beside the same numbers in log space."""
    found = float32_products(potentials, tables)
    with torch.no_grad():
        scales = torch.cumsum(_log_scales(potentials), 0)
        log_sums = torch.logsumexp(tables.log_alpha, -1) - scales
    return Underflow(
        log_sums=log_sums.numpy(),
        products=found.alpha.sum(dim=1).numpy(),
        lost=found.lost.sum(dim=1).numpy(),
    )


def _log_scales(potentials: Potentials) -> Tensor:
    """(T,) log of what the weights of the first word and of each step are divided by."""
    first = torch.logsumexp(potentials.start + potentials.emissions[0], -1)
    moves = potentials.transitions + potentials.emissions[1:, None, :]  # (T-1, K from, K to)
    scales = torch.cat([first[None], torch.logsumexp(moves.flatten(-2), -1)])
    return torch.where(torch.isneginf(scales), 0.0, scales)


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
