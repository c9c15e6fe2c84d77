"""Tables with fewer rows than words, because their rows are not all filled in yet."""

import numpy as np

from crfviz.chain.homework.programs import BETA, VITERBI
from crfviz.chain.potentials import Array, Potentials


def with_all_words(
    potentials: Potentials, kind: str, values: Array, units: Array
) -> tuple[Array, Array]:
    """Add empty rows for words that a table lacks: its first ones in β, else its last ones."""
    T, K = potentials.num_tokens, potentials.num_tags
    flipped = values.shape[1] != K
    values, units = (table.T if flipped else table for table in (values, units))
    lacking = T - len(values)
    if values.shape[1] == K and (lacking > 1 or (lacking == 1 and kind in (BETA, VITERBI))):
        sides = ((lacking, 0), (0, 0)) if kind == BETA else ((0, lacking), (0, 0))
        values, units = (np.pad(table, sides, constant_values=np.nan) for table in (values, units))
    return (values.T, units.T) if flipped else (values, units)
