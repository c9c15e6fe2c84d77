"""Greedy decoding: what a tagger does that never looks back."""

from typing import Literal, get_args

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import lowest_best
from crfviz.exceptions import CrfvizError

How = Literal["independent", "left_to_right"]


def greedy(potentials: Potentials, how: How = "independent") -> list[int]:
    """One tag id for each word, each decided for good at once; a tie goes to the lowest id.

    "independent" takes the best emission of each word. "left_to_right" commits to each tag in turn
    by emission plus transition from the tag just chosen, with start at the first word and end at
    the last. Where all of that is forbidden it takes the best emission of the word, for it cannot
    go back: the result may then be a forbidden path. Greedy decoding never raises `NoPathError`.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> greedy(potentials), greedy(potentials, "left_to_right")
        ([0, 1], [0, 0])
    """
    if how not in get_args(How):
        raise CrfvizError(f"how must be one of {get_args(How)}, got {how!r}")
    if how == "independent":
        path: list[int] = lowest_best(potentials.emissions, -1).tolist()
        return path
    return _left_to_right(potentials)


def _left_to_right(potentials: Potentials) -> list[int]:
    """Choose the next tag for every tag one can be at, then walk along the choices."""
    emissions = potentials.emissions.detach()
    gains = emissions.clone()
    gains[-1] += potentials.end
    first = _choose(potentials.start + gains[0], emissions[0])
    following = _choose(
        potentials.transitions + gains[1:, None, :],  # (T-1, K from, K to)
        emissions[1:, None, :].expand(-1, potentials.num_tags, -1),
    )
    return recursions.follow(int(first), following.tolist())


def _choose(scores: Tensor, emissions: Tensor) -> Tensor:
    """Best of `scores` (..., K), or of `emissions` where all scores are -inf."""
    dead = torch.isneginf(scores).all(-1, keepdim=True)
    return lowest_best(torch.where(dead, emissions, scores), -1)
