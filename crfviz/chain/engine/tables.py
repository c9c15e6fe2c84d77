"""Tables from the sweeps: prefixes and suffixes in nats, and the pairs of tags of one sentence."""

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import log
from crfviz.chain.engine.batch import Sums
from crfviz.chain.engine.packed import Packed

Table = NDArray[np.float64]


def log_tables(sums: Sums) -> tuple[Table, Table]:
    """Log α and log β of all rows, (N, K) nats each; α with the emission, β without."""
    p = sums.packed
    best = sums.scores.best_emissions + sums.scores.best_move  # of a word and the move to it
    next_from_end = p.mirrored[p.later]
    ahead_of, behind_of = _carried(best, p), np.zeros(len(best))
    behind_of[p.before] = _carried(best[p.mirrored], p)[next_from_end]
    behind_of += sums.scores.best_move
    if sums.swept.divided is not None:
        prefixes, suffixes = sums.swept.divided
        ahead_of += prefixes
        behind_of[p.before] += suffixes[next_from_end]  # what arrives was divided up to that word
    alpha = log(sums.swept.prefixes)
    beta = log(sums.swept.arriving)
    alpha += ahead_of[:, None]
    beta += behind_of[:, None]
    return alpha, beta


def _carried(numbers: Table, packed: Packed) -> Table:
    """(N,) of each row the sum of all up to it in its sentence."""
    if packed.first.stop == 1:
        return numbers.cumsum()
    found = numbers.copy()
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        found[here] += found[before]
    return found


def edges(sums: Sums, ahead: Table) -> Table:
    """p(y_t = j, y_{t+1} = k) of one sentence, (T-1, K, K); zeros if no path is allowed."""
    found: Table = ahead[:-1, :, None] * sums.scores.transitions
    found *= sums.swept.suffixes[1:, None, :]
    np.minimum(found, 1.0, out=found)  # no rounding above
    return found
