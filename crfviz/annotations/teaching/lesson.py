"""What is to be taught to a model, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crfviz.annotations.teaching.gains import Gain, gain_of
from crfviz.annotations.teaching.learning import METHODS, WHOLE_TAGGER
from crfviz.corpus.training.recipe import Recipe
from crfviz.exceptions import CrfvizError


@dataclass(frozen=True)
class Lesson:
    """What is to be taught to which model, and how.

    Raises:
        CrfvizError: a number is out of its range, or there is no such method.
    """

    model: str  # name or folder
    method: str = WHOLE_TAGGER  # a key of METHODS
    name: str = ""  # wanted for the new model; empty: that of the model with "-taught"
    held_out: float = 0.2  # share of the sentences that nothing is learnt from
    epochs: int | None = None  # None: those of the method
    learning_rate: float | None = None  # None: that of the method
    seed: int = 0  # of what is held out, of order and of noise

    def __post_init__(self) -> None:
        checks = {
            f"method must be one of {', '.join(METHODS)}, got {self.method!r}": (
                self.method in METHODS
            ),
            f"held_out must be from 0 to below 1, got {self.held_out}": 0 <= self.held_out < 1,
            f"epochs must be 1 to 1000, got {self.epochs}": (
                self.epochs is None or 1 <= self.epochs <= 1000
            ),
            f"learning_rate must be above 0 and at most 1, got {self.learning_rate}": (
                self.learning_rate is None or 0 < self.learning_rate <= 1
            ),
            f"seed must be 0 to 100000, got {self.seed}": 0 <= self.seed <= 100_000,
        }
        for message, fine in checks.items():
            if not fine:
                raise CrfvizError(message)

    @property
    def recipe(self) -> Recipe:
        """The numbers of the method, or those asked for."""
        recipe = METHODS[self.method]
        return replace(
            recipe,
            seed=self.seed,
            epochs=recipe.epochs if self.epochs is None else self.epochs,
            learning_rate=self.learning_rate or recipe.learning_rate,
        )


@dataclass(frozen=True)
class Taught:
    """A model that was taught, and what came of it."""

    name: str  # of the new model
    folder: str
    model: str  # it was taught from
    method: str
    num_sentences: int  # it learnt from
    gains: tuple[Gain, ...]  # on these, on those held out, and on shipped sentences, if any
    seconds: float


def taught_of(record: Mapping[str, Any]) -> Taught:
    """A result out of its JSON, that of `dataclasses.asdict`: what the result of a job holds."""
    return Taught(**{**record, "gains": tuple(map(gain_of, record["gains"]))})
