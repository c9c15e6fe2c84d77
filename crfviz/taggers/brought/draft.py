"""What a file says, before it is checked: sentences with scores, and what they share.

The limits bound what people bring: beyond them nobody sees anything, and the server suffers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from crfviz.exceptions import FormatError
from crfviz.taggers.tagger import CRF

MOST_BYTES = 20_000_000  # of all files of one model, as uploaded
MOST_UNPACKED = 64_000_000  # bytes of all that an archive holds
MOST_MEMBERS = 30_000  # files in an archive; each sentence may have six arrays
MOST_SCORES = 5_000_000  # numbers of a model as it is kept: 40 MB
MOST_SENTENCES = 20_000
MOST_WORDS = 1000  # of a sentence
MOST_TOKENS = 400_000  # words of all sentences
MOST_TAGS = 200
LONGEST_TAG = 60  # characters
LONGEST_WORD = 1000
MOST_SAID = 5  # rows that do not sum to one, sentences that are left out

STEPS = ("transitions", "start", "end")  # the fields of `Steps`

Numbers = Any  # nested lists or an array, not checked yet; None where there are none


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """The scores beside the emissions."""

    transitions: Numbers = None  # (K, K) from, to, or (T-1, K, K)
    start: Numbers = None  # (K,)
    end: Numbers = None  # (K,)


@dataclass(frozen=True, eq=False)
class Part(Steps):
    """One sentence; what is None is that of the whole file."""

    where: str  # "sentence 3", for messages
    emissions: Numbers  # (T, K)
    tokens: Sequence[str] | None = None  # T words
    gold: Sequence[str] | None = None  # T tag names


@dataclass(frozen=True, eq=False)
class Draft(Steps):
    """A whole file, or several that belong together."""

    kind: str  # what it is, for people
    parts: Sequence[Part]
    tags: Sequence[str] | None = None  # K names
    probabilities: bool = False  # whether the numbers are probabilities, not scores
    family: str = CRF  # what the scores are, where they are no probabilities
    scheme: str | None = None  # "BIO": its rules act in decoding
    notes: Sequence[str] = field(default_factory=tuple)  # what the reader of the file assumed
    left_out: Sequence[str] = field(default_factory=tuple)  # what is wrong with other sentences


@dataclass(frozen=True)
class Reading:
    """What a file does not say of itself, and whoever brings it may know."""

    to_from: bool = False  # the rows of the matrices are "to", their columns "from"
    normalise: bool = False  # divide each row of probabilities by its sum
    batch_first: bool = True  # arrays (B, T, K) rather than (T, B, K), where nothing tells
    bio: bool = False  # the rules of BIO act in decoding


Item = TypeVar("Item")


class TooLargeError(FormatError):
    """A whole model is too large; no sentence of it is to blame."""


def good_parts(items: Iterable[Item], read: Callable[[Item], Part]) -> tuple[list[Part], list[str]]:
    """The sentences that can be read, and what is wrong with each of the others.

    Raises:
        FormatError: none can be read; says what is wrong with the first.
    """
    parts: list[Part] = []
    wrong: list[FormatError] = []
    for item in items:
        try:
            parts.append(read(item))
        except TooLargeError:
            raise
        except FormatError as error:
            wrong.append(error)
        if len(parts) + len(wrong) > MOST_SENTENCES:
            raise TooLargeError(
                f"Expected at most {MOST_SENTENCES:,} sentences, got more. Leave some out."
            )
    if wrong and not parts:
        raise wrong[0]
    return parts, list(map(str, wrong))


def require_words(number: int) -> None:
    """Refuse more words than a server should hold.

    Raises:
        FormatError: there are more in all sentences.
    """
    if number > MOST_TOKENS:
        raise TooLargeError(
            f"The sentences have {number:,} words, at most {MOST_TOKENS:,} can be brought: leave "
            "some out."
        )


def require_scores(number: int) -> None:
    """Refuse more scores than a server should hold; counted as they are kept, not as they came.

    Raises:
        FormatError: there are more.
    """
    if number > MOST_SCORES:
        raise TooLargeError(
            f"The model would keep {number:,} scores, {8 * number / 1e6:,.0f} MB of float64; at "
            f"most {MOST_SCORES:,}, {8 * MOST_SCORES / 1e6:,.0f} MB, can be brought: leave some "
            "sentences out."
        )


def names_of(where: str, content: Mapping[str, Any], name: str) -> Sequence[str] | None:
    """A field that is a list of strings, None where there is none.

    Raises:
        FormatError: it is something else.
    """
    names = content.get(name)
    if names is not None and not (
        isinstance(names, list) and all(isinstance(item, str) for item in names)
    ):
        raise FormatError(f"{where}: “{name}” must be a list of strings.")
    return names


def steps_of(content: Mapping[str, Any], suffix: str = "") -> dict[str, Any]:
    """The fields of `Steps` as a file has them, under their names with a suffix."""
    return {name: content.get(f"{name}{suffix}") for name in STEPS}
