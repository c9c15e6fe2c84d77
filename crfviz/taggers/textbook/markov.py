"""Markov chains with probabilities: tags that say words, and tags that follow from words.

    hidden       p(y, x) = p(y_1) · Π p(y_t | y_{t-1}) · p(END | y_T) · Π p(x_t | y_t)
    conditional  p(y | x) = p(y_1 | x_1) · Π p(y_t | y_{t-1}, x_t)

The logarithms of the hidden one are the potentials of a chain whose Z is p(x). Where it has no END,
every sentence may stop anywhere for free. Each factor of the conditional one, a maximum-entropy
Markov model, sums to one over the tags, whatever the observation: a state with one way out passes
all its mass on. That is label bias, and Z is always one.

Source:
    Rabiner (1989), section II, whose B are the emissions here; McCallum, Freitag and Pereira
    (2000); Lafferty, McCallum and Pereira (2001), section 2.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError

TOLERANCE = 1e-6  # by which the sum of a distribution may miss one

Probabilities = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Markov(ABC):
    """Probabilities of tags and observations, checked.

    Raises:
        ModelError: a shape does not fit, a number is no probability, or a row does not sum to one.
    """

    states: tuple[str, ...]  # K tag names
    observations: tuple[str, ...]  # V names of what can be seen

    def potentials(self, observed: Sequence[int], tokens: Sequence[str]) -> Potentials:
        """The logarithms, for the numbers of T observations, with T words to draw above them."""
        with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
            scores = self._scores(list(observed))
        return Potentials(*scores, tags=self.states, tokens=tokens)

    @abstractmethod
    def _scores(self, observed: list[int]) -> tuple[Probabilities | None, ...]:
        """Emissions, transitions, start and end."""


@dataclass(frozen=True, eq=False)
class HiddenMarkov(Markov):
    """How tags follow one another, and what each of them says."""

    start: Probabilities  # (K,)
    transitions: Probabilities  # (K, K) from, to
    end: Probabilities | None  # (K,), part of the rows of `transitions`; None: no END
    emissions: Probabilities  # (K, V), p(observation | state)

    def __post_init__(self) -> None:
        K, V = len(self.states), len(self.observations)
        _require_shape("start", self.start, (K,))
        _require_shape("transitions", self.transitions, (K, K))
        _require_shape("emissions", self.emissions, (K, V))
        name, leaving = "transitions", self.transitions
        if self.end is not None:
            _require_shape("end", self.end, (K,))
            name, leaving = "transitions and end", np.column_stack([leaving, self.end])
        _require_rows("start", self.start[None, :], ("",))
        _require_rows(name, leaving, self.states)
        _require_rows("emissions", self.emissions, self.states)

    def _scores(self, observed: list[int]) -> tuple[Probabilities | None, ...]:
        end = None if self.end is None else np.log(self.end)
        emissions = np.log(self.emissions[:, observed].T)
        return emissions, np.log(self.transitions), np.log(self.start), end


@dataclass(frozen=True, eq=False)
class ConditionalMarkov(Markov):
    """The next tag, given the tag before and the observation; the emissions are all 0."""

    start: Probabilities  # (V, K), p(first tag | observation)
    transitions: Probabilities  # (V, K, K), p(tag | tag before, observation)

    def __post_init__(self) -> None:
        K, V = len(self.states), len(self.observations)
        _require_shape("start", self.start, (V, K))
        _require_shape("transitions", self.transitions, (V, K, K))
        _require_rows("start", self.start, self.observations)
        for name, matrix in zip(self.observations, self.transitions, strict=True):
            _require_rows(f"transitions.{name}", matrix, self.states)

    def _scores(self, observed: list[int]) -> tuple[Probabilities | None, ...]:
        emissions = np.zeros((len(observed), len(self.states)))
        steps, start = self.transitions[observed[1:]], self.start[observed[0]]
        return emissions, np.log(steps), np.log(start)


def _require_shape(name: str, table: Probabilities, shape: tuple[int, ...]) -> None:
    """Refuse a table of another shape."""
    if table.shape != shape:
        raise ModelError(
            f"field {name!r} must be {shape} to match the states and observations, "
            f"got {table.shape}"
        )


def _require_rows(name: str, table: Probabilities, rows: Sequence[str]) -> None:
    """Refuse a field of which a row is no distribution; a field of one row has "" for its name."""
    for label, row in zip(rows, table, strict=True):
        place = f"field {name!r}" + (f", row {label!r}," if label else "")
        wrong = row[~((row >= 0.0) & (row <= 1.0))]  # NaN is neither
        if len(wrong):
            raise ModelError(f"{place} must hold probabilities from 0 to 1, got {wrong[0]}")
        total = float(row.sum())
        if abs(total - 1.0) > TOLERANCE:
            raise ModelError(
                f"{place} must sum to 1, got {total:.6g}; divided by its sum it would be "
                f"{np.round(row / total, 4).tolist() if total > 0 and len(row) < 30 else 'one'}"
            )
