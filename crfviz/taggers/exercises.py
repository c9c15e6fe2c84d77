"""The chains of exercises as taggers, so that every page shows them: `exercise/viterbi.7`."""

from crfviz.chain.homework.exercise import Exercise, exercise
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ModelError, UnknownObservationError
from crfviz.taggers.examples import Example
from crfviz.taggers.folder import NOWHERE, SentenceTagger
from crfviz.taggers.tagger import CRF
from crfviz.text.files import abbreviate

PREFIX = "exercise/"


def exercise_named(text: str) -> Exercise:
    """Return the exercise of a text such as "viterbi.7": kind and seed.

    Raises:
        CrfvizError: there is none.
    """
    kind, _, seed = text.partition(".")
    if not (seed.isascii() and seed.isdecimal()):
        raise CrfvizError("expected alpha, beta or viterbi with a number, such as viterbi.1")
    return exercise(kind, int(seed[:9]))


def is_exercise(name: str) -> bool:
    """Return whether a tagger name is that of an exercise."""
    try:
        return name.startswith(PREFIX) and bool(exercise_named(name.removeprefix(PREFIX)))
    except CrfvizError:
        return False


class ExerciseTagger(SentenceTagger):
    """The tagger of an exercise's only sentence; see `Tagger`.

    Raises:
        ModelError: there is no such exercise.
    """

    family = CRF
    probabilistic = True

    def __init__(self, name: str) -> None:
        try:
            self.task = exercise_named(name.removeprefix(PREFIX))
        except CrfvizError as error:
            raise ModelError(f"there is no exercise {abbreviate(name)}: {error}") from error
        super().__init__(NOWHERE, tuple(self.task.potentials.tag_names), None)
        self.name = name
        self._words = tuple(self.task.potentials.tokens or ())

    def examples(self) -> list[Example]:
        text = " ".join(self._words)
        return [Example(text, self._words, f"The chain of {self.name}.", kind="unsure")]

    def _score(self, words: tuple[str, ...]) -> Potentials:
        if words != self._words:
            raise UnknownObservationError(
                f"{self.name} knows one sentence alone: {' '.join(self._words)}"
            )
        return self.task.potentials
