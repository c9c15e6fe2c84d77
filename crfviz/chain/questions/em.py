"""EM on one sequence: instructive starting points, and the share of each day in a count.

Letters: `T` days, `K` states, `V` symbols.

Source:
    Eisner, "An interactive spreadsheet for teaching the forward-backward algorithm" (2002), section
    4, for the diary and the effect of other starting points.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crfviz.chain.baum_welch import MarkovCounts, Parameters, estimated
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import ForwardBackward, log_partition
from crfviz.chain.potentials import Array
from crfviz.exceptions import CrfvizError

START, TRANSITION, END, EMISSION = "start", "transition", "end", "emission"
SMOOTHING = 0.5  # added to the counts of one path, so that no probability is 0


class Number(NamedTuple):
    """One parameter: p(to | of), or p(to) for `START`."""

    kind: str  # START, TRANSITION, END or EMISSION
    of: int  # a state; 0 for START
    to: int  # a state; a symbol for EMISSION; 0 for END

    def value(self, tables: Parameters | MarkovCounts) -> float:
        """Return the parameter, or its count."""
        if self.kind == START:
            return float(tables.start[self.to])
        if self.kind == END:
            return 0.0 if tables.end is None else float(tables.end[self.of])
        table = tables.transitions if self.kind == TRANSITION else tables.emissions
        return float(table[self.of, self.to])


def numbers_of(parameters: Parameters) -> list[list[Number]]:
    """Return the parameters in rows: the start, then what follows and what is seen by state."""
    K, V = parameters.emissions.shape
    rows = [[Number(START, 0, k) for k in range(K)]]
    for j in range(K):
        ends = [] if parameters.end is None else [Number(END, j, 0)]
        seen = [Number(EMISSION, j, v) for v in range(V)]
        rows.append([*(Number(TRANSITION, j, k) for k in range(K)), *ends, *seen])
    return rows


def by_day(number: Number, tables: ForwardBackward, sequence: Sequence[int]) -> Array:
    """Return (T,) the share of each day in the expected count of a parameter.

    A transition counts at the day to which it leads.
    """
    states, steps = tables.marginals.numpy(), tables.edge_marginals.numpy()
    days = np.zeros(len(states))
    if number.kind == START:
        days[0] = states[0, number.to]
    elif number.kind == END:
        days[-1] = states[-1, number.of]
    elif number.kind == TRANSITION:
        days[1:] = steps[:, number.of, number.to]
    else:
        days = np.where(np.asarray(sequence) == number.to, states[:, number.of], 0.0)
    return days


def _better(given: Parameters, sequence: Sequence[int]) -> Parameters:
    """Return the counts of one pass over the best path."""
    counts = MarkovCounts.zeros(*given.emissions.shape)
    counts.add_path(np.asarray(sequence), best_path(given.potentials(sequence)))
    for table in (counts.start, counts.transitions, counts.end, counts.emissions):
        table += SMOOTHING
    return estimated(counts, given)


def _symmetric(given: Parameters, sequence: Sequence[int]) -> Parameters:
    """Return equal states with the shares of the sequence: a saddle that EM never leaves."""
    (K, V), T = given.emissions.shape, len(sequence)
    stop = 0.0 if given.end is None else 1 / T
    shares = np.bincount(sequence, minlength=V) / T
    return Parameters(
        np.full(K, 1 / K),
        np.full((K, K), (1 - stop) / K),
        np.tile(shares, (K, 1)),
        None if given.end is None else np.full(K, stop),
    )


def _with_a_zero(given: Parameters, sequence: Sequence[int]) -> Parameters:
    """Set the smallest emission that can be 0 to 0, where it stays."""
    for state, symbol in _smallest_first(given.emissions):
        emissions = given.emissions.copy()
        emissions[state, symbol] = 0.0
        total = emissions[state].sum()
        if total == 0 or symbol not in sequence:
            continue
        emissions[state] /= total
        changed = given._replace(emissions=emissions)
        if log_partition(changed.potentials(sequence)) > -np.inf:
            return changed
    raise CrfvizError("Every emission of this model is needed here: none can be 0.")


def _smallest_first(emissions: Array) -> Iterator[tuple[int, int]]:
    for cell in np.argsort(emissions, axis=None, kind="stable").tolist():
        state, symbol = divmod(cell, emissions.shape[1])
        if emissions[state, symbol] > 0:
            yield state, symbol


STARTS: dict[str, Callable[[Parameters, Sequence[int]], Parameters]] = {
    "model": lambda given, _: given,
    "better": _better,
    "symmetric": _symmetric,
    "zero": _with_a_zero,
}
