"""Parsed but unchecked content of an uploaded model, and the limits of uploads.

The limits protect the server; larger models could not be drawn legibly.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import FormatError
from crfviz.taggers.tagger import CRF
from crfviz.text.archives import Archive

MAX_BYTES = 20_000_000  # size of a model's files, as uploaded
MAX_UNPACKED = 64_000_000  # bytes of all that an archive holds
MAX_MEMBERS = 30_000  # files in an archive; each sentence may have six arrays
MAX_SCORES = 5_000_000  # numbers of a stored model: 40 MB
MAX_SENTENCES = 20_000
MAX_WORDS = 20_000  # words of a sentence, whose tables take a second
MAX_TOKENS = 400_000  # words of all sentences
MAX_TAGS = 200
LONGEST_TAG = 60  # characters
LONGEST_WORD = 1000
MAX_SAID = 5  # items that a note lists

HALF = ("float16", "bfloat16")
STEPS = ("transitions", "start", "end")  # the fields of `Steps`

Numbers = Any  # nested lists or an array, not checked yet; None if missing


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """Transition, start and end scores, each optional."""

    transitions: Numbers = None  # (K, K) from, to, or (T-1, K, K)
    start: Numbers = None  # (K,)
    end: Numbers = None  # (K,)

    def tables(self) -> dict[str, Any]:
        """Return the tables that are not None, by name."""
        named = {name: getattr(self, name) for name in STEPS}
        return {name: table for name, table in named.items() if table is not None}


class FeatureWeights(NamedTuple):
    """Weights of each of V features for each tag, as a sparse (V, K) table."""

    begins: NDArray[np.int64]  # (V + 1,) index of each feature's first weight
    targets: NDArray[np.uint32]  # (F,) tag ids
    weights: NDArray[np.float64]  # (F,)

    def row(self, feature: int, num_tags: int) -> NDArray[np.float64]:
        """Return the weights (K,) of a feature."""
        row = np.zeros(num_tags)
        own = slice(self.begins[feature], self.begins[feature + 1])
        row[self.targets[own]] = self.weights[own]
        return row

    def by_name(
        self, known: Iterable[tuple[str, int, float]], num_tags: int
    ) -> dict[str, NDArray[np.float64]]:
        """Return the scores (K,) of features by name, from their names, ids and values."""
        rows: dict[str, NDArray[np.float64]] = {}
        for name, feature, value in known:
            rows[name] = rows.get(name, 0) + value * self.row(feature, num_tags)
        return rows


class WordFeatures(NamedTuple):
    """The known features of the T words of a sentence, word after word."""

    counts: NDArray[np.int64]  # (T,) number of features of each word
    ids: NDArray[np.uint32]  # (N,) feature ids
    values: NDArray[np.float64]  # (N,)


@dataclass(frozen=True, eq=False)
class SentenceScores:
    """Scores of one sentence; validation adds the tables that all sentences share."""

    where: str  # "sentence 3", for messages
    emissions: Numbers  # (T, K)
    tokens: Sequence[str] | None = None  # T words
    gold: Sequence[str] | None = None  # T tag names
    features: WordFeatures | None = None  # their scores sum to the emissions; None: unknown
    steps: Steps = Steps()

    def chain(self, tags: Sequence[str] | None = None) -> Potentials:
        """Return the chain of these scores.

        Raises:
            CrfvizError: the scores make no valid chain.
        """
        return Potentials(self.emissions, **self.steps.tables(), tags=tags, tokens=self.tokens)


@dataclass(frozen=True, eq=False)
class ParsedModel:
    """The content of one file, or of several that belong together."""

    kind: str  # kind of file, for messages
    parts: Sequence[SentenceScores]
    tags: Sequence[str] | None = None  # K names
    steps: Steps = Steps()
    # whether the numbers are probabilities, not scores; None if the file does not say
    probabilities: bool | None = False
    family: str = CRF  # "crf" or "perceptron"; ignored for probabilities
    scheme: str | None = None  # "BIO": decoding obeys its rules
    notes: Sequence[str] = field(default_factory=tuple)  # assumptions of the reader
    left_out: Sequence[str] = field(default_factory=tuple)  # errors of skipped sentences
    # Writes the features of sentences, with the weights for some tag ids, into a model folder.
    write_features: Callable[[Path, Sequence[WordFeatures], Sequence[int]], None] | None = None
    batch_first: bool | None = None  # assumed axis order; None if the file has it


@dataclass(frozen=True)
class Reading:
    """Facts that a model's file lacks and its owner may supply."""

    probabilities: bool | None = None  # not scores; None: as the file says, or a question
    to_from: bool = False  # the rows of the matrices are "to", their columns "from"
    normalise: bool = False  # divide each row of probabilities by its sum
    batch_first: bool | None = None  # (B, T, K), not (T, B, K), if the file is unclear
    bio: bool = False  # decoding obeys the rules of BIO
    keep_boundary_tags: bool | None = None  # <START>, <STOP> are tags of words; None: the default
    keys: tuple[tuple[str, str], ...] = ()  # chosen, each with the usual name: ("y", "tags")


