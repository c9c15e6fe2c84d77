"""How two words of a sentence hang together: the joint marginal of any two positions."""

import torch
from torch import Tensor

from crfviz.chain.forward_backward import ForwardBackward
from crfviz.chain.recursions import products


def pair_marginals(tables: ForwardBackward, first: int, second: int) -> Tensor:
    """p(y_first = j, y_second = k | x), in O((second - first) K^3).

    Given the sentence the tags form a Markov chain, so its own conditionals are multiplied:
    p(y_{t+1} | y_t, x) = p(y_t, y_{t+1} | x) / p(y_t | x).

    Args:
        tables: forward-backward of the sentence.
        first: position of the earlier word.
        second: position of the later word, greater than `first`.

    Returns:
        (K, K) probabilities in [0, 1] that sum to 1 (to 0 where no path is allowed).

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
