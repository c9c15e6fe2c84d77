"""Hard constraints of the BIO scheme.

B-X begins an entity of type X, I-X continues one, O is outside. So I-X may only follow B-X or I-X
of the same type, and no sentence begins with it. Every other tag may follow every tag.

Source: Ramshaw and Marcus, "Text Chunking using Transformation-Based Learning" (1995).
"""

from collections.abc import Sequence

import numpy as np
import torch

from crfviz.chain.potentials import Potentials
from crfviz.chain.products import Product
from crfviz.text.schemes import OUTSIDE, may_follow


def bio_rules(tags: Sequence[str]) -> Product:
    """Return the BIO rules for K tag names, each its own copy; any tag may end a sentence.

    Example:
        >>> bio_rules(["O", "B-PER", "I-PER"]).start.tolist()
        [True, True, False]
    """
    ids = np.arange(len(tags))
    return Product(
        tags=ids,
        states=np.zeros_like(ids),
        start=torch.tensor([may_follow(tag, OUTSIDE) for tag in tags]),
        transitions=torch.tensor([[may_follow(tag, before) for tag in tags] for before in tags]),
        end=torch.ones(len(tags), dtype=torch.bool),
    )


def constrain(potentials: Potentials) -> Potentials:
    """Return the chain with every transition and start that BIO forbids set to -inf."""
    return potentials.times(bio_rules(potentials.tag_names))


def illegal_positions(tags: Sequence[str]) -> list[int]:
    """Return the positions whose tag may not follow the tag before, in a sequence of tag names.

    Example:
        >>> illegal_positions(["I-PER", "O", "B-LOC", "I-PER"])
        [0, 3]
    """
    before = [OUTSIDE, *tags]
    return [t for t, tag in enumerate(tags) if not may_follow(tag, before[t])]
