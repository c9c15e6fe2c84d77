"""How often each weight is used: by one path, and on average over the distribution of paths.

    observed  n(y)            the uses of a weight by the path y
    expected  E_{y'|x} n(y')  their mean: a sum of marginals

The gradient of log p(y | x) with respect to a weight is observed minus expected.

Source: Lafferty, McCallum and Pereira, "Conditional Random Fields" (2001), section 3; Sutton and
McCallum (2012), section 5.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials, Tag
from crfviz.exceptions import ShapeError


@dataclass(frozen=True, eq=False)
class Counts:
    """Uses of every weight; whole numbers if observed, means if expected."""

    transitions: Tensor  # (K, K) from and to, over all steps; sums to T-1
    start: Tensor  # (K,) sums to 1
    end: Tensor  # (K,) sums to 1
    emissions: Tensor  # (T, K) each row sums to 1
    steps: Tensor  # (T-1, K, K) the transitions of each step


def expected_counts(potentials: Potentials) -> Counts:
    """The expected uses of every weight under p(y | x), in O(T K^2).

    Raises:
        NoPathError: every path is forbidden.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> expected_counts(coin).transitions.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    tables = forward_backward(potentials)
    if tables.log_partition == -torch.inf:
        best_path(potentials)  # says where the last prefix breaks off
    return Counts(
        transitions=tables.edge_marginals.sum(0),
        start=tables.marginals[0],
        end=tables.marginals[-1],
        emissions=tables.marginals,
        steps=tables.edge_marginals,
    )


def observed_counts(potentials: Potentials, path: Sequence[Tag]) -> Counts:
    """The uses of every weight by one path.

    Args:
        potentials: the chain, for its shape and tag names.
        path: T tags, by id or name.

    Raises:
        ShapeError: `path` has not T tags.
        UnknownTagError: the chain does not have one of the tags.
    """
    T, K = potentials.emissions.shape
    if len(path) != T:
        raise ShapeError(f"path must have {T} tags, got {len(path)}")
    tags = torch.tensor([potentials.tag_id(tag) for tag in path])
    emissions = torch.zeros(T, K, dtype=torch.float64)
    emissions[torch.arange(T), tags] = 1.0
    steps = emissions[:-1, :, None] * emissions[1:, None, :]
    return Counts(steps.sum(0), emissions[0], emissions[-1], emissions, steps)
