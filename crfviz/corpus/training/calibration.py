"""A temperature that makes token marginals honest: all scores divided by it, no path changed.

    expected calibration error = sum over bins of share(bin) * |accuracy(bin) - mean p(bin)|

over words, with p the largest marginal of a word and 15 bins of equal width.

Source:
    Guo et al. (2017), section 4.2, for the idea; here all potentials of the chain are divided.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from crfviz.chain.crf import CRF

NUM_BINS = 15
CANDIDATES = tuple(round(0.8 + 0.05 * step, 2) for step in range(35))  # 0.8 to 2.5


def calibration_error(probability: Tensor, correct: Tensor) -> float:
    """Expected calibration error in [0, 1].

    Args:
        probability: (N,) in [0, 1], of the prediction for each word.
        correct: (N,) bool, whether the prediction was right.
    """
    bins = (probability * NUM_BINS).long().clamp(max=NUM_BINS - 1)
    gap = torch.zeros(NUM_BINS, dtype=torch.float64)
    gap.index_add_(0, bins, correct.double() - probability.double())
    return float(gap.abs().sum() / len(probability))


def scaled(crf: CRF, temperature: float) -> CRF:
    """The same CRF with its weights divided by the temperature."""
    other = copy.deepcopy(crf)
    with torch.no_grad():
        for weights in other.parameters():
            weights.div_(temperature)
    return other


@torch.no_grad()
def fit_temperature(
    crf: CRF, batches: Sequence[tuple[Tensor, Tensor, Tensor]]
) -> tuple[float, float]:
    """The temperature with the least calibration error, and that error.

    Where no temperature does better than 1, it is 1.

    Args:
        crf: with its trained weights.
        batches: emissions (B, T, K), tags (B, T) and mask (B, T) of the dev sentences.
    """
    errors = {1.0: _error(crf, batches, 1.0)}
    for temperature in CANDIDATES:
        errors[temperature] = _error(crf, batches, temperature)
    best = min(errors, key=lambda t: (errors[t], abs(t - 1.0)))
    return best, errors[best]


def _error(crf: CRF, batches: Sequence[tuple[Tensor, Tensor, Tensor]], temperature: float) -> float:
    colder = scaled(crf, temperature)
    probability, correct = [], []
    for emissions, tags, mask in batches:
        largest, guess = colder.marginals(emissions / temperature, mask).max(dim=-1)
        probability.append(largest[mask])
        correct.append((guess == tags)[mask])
    return calibration_error(torch.cat(probability).cpu(), torch.cat(correct).cpu())
