"""Consistency of the tables, underflow without logarithms, and variants of the forward recursion.

Z follows from α at the last word, from β at the first, and from α and β together at every word.
Textbooks differ on whether α includes the emission; `forward_messages` is the other convention.

One log-sum-exp step by step:

    log Σ_j exp(a_j) = m + log Σ_j exp(a_j - m)      with m = max_j a_j

On paper any m gives the same result. In floats, exp overflows above 88.7 (float32) or 709.8
(float64) and becomes 0 below -103.97 or -745.13. After subtracting the maximum, the largest term is
exp(0) = 1.

The forward recursion at a temperature, and over a padded batch:

    α_t(k) = e_t(k) + τ log Σ_j exp([α_{t-1}(j) + w(j, k)] / τ)

At τ = 1 this is the sum over paths; as τ goes to 0 it becomes the maximum of Viterbi. In a padded
batch, a sentence that has ended repeats its last column; padding has no influence.

Source: Goodman, "Semiring Parsing" (1999), for one recursion and many semirings; Mensch and
Blondel, "Differentiable Dynamic Programming for Structured Prediction and Attention" (2018),
section 2, for the smoothed maximum.

Letters: `B` sentences, `T` tokens (of the longest), `K` tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.array_arguments import chain_of
from crfviz.chain.forward_backward import ForwardBackward, forward_backward, normalise
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import as_numbers, require_number
from crfviz.exceptions import EmptySentenceError, ShapeError

PRECISIONS = ("float32", "float64")


@dataclass(frozen=True, eq=False)
class Consistency:
    """log Z computed in T+2 ways, in nats; on paper they are all equal."""

    from_alpha: float  # log Σ_k exp(α_T(k) + end(k))
    from_beta: float  # log Σ_k exp(start(k) + e_1(k) + β_1(k))
    at_positions: Tensor  # (T,) log Σ_k exp(α_t(k) + β_t(k))
    largest_deviation: float  # between any two of these values; 0 if all are -inf


def consistency(potentials: Potentials, tables: ForwardBackward) -> Consistency:
    """Compute log Z from the forward table, the backward table, and both at every word."""
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
    """Return the forward table in the other convention: the message of each word to the next.

    Row t is the message α(t, y_{t+1}) = log Σ_j exp(α_t(j) + w(j, y_{t+1})): the tag at t is summed
    out; the emission at t is included, that at t+1 is not. The last word sends no message, because
    log Z is computed there: (T-1, K) nats. With α as in `ForwardBackward`, α_{t+1} = e_{t+1} +
    message t. The backward messages β(t, y_{t-1}) of the same texts are the rows of `log_beta`, one
    position earlier.

    Source:
        Larochelle, "Neural networks", lectures 3.4 and 3.5 (2013).
    """
    with torch.no_grad():
        candidates = tables.log_alpha[:-1, :, None] + potentials.transitions  # (T-1, K from, K to)
        return torch.logsumexp(candidates, -2)


@dataclass(frozen=True, eq=False)
class Direct:
    """log Σ exp without subtracting the maximum, in one precision."""

    exponentials: NDArray[np.floating]  # (K,) exp(a_j): inf where it overflows
    total: float  # their sum
    result: float  # its log, nats; inf after an overflow, -inf where all became 0
    lost: int  # terms that became 0 although a_j is finite
    overflowed: int  # terms that became inf


@dataclass(frozen=True, eq=False)
class LogSumExp:
    """log Σ exp(a_j), step by step."""

    inputs: Array  # (K,) a_j, nats
    maximum: float  # m
    rest: Array  # (K,) exp(a_j - m), in [0, 1]
    total: float  # their sum, from 1 to K
    result: float  # m + log of the sum, nats
    direct: dict[str, Direct]  # by precision
    shifted: dict[str, float]  # result after subtracting the maximum, by precision, nats


def log_sum_exp(inputs: Array) -> LogSumExp:
    """Return the steps of log-sum-exp of (K,) scores, with and without subtracting the maximum.

    Raises:
        ShapeError: they are no numbers in one row.
    """
    inputs = as_numbers("inputs", inputs).detach().numpy()
    if inputs.ndim != 1 or not inputs.size:
        raise ShapeError(f"inputs must be one row of scores, got shape {inputs.shape}")
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
    """Return the terms of a cell of α: (K,) α_{t-1}(j) + w(j, k), nats, at position 1 to T-1.

    Position T is the sum that gives Z: α_T(j) + end(j), whatever the tag.
    """
    before = tables.log_alpha[position - 1]
    if position == potentials.num_tokens:
        return (before + potentials.end.detach()).numpy()
    return (before + potentials.step(position - 1).detach()[:, tag]).numpy()


def telling_position(
    potentials: Potentials, tables: ForwardBackward, path: Sequence[int], least: float = 0.01
) -> int:
    """Return the first position where several terms matter in the sum for the path's tag.

    Positions are 1 to T, as in `cell_inputs`. Several terms matter if all but the largest together
    have at least the share `least` of the sum. Without such a position, the closest one counts.
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
    sum. This constant per word changes no posterior. It keeps every product within [0, 1], so that
    the only possible error is underflow in float32 (below 1e-45).
    """
    with torch.no_grad():
        moves = _moves(potentials)
        weights = normalise(moves.flatten(-2)).view(moves.shape).float()
        first = normalise(potentials.start + potentials.emissions[0]).float()
        alpha = recursions.products(first, weights)
    return Products(alpha=alpha, lost=(alpha == 0) & ~torch.isneginf(tables.log_alpha))


@dataclass(frozen=True, eq=False, repr=False)
class Underflow(ShortRepr):
    """One forward recursion of scaled weights, in logarithms and as float32 products."""

    log_sums: Array  # (T,) log Σ_k of the products, computed in log space, nats
    products: NDArray[np.float32]  # (T,) Σ_k of the float32 products
    lost: NDArray[np.int_]  # (T,) cells whose product became 0 although prefixes end there


def underflow(potentials: Potentials, tables: ForwardBackward) -> Underflow:
    """Return the sums of `float32_products` at each word, and the same sums in log space."""
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
    """Return (T,) log of the divisors of the weights, for the first word and each step."""
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


@dataclass(frozen=True, eq=False, repr=False)
class SoftForward(ShortRepr):
    """The forward table at one temperature."""

    table: Tensor  # (T, K) nats; -inf where no allowed prefix ends
    value: float  # nats; log Z at τ = 1, the best score at τ = 0, -inf if no path is allowed


def soft_forward(potentials: Potentials, temperature: float) -> SoftForward:
    """Return the forward table with τ log-sum-exp(· / τ) in place of log-sum-exp, in O(T K^2).

    A temperature τ of 0 is exactly the maximum.

    Raises:
        CrfvizError: the temperature is no finite number, or negative.

    Example:
        >>> coin = Potentials([[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
        >>> [round(soft_forward(coin, temperature).value, 3) for temperature in (1, 0.5, 0)]
        [0.693, 0.347, 0.0]
    """
    temperature = require_number("temperature", temperature, at_least=0.0)
    emissions, steps, start, end = potentials.arrays()
    reduce = partial(smooth_maximum, temperature=temperature)
    table = recursions.forward(emissions, steps, start, reduce=reduce)
    return SoftForward(torch.from_numpy(table), float(reduce(table[-1] + end, -1)))


def smooth_maximum(scores: Array, dim: int, temperature: float) -> Array:
    """Return τ log Σ exp(scores / τ) along `dim`, and the maximum at τ = 0.

    The largest score is subtracted first, so nothing overflows at small temperatures.
    """
    largest = np.asarray(scores.max(dim))
    if temperature == 0.0:
        return largest
    below = scores - np.expand_dims(np.where(np.isneginf(largest), 0.0, largest), dim)
    with np.errstate(over="ignore"):  # below / τ may overflow to -inf, which adds 0
        return np.asarray(largest + temperature * recursions.logsumexp(below / temperature, dim))


@dataclass(frozen=True, eq=False, repr=False)
class PaddedBatch(ShortRepr):
    """A batch, its forward table, and log Z of each sentence alone."""

    emissions: Tensor  # (B, T, K) nats, 0 at padding
    mask: Tensor  # (B, T) bool, True at words
    lengths: list[int]  # B
    log_alpha: Tensor  # (B, T, K) nats; after the end, the last column repeats
    log_partitions: Tensor  # (B,) nats
    alone: Tensor  # (B,) log Z of each sentence on its own, nats
    largest_difference: float  # over α at words and log Z, batch against alone


def padded_batch(sentences: Sequence[Potentials]) -> PaddedBatch:
    """Pad the sentences to the longest and run the batched forward recursion over them.

    Raises:
        EmptySentenceError: there is no sentence.
        ShapeError: the sentences differ in their number of tags.
    """
    if isinstance(sentences, Potentials):
        raise ShapeError("sentences must be a list of Potentials, got those of one sentence")
    sentences = [chain_of(each) for each in sentences]
    if not sentences:
        raise EmptySentenceError("expected at least one sentence in the batch, got none")
    K = sentences[0].num_tags
    if any(one.num_tags != K for one in sentences):
        raise ShapeError(f"expected {K} tags in every sentence of the batch")
    lengths = [one.num_tokens for one in sentences]
    T = max(lengths)
    mask = torch.arange(T)[None, :] < torch.tensor(lengths)[:, None]
    emissions = torch.stack([_padded(one.emissions.detach(), T) for one in sentences])
    steps = torch.stack(
        [_padded(one.steps.detach(), T - 1) for one in sentences], 1
    )  # (T-1, B, K, K)
    start = torch.stack([one.start.detach() for one in sentences])
    end = torch.stack([one.end.detach() for one in sentences])
    log_alpha = recursions.forward(emissions, steps, start, mask)
    log_partitions = recursions.logsumexp(log_alpha[:, -1] + end, -1)
    singles = [forward_backward(one) for one in sentences]
    alone = torch.tensor([one.log_partition for one in singles], dtype=torch.float64)
    pairs = [(log_partitions, alone)]
    pairs += [
        (row[:length], one.log_alpha)
        for row, length, one in zip(log_alpha, lengths, singles, strict=True)
    ]
    return PaddedBatch(
        emissions=emissions,
        mask=mask,
        lengths=lengths,
        log_alpha=log_alpha,
        log_partitions=log_partitions,
        alone=alone,
        largest_difference=max(_difference(batch, single) for batch, single in pairs),
    )


def _padded(table: Tensor, rows: int) -> Tensor:
    return torch.cat([table, table.new_zeros(rows - len(table), *table.shape[1:])])


def _difference(batch: Tensor, single: Tensor) -> float:
    """Return the largest difference of two tables; equal infinities differ by 0."""
    gaps = torch.where(batch == single, 0.0, (batch - single).abs())
    return float(gaps.max())
