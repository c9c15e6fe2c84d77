"""A hidden Markov model: how tags follow one another, and what each of them says.

    p(y, x) = p(y_1) · Π p(y_t | y_{t-1}) · p(END | y_T) · Π p(x_t | y_t)

Its logarithms are the potentials of a chain whose Z is p(x). Where a model has no END, every
sentence may stop anywhere for free.

Source:
    Rabiner (1989), section II, whose B are the emissions here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError

TOLERANCE = 1e-6  # by which the sum of a distribution may miss one

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HiddenMarkov:
    """Probabilities, checked.

    Raises:
        ModelError: a shape does not fit, a number is no probability, or a row does not sum to one.
    """

    states: tuple[str, ...]  # K tag names
    observations: tuple[str, ...]  # V names of what can be seen
    start: Table  # (K,)
    transitions: Table  # (K, K) from, to
    end: Table | None  # (K,), part of the rows of `transitions`; None: no END
    emissions: Table  # (K, V), p(observation | state)

    def __post_init__(self) -> None:
        K, V = len(self.states), len(self.observations)
        require_shape("start", self.start, (K,))
        require_shape("transitions", self.transitions, (K, K))
        require_shape("emissions", self.emissions, (K, V))
        leaving = self.transitions
        if self.end is not None:
            require_shape("end", self.end, (K,))
            leaving = np.column_stack([self.transitions, self.end])
        require_rows("start", self.start[None, :], ("",))
        require_rows(
            "transitions" if self.end is None else "transitions and end", leaving, self.states
        )
        require_rows("emissions", self.emissions, self.states)

    def potentials(self, observed: Sequence[int], tokens: Sequence[str]) -> Potentials:
        """The logarithms, for a sentence of T observations.

        Args:
            observed: T numbers of observations.
            tokens: T words to draw above them.
        """
        with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
            return Potentials(
                np.log(self.emissions[:, list(observed)].T),
                np.log(self.transitions),
                np.log(self.start),
                None if self.end is None else np.log(self.end),
                tags=self.states,
                tokens=tokens,
            )


def require_shape(name: str, table: Table, shape: tuple[int, ...]) -> None:
    """Refuse a table of another shape.

    Raises:
        ModelError: it has one; says which field.
    """
    if table.shape != shape:
        raise ModelError(
            f"field {name!r} must be {shape} to match the states and observations, "
            f"got {table.shape}"
        )


def require_rows(name: str, table: Table, rows: Sequence[str]) -> None:
    """Refuse rows that are no distributions.

    Args:
        name: of the field.
        table: (N, M).
        rows: N names of the rows, for the message; "" for a field of one row.

    Raises:
        ModelError: a number is NaN or not in [0, 1], or a row does not sum to one.
    """
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
