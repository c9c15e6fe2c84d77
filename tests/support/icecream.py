"""Jason Eisner's ice-cream diary (2002): a chain whose numbers his spreadsheet shows."""

import torch

from crfviz.chain.potentials import Potentials

DIARY = "233232322313311121113121112332322"  # ice creams a day, 33 days
COLD, HOT = 0, 1
ICE_CREAMS = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]  # p(1, 2, 3 | weather)
WEATHER = [[0.8, 0.1], [0.1, 0.8]]  # p(tomorrow | today); the rest is the end of the diary
START = [0.5, 0.5]
STOP = [0.1, 0.1]


def ice_cream(first=None):
    """The diary as a chain of log probabilities; `first` replaces the first day."""
    eaten = [int(day) for day in DIARY]
    if first is not None:
        eaten[0] = first
    words = torch.tensor(ICE_CREAMS, dtype=torch.float64)[:, [number - 1 for number in eaten]].T
    transitions, start, end = (
        torch.tensor(table, dtype=torch.float64).log() for table in (WEATHER, START, STOP)
    )
    return Potentials(words.log(), transitions, start, end, tags=("C", "H"), tokens=tuple(DIARY))
