"""From sum to max, continuously: the forward table at a temperature.

    α_t(k) = e_t(k) + τ log Σ_j exp([α_{t-1}(j) + w(j, k)] / τ)

At τ = 1 this is the forward table of the sum over paths; as τ goes to 0, the log-sum-exp of the
inputs goes to their maximum, and the table to that of Viterbi. The recursion distributes as it does
for sum and max, so the value is τ log Σ_y exp(score(y) / τ). It never falls as τ rises.

Source: Goodman, "Semiring Parsing" (1999), for one recursion and many semirings; Mensch and
Blondel, "Differentiable Dynamic Programming for Structured Prediction and Attention" (2018),
section 2, for the smoothed maximum.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.arguments import require_number
from crfviz.chain.potentials import Array, Potentials


@dataclass(frozen=True, eq=False)
class SoftForward:
    """The forward table at one temperature."""

    table: Tensor  # (T, K) nats; -inf where no allowed prefix ends
    value: float  # nats; log Z at τ = 1, the best score at τ = 0, -inf if no path is allowed


def soft_forward(potentials: Potentials, temperature: float) -> SoftForward:
    """The forward table with τ log-sum-exp(· / τ) in place of log-sum-exp, in O(T K^2).

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
