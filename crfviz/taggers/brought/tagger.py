"""Sentences with given scores: a tagger that knows those of its file, and their beginnings.

The folder has config.json and model.safetensors. The file holds the emissions of all sentences in
one array, (sum of T, K); `start` and `end` (K,) and `transitions` (K, K) where all sentences share
them, else `start` and `end` (N, K), one row a sentence, and `transitions` (M, K, K): T-1 matrices
of one that has `steps`, one of another. All are float64, -inf where forbidden. Few arrays, because
each takes a while to read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import CrfvizError, ModelError, UnknownObservationError
from crfviz.taggers.examples import GIVEN, Example
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.storage import (
    WEIGHTS_FILE,
    are_texts,
    read_arrays,
    read_choice,
    read_header,
    read_scheme,
    write_arrays,
    write_header,
)
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON

MOST_EXAMPLES = 50  # listed; they travel with every redraw
DRAWN = 120  # words of an example; a link has to hold them
IMPORTED = "imported"  # the `family` in config.json; `scores` holds the family of the scores
FAMILIES = (CRF, PERCEPTRON, HMM)
NAMES = ("emissions", "transitions", "start", "end")


class ImportedTagger(SentenceTagger):
    """A tagger from a folder of given scores."""

    def __init__(self, folder: Path) -> None:
        path, content, tags = read_header(folder, IMPORTED)
        self.family = read_choice(path, content, "scores", FAMILIES)
        self.probabilistic = self.family != PERCEPTRON
        super().__init__(folder, tags, read_scheme(path, content))
        sentences = content.get("sentences")
        if not isinstance(sentences, list) or not sentences:
            raise ModelError(f"{path}: field 'sentences' must be a list with a sentence in it")
        self._words: list[tuple[str, ...]] = []
        self._gold: list[tuple[str, ...] | None] = []
        steps: list[bool] = []
        for number, sentence in enumerate(sentences, start=1):
            place = f"{path}, sentence {number}"
            if not isinstance(sentence, dict):
                raise ModelError(f"{place}: must be an object, got {type(sentence).__name__}")
            self._words.append(_words(place, sentence.get("tokens")))
            right = sentence.get("gold")
            self._gold.append(None if right is None else _words(place, right))
            steps.append(sentence.get("steps") is True)
        # Chains are made when they are asked for: all of them at once would take a while.
        self._arrays = _parted(folder / WEIGHTS_FILE, list(map(len, self._words)), steps, len(tags))
        self._numbers = {words: number for number, words in enumerate(self._words)}

    def split(self, text: str) -> list[str]:
        """What stands between blanks: the words were split already."""
        return text.split()

    def reads(self, text: str) -> bool:
        """Whether it is a sentence of the file, or the beginning of one."""
        return self._longer(tuple(self.split(text))) is not None

    def examples(self) -> list[Example]:
        """The first sentences of the file."""
        known = list(zip(self._words, self._gold, strict=True))[:MOST_EXAMPLES]
        return [
            Example(
                text=" ".join(words[:DRAWN]),
                tokens=words[:DRAWN],
                claim=f"sentence {number}: “{' '.join(words[:8])}{' …' if words[8:] else ''}”",
                kind=GIVEN,
                gold=gold and gold[:DRAWN],
            )
            for number, (words, gold) in enumerate(known, start=1)
        ]

    def _score(self, words: tuple[str, ...]) -> Potentials:
        number = self._numbers.get(words, self._longer(words))
        if number is None:
            raise UnknownObservationError(
                f"{self.name} has scores for the sentences of its file only ({len(self._words)} "
                f"of them); “{' '.join(words)[:60]}” is none. Choose one under “Try one with a "
                f"point”, or type the first words of one, such as “{' '.join(self._words[0][:12])}”"
            )
        known = self._words[number]
        try:
            chain = Potentials(*self._arrays[number], tags=self.tags, tokens=known)
        except CrfvizError as error:
            raise ModelError(
                f"{self.folder / WEIGHTS_FILE}, sentence {number + 1}: {error}"
            ) from error
        return chain.first_words(len(words))

    def _longer(self, words: tuple[str, ...]) -> int | None:
        """The number of a sentence that begins with these words."""
        known = enumerate(self._words)
        return next((n for n, each in known if words and each[: len(words)] == words), None)


def save_imported(
    folder: Path,
    sentences: Sequence[Potentials],
    gold: Sequence[Sequence[str] | None],
    family: str,
    scheme: str | None,
) -> None:
    """Write both files of the folder, which is made if need be.

    Args:
        folder: of the model.
        sentences: at least one, all with the same tags, and with tokens; no two have the same.
        gold: of each sentence its T tag names, where known.
        family: one of `FAMILIES`: what the scores are.
        scheme: "BIO" or None.
    """
    fields = {
        "scores": family,
        "scheme": scheme,
        "tags": list(sentences[0].tag_names),
        "sentences": [
            {"tokens": list(chain.tokens or ()), "gold": right, "steps": not chain.homogeneous}
            for chain, right in zip(sentences, gold, strict=True)
        ],
    }
    write_header(folder, IMPORTED, fields)
    tables = [{name: getattr(c, name).detach().numpy() for name in NAMES} for c in sentences]
    arrays = {"emissions": np.concatenate([table["emissions"] for table in tables])}
    for name in NAMES[1:]:
        first = tables[0][name]
        if first.ndim < 3 and all(np.array_equal(first, table[name]) for table in tables):
            arrays[name] = first
        else:
            rows = [t[name] if t[name].ndim == 3 else t[name][None] for t in tables]
            arrays[name] = np.concatenate(rows)
    write_arrays(folder / WEIGHTS_FILE, arrays)


def _parted(
    path: Path, lengths: Sequence[int], steps: Sequence[bool], K: int
) -> list[tuple[Array, ...]]:
    """Of each sentence emissions, transitions, start and end, as views.

    Args:
        path: of the scores.
        lengths: T of each sentence.
        steps: whether each has a matrix a step.
        K: number of tags.
    """
    N = len(lengths)
    matrices = [T - 1 if own else 1 for T, own in zip(lengths, steps, strict=True)]
    arrays = read_arrays(path)
    emissions = _array(path, arrays, "emissions", [(sum(lengths), K)])
    transitions = _array(path, arrays, "transitions", [(K, K), (sum(matrices), K, K)])
    ends = [_array(path, arrays, name, [(K,), (N, K)]) for name in ("start", "end")]
    own_matrices = [transitions] * N
    if transitions.ndim == 3:
        parts = np.split(transitions, np.cumsum(matrices)[:-1])
        own_matrices = [part if own else part[0] for part, own in zip(parts, steps, strict=True)]
    return list(
        zip(
            np.split(emissions, np.cumsum(lengths)[:-1]),
            own_matrices,
            *([array] * N if array.ndim == 1 else list(array) for array in ends),
            strict=True,
        )
    )


def _array(
    path: Path, arrays: Mapping[str, NDArray[Any]], name: str, shapes: Sequence[tuple[int, ...]]
) -> Array:
    """An array of one of these shapes."""
    array = arrays.get(name)
    if array is None or array.shape not in shapes or array.dtype != np.float64:
        got = "none" if array is None else f"{array.dtype} {array.shape}"
        raise ModelError(
            f"{path}: tensor {name!r} must be float64 {' or '.join(map(str, shapes))} to match "
            f"config.json, got {got}"
        )
    return array


def _words(place: str, value: object) -> tuple[str, ...]:
    if not value or not are_texts(value):
        raise ModelError(f"{place}: tokens and gold must be lists of non-empty strings")
    return tuple(value)
