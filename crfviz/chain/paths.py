"""A tag sequence with its score, and the error where there is none."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.exceptions import NoPathError


@dataclass(frozen=True)
class Path:
    """One tag sequence of a sentence."""

    tags: list[int]  # T tag ids
    score: float  # nats, unnormalised
    probability: float  # given the sentence, in [0, 1]


def probability(score: float, log_partition: float) -> float:
    """exp(score - log Z), kept from rounding above 1."""
    return math.exp(min(0.0, score - log_partition))


def require_path(prefixes: Tensor, final: Tensor) -> None:
    """Raise unless an allowed path exists.

    Args:
        prefixes: (T, K) summed or best score of the prefixes that end in tag k at t.
        final: (K,) the last row of it with the end scores added.

    Raises:
        NoPathError: every path is forbidden; says where the last prefix breaks off.
    """
    blocked = torch.isneginf(prefixes).all(-1)
    if blocked.any():
        position = int(blocked.to(torch.uint8).argmax())
        raise NoPathError(f"every path is forbidden: no tag can be reached at position {position}")
    if torch.isneginf(final).all():
        raise NoPathError(
            "every path is forbidden: no tag that can be reached may end the sentence"
        )
