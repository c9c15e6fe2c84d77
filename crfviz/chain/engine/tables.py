"""The tables of one sentence from its sweeps: prefixes and suffixes in nats, and pairs of tags."""

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import log
from crfviz.chain.engine.batch import Sums

Table = NDArray[np.float64]


def log_tables(sums: Sums) -> tuple[Table, Table]:
    """Log α and log β of one sentence, (T, K) nats each; α with the emission, β without."""
    best = sums.scores.best_emissions + sums.scores.best_move  # of a word and the move to it
    ahead_of, behind_of = best.cumsum(), np.zeros(len(best))
    behind_of[:-1] = best[:0:-1].cumsum()[::-1]
    behind_of += sums.scores.best_move
    if sums.swept.divided is not None:
        prefixes, suffixes = sums.swept.divided
        ahead_of += prefixes
        behind_of[:-1] += suffixes[-2::-1]  # what arrives was divided up to the word before
    alpha = log(sums.swept.prefixes)
    beta = log(sums.swept.arriving)
    alpha += ahead_of[:, None]
    beta += behind_of[:, None]
    return alpha, beta


def edges(sums: Sums, ahead: Table) -> Table:
    """p(y_t = j, y_{t+1} = k) of one sentence, (T-1, K, K); zeros if no path is allowed."""
    found: Table = ahead[:-1, :, None] * sums.scores.transitions
    found *= sums.swept.suffixes[1:, None, :]
    np.minimum(found, 1.0, out=found)  # no rounding above
    return found
