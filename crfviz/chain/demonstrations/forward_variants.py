"""Variants of the forward recursion: at a temperature, and over a padded batch.

    α_t(k) = e_t(k) + τ log Σ_j exp([α_{t-1}(j) + w(j, k)] / τ)

At τ = 1 this is the sum over paths; as τ goes to 0 it becomes the maximum of Viterbi. In a padded
batch, a sentence that has ended repeats its last column; padding has no influence.

Source: Goodman, "Semiring Parsing" (1999), for one recursion and many semirings; Mensch and
Blondel, "Differentiable Dynamic Programming for Structured Prediction and Attention" (2018),
section 2, for the smoothed maximum.

Letters: `B` sentences, `T` tokens of the longest, `K` tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import require_number
from crfviz.exceptions import EmptySentenceError, ShapeError


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
    """τ log Σ exp(scores / τ) along `dim`, and the maximum at τ = 0.

    With the largest score taken out first nothing overflows, however small the temperature.
    """
    largest = np.asarray(scores.max(dim))
    if temperature == 0.0:
        return largest
    below = scores - np.expand_dims(np.where(np.isneginf(largest), 0.0, largest), dim)
    with np.errstate(over="ignore"):  # below / τ may be -inf: then it adds nothing
        return np.asarray(largest + temperature * recursions.logsumexp(below / temperature, dim))


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """A batch, its forward table, and what each sentence gives alone."""

    emissions: Tensor  # (B, T, K) nats, 0 at padding
    mask: Tensor  # (B, T) bool, True at words
    lengths: list[int]  # B
    log_alpha: Tensor  # (B, T, K) nats, held still after the end
    log_partitions: Tensor  # (B,) nats
    alone: Tensor  # (B,) log Z of each sentence on its own, nats
    largest_difference: float  # of any α at a word and any log Z, batch against alone


def padded_batch(sentences: Sequence[Potentials]) -> PaddedBatch:
    """Pad the sentences to the longest and run the batched forward recursion over them.

    Raises:
        EmptySentenceError: there is no sentence.
        ShapeError: they differ in their number of tags.
    """
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
    """Return the table with rows of zeros after its end."""
    return torch.cat([table, table.new_zeros(rows - len(table), *table.shape[1:])])


def _difference(batch: Tensor, single: Tensor) -> float:
    """Return the largest difference of two tables; equal infinities differ by 0."""
    gaps = torch.where(batch == single, 0.0, (batch - single).abs())
    return float(gaps.max())
