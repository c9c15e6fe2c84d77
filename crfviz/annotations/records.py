"""Records of labelling: sentences, annotations, documents and progress."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from crfviz.annotations.settings import Settings
from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.files import abbreviate_value
from crfviz.text.sentences import Offsets, words_at

State = Literal["open", "done"]
STATES: tuple[State, ...] = get_args(State)
CURATED = "curated"  # annotator name of settled sentences
MAX_WORDS = 1000  # words of a sentence, which is displayed completely
UNSETTLED = Settings()  # settings before the first confirmed annotation
LARGEST = 10**9  # characters of a sentence
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # characters that databases cannot store in text


@dataclass(frozen=True)
class Item:
    """One imported sentence to label.

    Raises:
        ShapeError: words overlap or lie outside the text, or the number of gold tags is wrong.
    """

    text: str
    offsets: Offsets  # T words, in order
    gold: tuple[str, ...] | None = None  # T tags from the file
    document: str = ""  # name of its document
    position: int = 0  # index in its document
    id: int = 0  # id in the store; 0 if not stored
    # settings of its document, in a file
    settings: Settings | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_offsets(self.text, self.offsets)
        if self.gold is not None and len(self.gold) != len(self.offsets):
            raise ShapeError(
                f"a sentence needs one gold tag per word: expected {len(self.offsets)}, "
                f"got {len(self.gold)}"
            )

    @property
    def tokens(self) -> tuple[str, ...]:
        return words_at(self.text, self.offsets)


@dataclass(frozen=True)
class Step:
    """An earlier state of an annotation, for undo: the words and pins."""

    offsets: Offsets
    pins: Mapping[int, str]


@dataclass(frozen=True)
class Curation:
    """The curator of a settled sentence, and the versions that were settled."""

    by: str
    # storage time by annotator
    versions: Mapping[str, datetime | None] = field(default_factory=dict)

    def as_fields(self) -> dict[str, Any]:
        times = {who: time and time.isoformat() for who, time in self.versions.items()}
        return {"by": self.by, "versions": times}


@dataclass(frozen=True)
class Annotation:
    """One annotator's tags for one sentence: a row of the store.

    `pins` are the annotator's own tags; the model decoded all other tags of `final` under the pins.
    `revision` counts saves; 0 means never stored.

    Raises:
        ShapeError: the number of proposed or final tags is wrong, or a pin is outside the sentence.

    """

    item: int  # id of the sentence
    annotator: str
    offsets: Offsets  # T words as this annotator split them
    proposed: tuple[str, ...]  # T tags of the model without pins
    final: tuple[str, ...]  # T tags of the model under the pins
    pins: Mapping[int, str] = field(default_factory=dict)
    state: State = "open"
    model: str = ""
    model_version: str = ""  # digest of the model's weights
    revision: int = 0
    seconds: float = 0.0  # time spent
    created: datetime | None = None  # UTC; `None` until the row is saved
    updated: datetime | None = None
    past: tuple[Step, ...] = ()  # for undo, oldest first
    curation: Curation | None = None  # only in a version that settles others

    def __post_init__(self) -> None:
        for name, tags in (("proposed", self.proposed), ("final", self.final)):
            if len(tags) != len(self.offsets):
                raise ShapeError(
                    f"an annotation needs one {name} tag per word: expected "
                    f"{len(self.offsets)}, got {len(tags)}"
                )
        outside = [t for t in self.pins if not 0 <= t < len(self.offsets)]
        if outside:
            raise ShapeError(
                f"pins must lie in 0 to {len(self.offsets) - 1}, got position {outside[0]}"
            )


Pair = tuple[Item, Annotation]


@dataclass(frozen=True)
class Document:
    """Sentences and their annotations, with one name and one set of settings."""

    name: str
    items: tuple[Item, ...]
    annotations: tuple[Annotation, ...] = ()  # `item` is an index of `items`
    settings: Settings = UNSETTLED


@dataclass(frozen=True)
class Merged:
    """The result of merging annotations into a document, performed or planned."""

    new: tuple[Annotation, ...]  # annotations that are new, or that finish an equal open one
    same: int  # number of equal annotations
    conflicts: tuple[tuple[Annotation, Annotation], ...]  # stored (kept) and imported annotation


@dataclass(frozen=True)
class DocumentSummary:
    """One line of the list of documents."""

    name: str
    sentences: int
    created: datetime  # UTC
    settings: Settings

    @property
    def tags(self) -> tuple[str, ...] | None:
        """The K tags of the labels; None before the first confirmed annotation."""
        return self.settings.tags

    @property
    def model(self) -> str:
        """The model that the document was begun with, or that was trained on it; empty for none."""
        return self.settings.model

    @property
    def key(self) -> str:
        return f"{self.created:%Y%m%d%H%M%S%f}"


@dataclass(frozen=True)
class Progress:
    """The progress of one annotator in one document."""

    total: int  # sentences in the document
    done: int
    open: int  # begun and not done; a fully undone sentence is not open
    seconds: float  # time spent on finished sentences


def check_offsets(text: str, offsets: Offsets) -> None:
    """Reject words that overlap, are empty, or lie outside the text.

    Raises:
        ShapeError: names the word.
    """
    before = 0
    for number, (start, end) in enumerate(offsets, start=1):
        if not before <= start < end <= len(text):
            raise ShapeError(
                f"word {number} must lie between characters {before} and {len(text)} of its text, "
                f"got {start} to {end}"
            )
        before = end


# Parsers of JSON values as fields of records. For an invalid value each function raises a
# ValueError or TypeError.


def texts_of(value: object) -> tuple[str, ...]:
    """Return the strings of a list."""
    if not isinstance(value, list) or not {*map(type, value)} <= {str}:
        raise TypeError
    return tuple(value)


def state_of(value: object) -> State:
    """Parse the state of an annotation."""
    found = [state for state in STATES if state == value]
    if not found:
        raise ValueError
    return found[0]


def offsets_of(value: object) -> Offsets:
    """Parse word offsets from pairs."""
    if not isinstance(value, list) or not all(
        isinstance(pair, list)
        and len(pair) == 2
        and all(type(end) is int and 0 <= end < LARGEST for end in pair)
        for pair in value
    ):
        raise TypeError
    return tuple((start, end) for start, end in value)


def pins_of(value: object) -> dict[int, str]:
    """Parse tags by position; positions are strings in JSON."""
    if not isinstance(value, dict) or not all(
        position.isdecimal() and len(position) < 10 and isinstance(tag, str)
        for position, tag in value.items()
    ):
        raise TypeError
    return {int(position): tag for position, tag in value.items()}


def steps_of(value: object) -> tuple[Step, ...]:
    """Parse undo steps from pairs of words and pins."""
    if not isinstance(value, list):
        raise TypeError
    return tuple(Step(offsets_of(words), pins_of(pins)) for words, pins in value)


def curation_of(value: object) -> Curation:
    """Parse the result of `Curation.as_fields`.

    Raises:
        FormatError: it is invalid.
    """
    known = value if isinstance(value, dict) else {}
    by, versions = known.get("by"), known.get("versions")
    try:
        if not isinstance(by, str) or not isinstance(versions, dict):
            raise TypeError
        times = {who: time and datetime.fromisoformat(time) for who, time in versions.items()}
        return Curation(by, {who: time and time.astimezone(UTC) for who, time in times.items()})
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            "expected who settled a sentence and the time of each version, got "
            f"{abbreviate_value(value)}"
        ) from error
