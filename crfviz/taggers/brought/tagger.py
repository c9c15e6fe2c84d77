"""Tagger over uploaded scores: it knows the sentences of its file and their beginnings.

Chains are made on access. Making all at once would be slow, and would copy the shared tables.

The folder has config.json and model.safetensors. The file holds the emissions of all sentences in
one array, (sum of T, K); `start` and `end` (K,) and `transitions` (K, K) where all sentences share
them, else `start` and `end` (N, K), one row a sentence, and `transitions` (M, K, K): T-1 matrices
for a sentence with `steps`, one for any other. All are float64, -inf where forbidden. There are few
arrays because reading one takes time. Models with features have them in a file of their own, see
`crfviz.taggers.brought.features_file`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import ModelError, UnknownObservationError, errors_at
from crfviz.taggers.brought.features_file import FEATURES_FILE, read_features
from crfviz.taggers.brought.parsed_model import STEPS, SentenceScores, Steps
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
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON, Contribution
from crfviz.text.sentences import Sentence


class ScoreSet(Sequence[Potentials]):
    """Sentences with their scores. Chains are made on access.

    Args:
        tags: K tag names.
        parts: sentences with words, and all scores as arrays; `number` finds the later of two
            with the same words.
    """

    def __init__(self, tags: tuple[str, ...], parts: Sequence[SentenceScores]) -> None:
        self.tags, self.parts = tags, parts
        self.words = [tuple(part.tokens or ()) for part in parts]
        self._numbers = {words: number for number, words in enumerate(self.words)}

    def number(self, words: tuple[str, ...]) -> int | None:
        """Return the index of the sentence that has these words, or begins with them."""
        if words in self._numbers:
            return self._numbers[words]
        known = enumerate(self.words)
        return next((n for n, each in known if words and each[: len(words)] == words), None)

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, number: int) -> Potentials: ...

    @overload
    def __getitem__(self, number: slice) -> list[Potentials]: ...

    def __getitem__(self, number: int | slice) -> Potentials | list[Potentials]:
        """Return the chain of a sentence, or a list for a slice.

        Raises:
            CrfvizError: its scores make no valid chain.
        """
        if isinstance(number, slice):
            return [part.chain(self.tags) for part in self.parts[number]]
        return self.parts[number].chain(self.tags)


MAX_EXAMPLES = 50  # listed; they are sent with every redraw
LONGEST_SHOWN = 80  # characters of a sentence's beginning
LONGEST_TEXT = 14_000  # characters of an example; they must fit into a link
IMPORTED = "imported"  # the `family` in config.json; `scores` holds the family of the scores
FAMILIES = (CRF, PERCEPTRON, HMM)


class ImportedTagger(SentenceTagger):
    """A tagger over the scores in a folder."""

    def __init__(self, folder: Path) -> None:
        path, content, tags = read_header(folder, IMPORTED)
        self.family = read_choice(path, content, "scores", FAMILIES)
        self.probabilistic = self.family != PERCEPTRON
        super().__init__(folder, tags, read_scheme(path, content))
        sentences = content.get("sentences")
        if not isinstance(sentences, list) or not sentences:
            raise ModelError(f"{path}: field 'sentences' must be a list with a sentence in it")
        words: list[tuple[str, ...]] = []
        own_steps: list[bool] = []
        for number, sentence in enumerate(sentences, start=1):
            place = f"{path}, sentence {number}"
            if not isinstance(sentence, dict):
                raise ModelError(f"{place}: must be an object, got {type(sentence).__name__}")
            words.append(_words(place, sentence.get("tokens")))
            own_steps.append(sentence.get("steps") is True)
        lengths = list(map(len, words))
        scores = _split_scores(folder / WEIGHTS_FILE, lengths, own_steps, len(tags))
        parts = []
        for number, (emissions, steps) in enumerate(scores):
            place = f"{path}, sentence {number + 1}"
            gold = _gold(place, sentences[number].get("gold"), words[number], tags)
            parts.append(SentenceScores(place, emissions, words[number], gold, steps=steps))
        self._given = ScoreSet(tags, parts)

    def split(self, text: str) -> list[str]:
        """Split at whitespace: the file has words already."""
        return text.split()

    def reads(self, text: str) -> bool:
        """Return whether a text is a sentence of the file, or the beginning of one."""
        return self._given.number(tuple(self.split(text))) is not None

    def examples(self) -> list[Example]:
        """Return the first sentences of the file."""
        given = self._given
        return [
            Example(
                text=" ".join(drawn),
                tokens=drawn,
                claim=f"sentence {number}: “{_beginning(words)}”",
                kind=GIVEN,
                gold=None if part.gold is None else tuple(part.gold[: len(drawn)]),
            )
            for number, (words, part) in enumerate(
                zip(given.words[:MAX_EXAMPLES], given.parts, strict=False), start=1
            )
            if (drawn := _linkable(words))
        ]

    def tagged(self) -> list[Sentence]:
        """Return the sentences of the file that have gold tags."""
        both = zip(self._given.words, self._given.parts, strict=True)
        return [Sentence(words, tuple(part.gold)) for words, part in both if part.gold is not None]

    def contributions(self, words: Sequence[str], position: int) -> list[Contribution]:
        """Return the features that the file lists at a word; their scores add up to its emissions.

        Raises:
            ModelError: the model holds only scores, or its features are damaged.
        """
        number = self._number(tuple(words))
        before = sum(map(len, self._given.words[:number]))
        found = read_features(self.folder, before + position, len(self.tags))
        if found is None:
            raise ModelError(
                f"{self.name} holds only the scores of its sentences, not the features that they "
                "are sums of. For contributions bring a CRFsuite model (.crfsuite) with the "
                "attributes of the words (.jsonl), or use crfviz.from_crfsuite."
            )
        scores = self._given.parts[number].emissions[position]
        if not np.allclose(sum((row for _, row in found), np.zeros(len(self.tags))), scores):
            raise ModelError(
                f"{self.folder / FEATURES_FILE}: the features of word {position + 1} of sentence "
                f"{number + 1} must add up to its scores in {WEIGHTS_FILE}"
            )
        return [Contribution(name, (position,), row) for name, row in found]

    def _score(self, words: tuple[str, ...]) -> Potentials:
        number = self._number(words)
        with errors_at(f"{self.folder / WEIGHTS_FILE}, sentence {number + 1}", ModelError):
            chain = self._given[number]
        return chain.first_words(len(words))

    def _number(self, words: tuple[str, ...]) -> int:
        given = self._given
        number = given.number(words)
        if number is None:
            raise UnknownObservationError(
                f"{self.name} has scores for the sentences of its file only ({len(given):,} of "
                f"them); “{' '.join(words)[:60]}” is none. Take one of them, or the first "
                f"words of one, such as “{_beginning(given.words[0])}”"
            )
        return number


def save_imported(folder: Path, given: ScoreSet, family: str, scheme: str | None) -> None:
    """Write config.json and model.safetensors, and create the folder if needed.

    Args:
        folder: the model folder.
        given: sentences to store, at least one.
        family: family of the scores, one of `FAMILIES`.
        scheme: "BIO" or None.
    """
    fields = {
        "scores": family,
        "scheme": scheme,
        "tags": list(given.tags),
        "sentences": [
            {
                "tokens": list(words),
                "gold": part.gold and list(part.gold),
                "steps": part.steps.transitions.ndim == 3,
            }
            for words, part in zip(given.words, given.parts, strict=True)
        ],
    }
    write_header(folder, IMPORTED, fields)
    arrays = {"emissions": np.concatenate([part.emissions for part in given.parts])}
    for name in STEPS:
        tables = _stored(given.parts, name) or [np.zeros(len(given.tags))]
        each = [table if table.ndim == 3 else table[None] for table in tables]
        arrays[name] = tables[0] if len(tables) == 1 else np.concatenate(each)
    write_arrays(folder / WEIGHTS_FILE, arrays)


def stored_size(parts: Sequence[SentenceScores]) -> int:
    """Return the number of scores that a folder of these sentences stores."""
    tables = (table for name in STEPS for table in _stored(parts, name))
    every = (*tables, *(part.emissions for part in parts))
    return sum(int(table.size) for table in every)


def _stored(parts: Sequence[SentenceScores], name: str) -> list[Array]:
    """Return the tables to store under a name: one for all sentences, or one for each."""
    tables = [getattr(part.steps, name) for part in parts]
    first = next((table for table in tables if table is not None), None)
    if first is None:
        return []
    tables = [np.zeros_like(first) if table is None else table for table in tables]
    alike = first.ndim < 3 and all(t is first or np.array_equal(t, first) for t in tables)
    return [first] if alike else tables


def _split_scores(
    path: Path, lengths: Sequence[int], own_steps: Sequence[bool], K: int
) -> Iterator[tuple[Array, Steps]]:
    """Yield the emissions and the steps of each sentence, as views.

    Args:
        path: file of the scores.
        lengths: T of each of N sentences.
        own_steps: whether each sentence has a matrix for each step.
        K: number of tags.
    """
    N = len(lengths)
    matrices = [T - 1 if own else 1 for T, own in zip(lengths, own_steps, strict=True)]
    arrays = read_arrays(path)
    emissions = _array(path, arrays, "emissions", [(sum(lengths), K)])
    transitions = _array(path, arrays, "transitions", [(K, K), (sum(matrices), K, K)])
    ends = [_array(path, arrays, name, [(K,), (N, K)]) for name in ("start", "end")]
    own_matrices = [transitions] * N
    if transitions.ndim == 3:
        split = np.split(transitions, np.cumsum(matrices)[:-1])
        own_matrices = [
            each if own else each[0] for each, own in zip(split, own_steps, strict=True)
        ]
    starts, stops = ([table] * N if table.ndim == 1 else list(table) for table in ends)
    tables = zip(own_matrices, starts, stops, strict=True)
    for own, each in zip(np.split(emissions, np.cumsum(lengths)[:-1]), tables, strict=True):
        yield own, Steps(**dict(zip(STEPS, each, strict=True)))


def _array(
    path: Path, arrays: Mapping[str, NDArray[Any]], name: str, shapes: Sequence[tuple[int, ...]]
) -> Array:
    """Return an array, which must be float64 and have one of these shapes."""
    array = arrays.get(name)
    if array is None or array.shape not in shapes or array.dtype != np.float64:
        got = "none" if array is None else f"{array.dtype} {array.shape}"
        raise ModelError(
            f"{path}: tensor {name!r} must be float64 {' or '.join(map(str, shapes))} to match "
            f"config.json, got {got}"
        )
    return array


def _beginning(words: Sequence[str]) -> str:
    first = " ".join(words[:8])
    if len(first) > LONGEST_SHOWN:
        return f"{first[:LONGEST_SHOWN]}…"
    return f"{first}{' …' if words[8:] else ''}"


def _linkable(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first words that fit into a link."""
    lengths = accumulate(len(word) + 1 for word in words)
    return words[: sum(length <= LONGEST_TEXT for length in lengths)]


def _gold(
    place: str, value: object, words: Sequence[str], tags: Sequence[str]
) -> tuple[str, ...] | None:
    if value is None:
        return None
    gold = _words(place, value)
    if len(gold) != len(words) or not set(gold) <= set(tags):
        raise ModelError(f"{place}: gold must be {len(words)} of the tags, got {str(gold)[:80]}")
    return gold


def _words(place: str, value: object) -> tuple[str, ...]:
    if not value or not are_texts(value):
        raise ModelError(f"{place}: tokens and gold must be lists of non-empty strings")
    return tuple(value)
