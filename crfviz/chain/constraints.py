"""Hard constraints of the schemes BIO, BIOES and BILOU (`crfviz.text.schemes`).

In BIO, B-X begins an entity of type X, I-X continues one, O is outside. So I-X may only follow B-X
or I-X of the same type, and no sentence begins with it. Every other tag may follow every tag.

Source: Ramshaw and Marcus, "Text Chunking using Transformation-Based Learning" (1995).
"""

from collections.abc import Sequence

import numpy as np
import torch

from crfviz.chain.potentials import Potentials
from crfviz.chain.products import Product
from crfviz.text.schemes import BIO, OUTSIDE, entity_scheme, may_follow


def scheme_rules(tags: Sequence[str]) -> Product:
    """Return the rules of the scheme of K tag names, each its own copy; of BIO if they have none.

    Example:
        >>> scheme_rules(["O", "B-PER", "I-PER"]).start.tolist()
        [True, True, False]
        >>> scheme_rules(["O", "B-PER", "E-PER"]).end.tolist()
        [True, False, True]
    """
    ids, scheme = np.arange(len(tags)), entity_scheme(tags) or BIO
    moves = [[may_follow(tag, before, scheme) for tag in tags] for before in tags]
    return Product(
        tags=ids,
        states=np.zeros_like(ids),
        start=torch.tensor([may_follow(tag, OUTSIDE, scheme) for tag in tags]),
        transitions=torch.tensor(moves),
        end=torch.tensor([may_follow(OUTSIDE, tag, scheme) for tag in tags]),
    )


def constrain(potentials: Potentials) -> Potentials:
    """Return the chain with every transition, start and end that the scheme forbids at -inf."""
    return potentials.times(scheme_rules(potentials.tag_names))


def illegal_positions(tags: Sequence[str], scheme: str = BIO) -> list[int]:
    """Return the positions whose tag may not follow the tag before, in a sequence of tag names.

    The last one, too, where an entity may not end with it.

    Example:
        >>> illegal_positions(["I-PER", "O", "B-LOC", "I-PER"])
        [0, 3]
    """
    padded, last = [OUTSIDE, *tags, OUTSIDE], len(tags) - 1
    wrong = [t for t in range(len(tags) + 1) if not may_follow(padded[t + 1], padded[t], scheme)]
    return sorted({min(t, last) for t in wrong})
