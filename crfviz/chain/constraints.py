"""Hard constraints of the schemes BIO, BIOES and BILOU (`crfviz.text.schemes`).

In BIO, B-X begins an entity of type X, I-X continues one, O is outside. So I-X may only follow B-X
or I-X of the same type, and no sentence begins with it. Every other tag may follow every tag.

Source: Ramshaw and Marcus, "Text Chunking using Transformation-Based Learning" (1995).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from crfviz.chain.patterns import Automaton, Product
from crfviz.chain.potentials import Potentials
from crfviz.text.schemes import BIO, OUTSIDE, entity_scheme, may_follow


@lru_cache(maxsize=64)
def scheme_automaton(tags: tuple[str, ...]) -> Automaton:
    """Return the rules of the scheme of K tag names, BIO if they have none; its state is the tag.

    State 0 comes before the first word, k + 1 after tag k.
    """
    scheme, before = entity_scheme(tags) or BIO, (OUTSIDE, *tags)
    moves = [
        [k if may_follow(tag, last, scheme) else -1 for k, tag in enumerate(tags, start=1)]
        for last in before
    ]
    ends = [may_follow(OUTSIDE, last, scheme) for last in before]
    return Automaton("", tags, np.array(moves), np.array(ends))


def scheme_rules(tags: Sequence[str]) -> Product:
    """Return the product of `scheme_automaton`: each of K tags is its own copy.

    Example:
        >>> scheme_rules(["O", "B-PER", "I-PER"]).start.tolist()
        [True, True, False]
        >>> scheme_rules(["O", "B-PER", "E-PER"]).end.tolist()
        [True, False, True]
    """
    return scheme_automaton(tuple(tags)).product


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
