"""Baum–Welch: EM for hidden Markov models, and the counting that it shares with tagged sentences.

    E step    counts under p(y | x) with the present parameters: sums of marginals
    M step    each row of parameters = its row of counts, divided by its sum

A tagged sentence is the case in which one path has all the probability: its counts are whole
numbers, and the M step is the maximum-likelihood estimate.

Letters: `K` states, `V` symbols, `T` symbols of a sequence.

Source:
    Rabiner (1989), section III.C; Eisner, "An interactive spreadsheet for teaching the
    forward-backward algorithm" (2002), for a diary that ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.forward_backward import ForwardBackward, forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Array, ArrayLike, Potentials
from crfviz.chain.validation import as_numbers, distribution_problem, require_count, whole_number
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    NoPathError,
    ShapeError,
    UnknownObservationError,
)
from crfviz.text.files import abbreviate_value

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class MarkovCounts(ShortRepr):
    """Counts of each state as first, as next and as last one, and of the symbols it emits."""

    start: Array  # (K,) sums to the number of sequences
    transitions: Array  # (K, K) from, to
    end: Array  # (K,) sums to the number of sequences
    emissions: Array  # (K, V) sums to the number of symbols

    @classmethod
    def zeros(cls, num_states: int, num_symbols: int) -> "MarkovCounts":
        K = num_states
        return cls(np.zeros(K), np.zeros((K, K)), np.zeros(K), np.zeros((K, num_symbols)))

    def add(self, symbols: Ids, states: Array, steps: Array) -> None:
        """Count one sequence in place.

        Args:
            symbols: (T,) ids.
            states: (T, K) share of each state at each position; rows sum to 1.
            steps: (K, K) uses of each transition.
        """
        self.start[:] += states[0]
        self.end[:] += states[-1]
        self.transitions[:] += steps
        np.add.at(self.emissions.T, symbols, states)

    def add_path(self, symbols: Ids, path: Sequence[int]) -> None:
        """Count one tagged sequence in place: T symbol ids and its T states."""
        states = np.eye(len(self.start))[np.asarray(path)]
        self.add(symbols, states, states[:-1].T @ states[1:])


class Parameters(NamedTuple):
    """A hidden Markov model in numbers."""

    start: Array  # (K,) sums to 1
    transitions: Array  # (K, K) from, to; each row, with its `end` if given, sums to 1
    emissions: Array  # (K, V) each row sums to 1
    end: Array | None = None  # (K,) p(end | state); None: a sequence may stop anywhere

    def require(self, states: Sequence[int | str], num_symbols: int, called: str = "{}") -> None:
        """Check the shapes and sums, for K states; `called` formats a table's name for messages.

        Raises:
            ShapeError: a table has another shape.
            CrfvizError: a number is no probability, or a row does not sum to 1 within 1e-6.
        """
        K, V = len(states), num_symbols
        shapes = {"start": (K,), "transitions": (K, K), "emissions": (K, V), "end": (K,)}
        for name, table in self._asdict().items():
            if table is not None and (table.shape != shapes[name] or not table.size):
                raise ShapeError(
                    f"{called.format(name)} must be {shapes[name]} for {K} states and {V} symbols, "
                    f"got {table.shape}"
                )
        leaving, name = self.transitions, "transitions"
        if self.end is not None:
            leaving, name = np.column_stack([leaving, self.end]), "transitions and end"
        rows = {"start": self.start[None, :], name: leaving, "emissions": self.emissions}
        for name, table in rows.items():
            labels = ("",) if name == "start" else states
            if problem := distribution_problem(called.format(name), table, labels):
                raise CrfvizError(problem)

    def potentials(self, sequence: Sequence[int], **names: Sequence[str]) -> Potentials:
        """Return the chain of one sequence of symbol ids, in log probabilities; Z is p(sequence).

        `names` are the tags and tokens of the chain.
        """
        with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
            return Potentials(
                np.log(self.emissions[:, sequence].T),
                np.log(self.transitions),
                np.log(self.start),
                None if self.end is None else np.log(self.end),
                tags=names.get("tags"),
                tokens=names.get("tokens"),
            )


@dataclass(frozen=True, eq=False, repr=False)
class Iteration(ShortRepr):
    """One step of EM; `log_likelihood` and `counts` are those of the parameters before it."""

    log_likelihood: float  # of all sequences under the parameters before the M step, nats
    counts: MarkovCounts  # expected, under the same parameters
    start: Array  # (K,) after the M step
    transitions: Array  # (K, K) after the M step
    emissions: Array  # (K, V) after the M step
    end: Array | None  # (K,) after the M step, None if no end was given

    @property
    def parameters(self) -> Parameters:
        """The model after the M step."""
        return Parameters(self.start, self.transitions, self.emissions, self.end)


def baum_welch(
    start: ArrayLike,
    transitions: ArrayLike,
    emissions: ArrayLike,
    sequences: Sequence[Sequence[int]],
    iterations: int,
    *,
    end: ArrayLike | None = None,
) -> list[Iteration]:
    """Improve a hidden Markov model on sequences without tags, in O(iterations · ΣT · K²).

    The log-likelihood never falls. A state that is never used, or never left, keeps its row,
    because no other row would be better. A probability of 0 stays 0.

    Args:
        start: (K,) probabilities of the first state.
        transitions: (K, K) from, to. Each row, with its `end` if given, sums to 1.
        emissions: (K, V) p(symbol | state); each row sums to 1.
        sequences: one or more, each of one or more symbols: ids from 0 to V-1.
        iterations: at least 1.
        end: (K,) probabilities that the sequence ends after a state; learned like the others.

    Returns:
        One `Iteration` for each step, in order.

    Raises:
        ShapeError: the shapes do not match.
        CrfvizError: a number is no probability, or a row does not sum to 1 within 1e-6.
        EmptySentenceError: there is no sequence, or a sequence is empty.
        UnknownObservationError: the emissions lack a symbol.
        NoPathError: a sequence has probability 0.

    Example:
        >>> coin = [[0.5, 0.5], [0.1, 0.9]]
        >>> (step,) = baum_welch([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], coin, [[0, 1, 1, 1]], 1)
        >>> round(step.log_likelihood, 4), step.emissions.round(2).tolist()
        (-2.274, [[0.44, 0.56], [0.08, 0.92]])
    """
    present = _checked(start, transitions, emissions, end)
    ids = _symbol_ids(sequences, present.emissions.shape[1])
    steps: list[Iteration] = []
    for _ in range(require_count("iterations", iterations)):
        counts, log_likelihood = _expected(present, ids)
        present = estimated(counts, present)
        steps.append(Iteration(log_likelihood, counts, **present._asdict()))
    return steps


def posterior(parameters: Parameters, sequence: Sequence[int], number: int = 1) -> ForwardBackward:
    """Return the tables of one sequence of symbol ids; `number` is its number in the message.

    Raises:
        NoPathError: the sequence has probability 0.
    """
    tables = forward_backward(parameters.potentials(sequence))
    if tables.log_partition == -np.inf:
        raise NoPathError(
            f"sequence {number} has probability 0 under these parameters: no path of states gives "
            "it. Replace some zeros by small numbers."
        )
    return tables


def _expected(parameters: Parameters, sequences: Sequence[Ids]) -> tuple[MarkovCounts, float]:
    """Return the expected counts and the log-likelihood (E step)."""
    counts = MarkovCounts.zeros(*parameters.emissions.shape)
    log_likelihood = 0.0
    for number, sequence in enumerate(sequences, start=1):
        tables = posterior(parameters, sequence.tolist(), number)
        log_likelihood += tables.log_partition
        counts.add(sequence, tables.marginals.numpy(), tables.edge_marginals.sum(0).numpy())
    return counts, log_likelihood


def estimated(counts: MarkovCounts, before: Parameters) -> Parameters:
    """Return the maximum-likelihood estimate; a row without counts is copied from `before`.

    It has end probabilities if `before` has them.
    """
    start = _shares(counts.start[None, :], before.start[None, :])[0]
    emissions = _shares(counts.emissions, before.emissions)
    if before.end is None:
        transitions = _shares(counts.transitions, before.transitions)
        return Parameters(start, transitions, emissions)
    leaving = _shares(
        np.column_stack([counts.transitions, counts.end]),
        np.column_stack([before.transitions, before.end]),
    )
    return Parameters(start, leaving[:, :-1], emissions, leaving[:, -1])


def _shares(counts: Array, before: Array) -> Array:
    """Divide each row by its sum; a row of zeros is copied from `before`."""
    sums = counts.sum(1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), before)


def _checked(
    start: ArrayLike, transitions: ArrayLike, emissions: ArrayLike, end: ArrayLike | None
) -> Parameters:
    given = {"start": start, "transitions": transitions, "emissions": emissions, "end": end}
    tables = {
        name: as_numbers(name, values).detach().numpy()
        for name, values in given.items()
        if values is not None
    }
    K = tables["start"].size
    V = tables["emissions"].shape[-1] if tables["emissions"].ndim else 0
    present = Parameters(**tables)
    present.require(range(K), V)
    return present


def _symbol_ids(sequences: Sequence[Sequence[int]], num_symbols: int) -> list[Ids]:
    if not _is_list(sequences) or not all(map(_is_list, sequences)):
        raise ShapeError(
            "sequences must be a list of sequences of symbols, such as [[0, 1, 1]], "
            f"got {abbreviate_value(sequences)}"
        )
    if not len(sequences):
        raise EmptySentenceError("expected at least one sequence, got none")
    for number, sequence in enumerate(sequences, start=1):
        if not len(sequence):
            raise EmptySentenceError(f"sequence {number} is empty: it needs at least one symbol")
        for position, symbol in enumerate(sequence, start=1):
            if (number_of := whole_number(symbol)) is None or not 0 <= number_of < num_symbols:
                raise UnknownObservationError(
                    f"sequence {number}, position {position}: unknown symbol "
                    f"{abbreviate_value(symbol)}, expected a number from 0 to {num_symbols - 1}"
                )
    return [np.array([whole_number(symbol) for symbol in sequence]) for sequence in sequences]


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and hasattr(value, "__len__")
