"""The parts of a corpus, by what a word is and where it stands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.corpus.run.results import SEEN, Results
from crfviz.exceptions import CrfvizError
from crfviz.taggers.features import SHAPES
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.taggers.tagger import Tagger

LENGTHS = (5, 10, 20, 40)  # words, the upper end of each group but the last
GOLD_TAG, LENGTH, IN_TRAINING = "gold tag", "sentence length", "word in training"
POSITION, CAPITALISATION = "position", "capitalisation"


def _length_names() -> list[str]:
    starts = [1, *(end + 1 for end in LENGTHS)]
    names = [f"{start} to {end}" for start, end in zip(starts, LENGTHS, strict=False)]
    return [*names, f"more than {LENGTHS[-1]}"]


NAMES: dict[str, Callable[[Tagger], Sequence[str]]] = {
    GOLD_TAG: lambda tagger: tagger.tags,
    LENGTH: lambda _: _length_names(),
    POSITION: lambda _: ("inner", "first", "last", "only"),
    IN_TRAINING: lambda _: SEEN,
    CAPITALISATION: lambda _: SHAPES,
}  # of the parts of each dimension


@dataclass(frozen=True)
class Parts:
    """The part of every word, as an index into names."""

    numbers: NDArray[np.int64]  # (M,)
    names: Sequence[str]


def parts_of(results: Results, dimension: str) -> Parts:
    """The words by one of `dimensions_of`.

    Raises:
        CrfvizError: the words of the training are not known, and were asked for.
    """
    return Parts(_NUMBERS[dimension](results), NAMES[dimension](results.tagger))


def dimensions_of(results: Results) -> list[str]:
    """By what the words can be parted; by the training words only where these are known."""
    return [name for name in NAMES if name != IN_TRAINING or results.seen is not None]


def _length(results: Results) -> NDArray[np.int64]:
    groups = np.searchsorted(LENGTHS, results.lengths)  # a length of 5 is in the first group
    return np.repeat(groups, results.lengths)


def _position(results: Results) -> NDArray[np.int64]:
    ends = np.cumsum(results.lengths)
    first, last = np.zeros((2, len(results.gold)), dtype=np.int64)
    first[ends - results.lengths] = 1
    last[ends - 1] = 1
    return np.asarray(first + 2 * last)


def _seen(results: Results) -> NDArray[np.int64]:
    if results.seen is None:
        raise CrfvizError(
            f"{results.tagger.name} has no {LEXICON_FILE}: what was seen in training is not known"
        )
    return results.seen.astype(np.int64)


_NUMBERS: dict[str, Callable[[Results], NDArray[np.int64]]] = {
    GOLD_TAG: lambda results: results.gold.astype(np.int64),
    LENGTH: _length,
    POSITION: _position,
    IN_TRAINING: _seen,
    CAPITALISATION: lambda results: results.shapes.astype(np.int64),
}
