"""The tables of one sentence from its sweeps: prefixes and suffixes in nats, and pairs of tags."""

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.engine.arrays import log
from crfviz.chain.engine.batch import Sums

Table = NDArray[np.float64]


def log_tables(sums: Sums) -> tuple[Table, Table]:
    """Log α and log β of one sentence, (T, K) nats each; α with the emission, β without."""
    best = sums.scores.best_emissions + sums.scores.best_move  # of a word and the move to it
    behind = np.cumsum(best[:0:-1])[::-1]
    ahead_of, behind_of = np.cumsum(best), np.append(behind, 0.0) + sums.scores.best_move
    if sums.swept.divided is not None:
        prefixes, suffixes = sums.swept.divided
        ahead_of += prefixes
        behind_of[:-1] += suffixes[-2::-1]  # what arrives was divided up to the word before
    alpha = log(sums.swept.prefixes) + ahead_of[:, None]
    beta = log(sums.swept.arriving) + behind_of[:, None]
    return alpha, beta


def edges(sums: Sums, ahead: Table) -> Table:
    """p(y_t = j, y_{t+1} = k) of one sentence, (T-1, K, K); zeros if no path is allowed."""
    found: Table = ahead[:-1, :, None] * sums.scores.transitions
    found *= sums.swept.suffixes[1:, None, :]
    return found
