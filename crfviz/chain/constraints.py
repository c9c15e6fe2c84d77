"""Hard constraints of the schemes BIO, BIOES and BILOU (`crfviz.text.schemes`).

In BIO, B-X begins an entity of type X, I-X continues one, O is outside. So I-X may only follow B-X
or I-X of the same type, and no sentence begins with it. Every other tag may follow every tag.

Source: Ramshaw and Marcus, "Text Chunking using Transformation-Based Learning" (1995).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from crfviz.chain.patterns import Automaton
from crfviz.chain.potentials import Potentials
from crfviz.text.schemes import BIO, OUTSIDE, begin, entity_scheme, may_follow, types_of


@lru_cache(maxsize=64)
def scheme_automaton(tags: tuple[str, ...]) -> Automaton:
    """Return the automaton of the scheme of K tag names; BIO if they follow none.

    A state is the type of the entity that the next tag may continue, in the order of `types_of`; 0
    is no entity. Each tag leads to one state, so it has a single copy in the product.

    Example:
        >>> scheme_automaton(("O", "B-PER", "I-PER")).next.tolist()
        [[0, 1, -1], [0, 1, 1]]
        >>> scheme_automaton(("O", "B-PER", "E-PER")).accepting.tolist()
        [True, False]
    """
    scheme = entity_scheme(tags) or BIO
    parts = [tag.partition("-") for tag in tags]
    entered = [kind if prefix in ("B", "I") else None for prefix, _, kind in parts]
    kinds = list(dict.fromkeys([None, *types_of(tags), *entered]))
    before = [OUTSIDE if kind is None else begin(kind) for kind in kinds]
    moves = [
        [
            kinds.index(kind) if may_follow(tag, last, scheme) else -1
            for tag, kind in zip(tags, entered, strict=True)
        ]
        for last in before
    ]
    ends = [may_follow(OUTSIDE, last, scheme) for last in before]
    return Automaton("", tags, np.array(moves), np.array(ends))


def constrain(potentials: Potentials) -> Potentials:
    """Return the chain with every transition, start and end that the scheme forbids at -inf."""
    return potentials.times(scheme_automaton(potentials.tag_names).product)


def illegal_positions(tags: Sequence[str], scheme: str = BIO) -> list[int]:
    """Return the positions of tag names that may not follow the tag before.

    This includes the last position if no entity may end with its tag.

    Example:
        >>> illegal_positions(["I-PER", "O", "B-LOC", "I-PER"])
        [0, 3]
    """
    padded, last = [OUTSIDE, *tags, OUTSIDE], len(tags) - 1
    wrong = [t for t in range(len(tags) + 1) if not may_follow(padded[t + 1], padded[t], scheme)]
    return sorted({min(t, last) for t in wrong})
