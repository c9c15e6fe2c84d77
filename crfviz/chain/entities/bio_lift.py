"""Telling an I-X that continues an entity from one that does not, in a chain that allows both.

Read strictly, an I-X continues an entity after B-X or after an I-X that itself continues one; any
other I-X, an orphan, belongs to no entity. Which of the two it is depends on all the tags before,
so the tag alone does not say. Give the orphans tags of their own: every path of the chain is one
path of the larger one, with the same score, and there each tag says what it is.

Source: the strict reading is that of IOB2, Tjong Kim Sang and Veenstra, "Representing Text Chunks"
(1999).
"""

from dataclasses import dataclass

import numpy as np

from crfviz.chain.constraints import bio_rules
from crfviz.chain.potentials import Array, Potentials
from crfviz.text.schemes import is_begin, is_inside


@dataclass(frozen=True, eq=False)
class Lifted:
    """A chain with orphans; K' = K + the number of I tags."""

    emissions: Array  # (T, K')
    steps: Array  # (T-1, K', K'), from and to
    start: Array  # (K',)
    end: Array  # (K',)
    in_entity: list[bool]  # K', True for a B-X and for an I-X that continues one


def lift(potentials: Potentials) -> Lifted:
    """The chain in which every I-X continues an entity and every orphan has a tag of its own.

    Tags 0 to K-1 stay where they are. Beyond them come the orphans of the I tags, in id order.
    """
    names = potentials.tag_names
    begins = np.array([is_begin(name) for name in names])
    continues = np.array([is_inside(name) for name in names])
    source = np.concatenate([np.arange(len(names)), np.flatnonzero(continues)])  # K' ids
    orphan = np.arange(len(source)) >= len(names)
    follows = bio_rules(names).transitions.numpy()[source][:, source] & ~orphan[:, None]
    # One of the two I-X may come after a tag: the orphan where the other would not continue it.
    possible = np.where(continues[source], follows != orphan, True)
    emissions, steps, start, end = potentials.arrays()
    return Lifted(
        emissions=emissions[:, source],
        steps=np.where(possible, steps[:, source, :][..., source], -np.inf),
        start=np.where(continues[source] & ~orphan, -np.inf, start[source]),
        end=end[source],
        in_entity=((begins | continues)[source] & ~orphan).tolist(),
    )
