"""The distribution over paths in few numbers, and how two words of a sentence hang together.

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
from crfviz.chain.recursions import products


def position_entropies(tables: ForwardBackward) -> Tensor:
    """The entropy of each word's tag, from 0 (certain) to log K (all tags alike).

    It is (T,) nats, zeros if no path is allowed.
    """
    entropies: Tensor = torch.special.entr(tables.marginals).sum(-1)
    return entropies


def cumulated_mass(paths: Iterable[Path]) -> list[float]:
    """The probability of the first one, two, ... paths together: rising, in [0, 1]."""
    return [min(1.0, mass) for mass in accumulate(path.probability for path in paths)]


def pair_marginals(tables: ForwardBackward, first: int, second: int) -> Tensor:
    """p(y_first = j, y_second = k | x), in O((second - first) K^3).

    The (K, K) probabilities sum to 1, to 0 where no path is allowed. Given the sentence the tags
    form a Markov chain, so its own conditionals are multiplied:
    p(y_{t+1} | y_t, x) = p(y_t, y_{t+1} | x) / p(y_t | x).

    Raises:
        IndexError: not 0 <= first < second < T.
    """
    num_tokens = tables.marginals.shape[0]
    if not 0 <= first < second < num_tokens:
        raise IndexError(
            f"expected 0 <= first < second < {num_tokens}, got first {first} and second {second}"
        )
    given = tables.marginals[first + 1 : second, :, None]
    conditionals = torch.where(given > 0, tables.edge_marginals[first + 1 : second] / given, 0.0)
    return products(tables.edge_marginals[first], conditionals)[-1]
