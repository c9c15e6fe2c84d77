"""Hard constraints of the BIO scheme.

B-X begins an entity of type X, I-X continues one, O is outside. So I-X may only follow B-X or I-X
of the same type, and no sentence begins with it. Every other tag may follow every tag.

Source: Ramshaw and Marcus, "Text Chunking using Transformation-Based Learning" (1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from crfviz.chain.potentials import Potentials
from crfviz.text.schemes import OUTSIDE, may_follow


@dataclass(frozen=True, eq=False)
class BioRules:
    """Allowed transitions and starts; any tag may end a sentence."""

    transitions: Tensor  # (K, K) bool, from and to
    start: Tensor  # (K,) bool


def bio_rules(tags: Sequence[str]) -> BioRules:
    """Return the BIO rules for K tag names.

    Example:
        >>> bio_rules(["O", "B-PER", "I-PER"]).start.tolist()
        [True, True, False]
    """
    return BioRules(
        transitions=torch.tensor([[may_follow(tag, before) for tag in tags] for before in tags]),
        start=torch.tensor([may_follow(tag, OUTSIDE) for tag in tags]),
    )


def constrain(potentials: Potentials) -> Potentials:
    """Return the chain with every transition and start that BIO forbids set to -inf."""
    rules = bio_rules(potentials.tag_names)
    return replace(
        potentials,
        transitions=potentials.transitions.masked_fill(~rules.transitions, -torch.inf),
        start=potentials.start.masked_fill(~rules.start, -torch.inf),
    )


def illegal_positions(tags: Sequence[str]) -> list[int]:
    """Return the positions whose tag may not follow the tag before, in a sequence of tag names.

    Example:
        >>> illegal_positions(["I-PER", "O", "B-LOC", "I-PER"])
        [0, 3]
    """
    before = [OUTSIDE, *tags]
    return [t for t, tag in enumerate(tags) if not may_follow(tag, before[t])]
