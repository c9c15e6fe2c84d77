"""The distribution over paths in few numbers.

    H(y_t | x) = -Σ_k p(y_t = k | x) log p(y_t = k | x)

The entropies of single words add up to at least the entropy of the paths, which is in
`ForwardBackward`: what words know of each other is counted twice.

Source: Cover and Thomas, "Elements of Information Theory" (2006), theorem 2.6.6.
"""

from collections.abc import Iterable
from itertools import accumulate

import torch
from torch import Tensor

from crfviz.chain.forward_backward import ForwardBackward
from crfviz.chain.paths import Path


def position_entropies(tables: ForwardBackward) -> Tensor:
    """The entropy of each word's tag, from 0 (certain) to log K (all tags alike).

    Args:
        tables: forward-backward of the sentence.

    Returns:
        (T,) nats; zeros if no path is allowed.
    """
    entropies: Tensor = torch.special.entr(tables.marginals).sum(-1)
    return entropies


def cumulated_mass(paths: Iterable[Path]) -> list[float]:
    """The probability of the first one, two, ... paths together, as from `k_best`.

    Returns:
        As many numbers in [0, 1] as there are paths, rising.
    """
    return [min(1.0, mass) for mass in accumulate(path.probability for path in paths)]
