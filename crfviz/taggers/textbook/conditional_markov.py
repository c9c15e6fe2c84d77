"""A maximum-entropy Markov model: the next tag, given the tag before and the observation.

    p(y | x) = p(y_1 | x_1) · Π p(y_t | y_{t-1}, x_t)

Each factor sums to one over the tags, whatever the observation: a state with one way out passes all
its mass on. That is label bias, and Z is always one.

Source:
    McCallum, Freitag and Pereira (2000); Lafferty, McCallum and Pereira (2001), section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.potentials import Potentials
from crfviz.taggers.textbook.hidden_markov import Table, require_rows, require_shape


@dataclass(frozen=True, eq=False)
class ConditionalMarkov:
    """Probabilities, checked.

    Raises:
        ModelError: a shape does not fit, a number is no probability, or a row does not sum to one.
    """

    states: tuple[str, ...]  # K tag names
    observations: tuple[str, ...]  # V names of what can be seen
    start: Table  # (V, K), p(first tag | observation)
    transitions: Table  # (V, K, K), p(tag | tag before, observation)

    def __post_init__(self) -> None:
        K, V = len(self.states), len(self.observations)
        require_shape("start", self.start, (V, K))
        require_shape("transitions", self.transitions, (V, K, K))
        require_rows("start", self.start, self.observations)
        for name, matrix in zip(self.observations, self.transitions, strict=True):
            require_rows(f"transitions.{name}", matrix, self.states)

    def potentials(self, observed: Sequence[int], tokens: Sequence[str]) -> Potentials:
        """The logarithms, for a sentence of T observations; emissions are all 0.

        Args:
            observed: T numbers of observations.
            tokens: T words to draw above them.
        """
        with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
            return Potentials(
                np.zeros((len(observed), len(self.states))),
                np.log(self.transitions[list(observed[1:])]),
                np.log(self.start[observed[0]]),
                tags=self.states,
                tokens=tokens,
            )
