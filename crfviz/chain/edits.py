"""What a user has changed in a trained chain, kept apart from it.

Edits are few cells against a whole model, so a link that carries them stays short, "reset" is no
edits, and before and after are always both there.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from crfviz.chain.potentials import LARGEST, Potentials
from crfviz.chain.weights import END, START, Cell, Move, weight_matrix, weight_of, with_weights
from crfviz.exceptions import ScoreError, ShapeError
from crfviz.text.lines import shown_value

DECIMALS = 6  # of scores that nobody typed


@dataclass(frozen=True)
class Edits:
    """A sparse difference from the trained model. Methods return new objects.

    Scores replace trained ones, in nats; -inf forbids. `strength` scales the trained transitions,
    start and end before the single cells are put on top.

    Raises:
        ScoreError: a score is NaN, +inf or too large, or `strength` is negative or not finite.
    """

    transitions: Mapping[Move, float] = field(default_factory=dict)
    emissions: Mapping[Cell, float] = field(default_factory=dict)
    strength: float = 1.0
    constrained: bool = True  # False: without the hard constraints of the tagger

    def __post_init__(self) -> None:
        if not 0.0 <= _number(self.strength) < math.inf:
            got = shown_value(self.strength)
            raise ScoreError(f"strength must be finite and not negative, got {got}")
        for name, cells in (("transitions", self.transitions), ("emissions", self.emissions)):
            if not isinstance(cells, Mapping):
                raise ShapeError(f"{name} must map cells to scores, got {shown_value(cells)}")
            for cell, score in cells.items():
                if not (abs(number := _number(score)) <= LARGEST or number == -math.inf):
                    got = f"of {shown_value(cell)} must be -inf or finite, got {shown_value(score)}"
                    raise ScoreError(f"the score {got}")

    def __len__(self) -> int:
        """How many things differ from the trained model."""
        cells = len(self.transitions) + len(self.emissions)
        return cells + (self.strength != 1.0) + (not self.constrained)

    def __bool__(self) -> bool:
        return len(self) > 0

    def with_transition(self, from_tag: str, to_tag: str, score: float) -> "Edits":
        """These and one transition more; START and END name the start and end scores."""
        return replace(self, transitions={**self.transitions, (from_tag, to_tag): score})

    def with_emission(self, position: int, tag: str, score: float) -> "Edits":
        """These and one emission more."""
        return replace(self, emissions={**self.emissions, (position, tag): score})

    def reaching(self, now: Potentials, wanted: Potentials) -> "Edits":
        """These and one edit for each transition, start or end score in which two chains differ.

        From the chain with these edits applied to the same sentence with other weights, none of
        them forbidden that is not now. Scores are kept with `DECIMALS` decimals, so that a link
        with all of them stays readable; what differs by less than half of the last one stays.

        Raises:
            ShapeError: the chains have a transition matrix for each step.
        """
        if not (now.homogeneous and wanted.homogeneous):
            raise ShapeError("edits speak of one transition matrix, not of one for each step")
        sources, targets = [START, *now.tag_names], [*now.tag_names, END]
        held, goal = weight_matrix(now), weight_matrix(wanted)
        moved = (goal - held).abs() >= 0.5 * 10**-DECIMALS  # not where both are -inf: NaN
        cells = {
            (sources[i], targets[j]): round(goal[i, j].item(), DECIMALS)
            for i, j in moved.nonzero().tolist()
        }
        return replace(self, transitions={**self.transitions, **cells})

    def without(self, cell: Move | Cell) -> "Edits":
        """These without the edit of one cell, if there is one."""
        return replace(
            self,
            transitions={key: score for key, score in self.transitions.items() if key != cell},
            emissions={key: score for key, score in self.emissions.items() if key != cell},
        )

    def apply(self, potentials: Potentials) -> Potentials:
        """The edited chain of a sentence.

        Emission edits behind the end of the sentence wait until it is longer again. `constrained`
        is for the tagger, which builds the chain: what it has forbidden cannot be told from here.

        Raises:
            UnknownTagError: an edit names a tag that the chain does not have.
        """
        values = {weight_of(move): score for move, score in self.transitions.items()}
        for (position, tag), score in self.emissions.items():
            if position < potentials.num_tokens:
                values["emission", position, tag] = score
        scaled = potentials if self.strength == 1.0 else potentials.scale_transitions(self.strength)
        return with_weights(scaled, values) if values else scaled


def _number(value: object) -> float:
    """A score as a float; NaN where it is no number."""
    with suppress(TypeError, ValueError, OverflowError):
        return math.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    return math.nan