Item = TypeVar("Item")


class TooLargeError(FormatError):
    """The model as a whole is too large."""


def readable_sentences(
    items: Iterable[Item], read: Callable[[Item], SentenceScores]
) -> tuple[list[SentenceScores], list[str]]:
    """Return the readable sentences, and the errors of the others.

    Raises:
        FormatError: none is readable (the error of the first), or the model is too large.
    """
    parts: list[SentenceScores] = []
    wrong: list[FormatError] = []
    for item in items:
        try:
            parts.append(read(item))
        except TooLargeError:
            raise
        except FormatError as error:
            wrong.append(error)
        if len(parts) + len(wrong) > MAX_SENTENCES:
            raise TooLargeError(
                f"Expected at most {MAX_SENTENCES:,} sentences, got more. Leave some out."
            )
    if wrong and not parts:
        raise wrong[0]
    return parts, list(map(str, wrong))


def require_words(number: int) -> None:
    """Reject more words than the limit.

    Raises:
        FormatError: the sentences have more words.
    """
    if number > MAX_TOKENS:
        raise TooLargeError(
            f"The sentences have {number:,} words, at most {MAX_TOKENS:,} can be brought: leave "
            "some out."
        )


def require_scores(number: int) -> None:
    """Reject more stored scores than the limit.

    Raises:
        FormatError: the model has more scores.
    """
    if number > MAX_SCORES:
        raise TooLargeError(
            f"The model would keep {number:,} scores, {8 * number / 1e6:,.0f} MB of float64; at "
            f"most {MAX_SCORES:,}, {8 * MAX_SCORES / 1e6:,.0f} MB, can be brought: leave some "
            "sentences out."
        )


def require_fields(where: str, content: Mapping[str, Any], known: Sequence[str]) -> None:
    """Reject unknown fields: a misspelt one must not pass for a missing one.

    Raises:
        FormatError: a field is unknown.
    """
    for name in content:
        if name not in known:
            raise FormatError(
                f"{where}: there is no field {name[:60]!r}; known: {', '.join(known)}."
            )


def text_list(where: str, content: Mapping[str, Any], name: str) -> Sequence[str] | None:
    """Return a field that is a list of strings or an array of text; None if missing.

    Raises:
        FormatError: it has another type.
    """
    texts = content.get(name)
    if isinstance(texts, np.ndarray):
        if texts.dtype.kind not in "US" or texts.ndim != 1:
            raise FormatError(
                f"{where}: {name} must be text, one for each, got {texts.dtype} of shape "
                f"{texts.shape}; np.array([…], dtype=str) makes it."
            )
        texts = [
            t.decode("utf-8", "replace") if isinstance(t, bytes) else t for t in texts.tolist()
        ]
    if texts is not None and not (
        isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    ):
        raise FormatError(f"{where}: “{name}” must be a list of strings.")
    return texts


def steps_of(content: Mapping[str, Any]) -> Steps:
    """Return the fields of `Steps` in a file, unchecked."""
    return Steps(**{name: content.get(name) for name in STEPS})


def precision_notes(dtypes: Iterable[str]) -> list[str]:
    """Return a note for each type of half precision."""
    return [
        f"The scores are {dtype}, which has 2 or 3 digits: sums here are float64, so paths and "
        "log Z may differ from the library's."
        for dtype in dict.fromkeys(dtypes)
        if dtype in HALF
    ]


def first_few(texts: Sequence[str]) -> list[str]:
    """Return the first texts, and how many more there are."""
    more = len(texts) - MAX_SAID
    return [*texts[:MAX_SAID], *([f"and {more:,} more"] if more > 0 else [])]


def open_archive(data: bytes) -> Archive:
    """Return an archive that enforces the limits of uploads.

    Raises:
        FormatError: it is damaged, holds too many files, or unpacks to too many bytes.
    """
    return Archive(data, most_members=MAX_MEMBERS, most_unpacked=MAX_UNPACKED)
