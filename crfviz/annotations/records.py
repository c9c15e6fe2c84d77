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
CURATED = "curated"  # annotator of the settled sentences
MAX_WORDS = 1000  # of a sentence; who labels it sees all of them at once
UNSETTLED = Settings()  # of a document that gets them with its first confirmation
LARGEST = 10**9  # characters of a sentence
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # no database holds these in its text


@dataclass(frozen=True)
class Item:
    """One sentence that waits for annotators, as it came in.

    Raises:
        ShapeError: words that overlap or lie outside of the text, or not one gold tag per word.
    """

    text: str
    offsets: Offsets  # T words, in order
    gold: tuple[str, ...] | None = None  # T tags that the file had
    document: str = ""  # name of the file or paste it belongs to
    position: int = 0  # in its document, from 0
    id: int = 0  # of the store; 0: not stored yet
    settings: Settings | None = field(default=None, compare=False)  # of its document, in a file

    def __post_init__(self) -> None:
        check_offsets(self.text, self.offsets)
        if self.gold is not None and len(self.gold) != len(self.offsets):
            raise ShapeError(
                f"a sentence needs one gold tag per word: expected {len(self.offsets)}, "
                f"got {len(self.gold)}"
            )

    @property
    def tokens(self) -> tuple[str, ...]:
        """The T words."""
        return words_at(self.text, self.offsets)


@dataclass(frozen=True)
class Step:
    """An earlier state of an annotation, for undo: the words and the tags that were set."""

    offsets: Offsets
    pins: Mapping[int, str]


@dataclass(frozen=True)
class Curation:
    """The curator who settled a sentence, and the versions that were settled."""

    by: str
    versions: Mapping[str, datetime | None] = field(default_factory=dict)  # annotator: its time

    def as_fields(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        times = {who: time and time.isoformat() for who, time in self.versions.items()}
        return {"by": self.by, "versions": times}


@dataclass(frozen=True)
class Annotation:
    """One annotator's tags for one sentence: a row of the store.

    The annotator's own tags are `pins`; all other tags of `final` are the model's, decoded under
    the pins. `revision` counts the times it was stored: 0 is not yet.

    Raises:
        ShapeError: not one proposed and final tag per word, or a pin outside of the sentence.
    """

    item: int  # id of the sentence
    annotator: str
    offsets: Offsets  # T words as this annotator split them
    proposed: tuple[str, ...]  # T tags of the model alone
    final: tuple[str, ...]  # T tags of the model under the pins
    pins: Mapping[int, str] = field(default_factory=dict)
    state: State = "open"
    model: str = ""
    model_version: str = ""  # a digest of its weights
    revision: int = 0
    seconds: float = 0.0  # spent on it
    created: datetime | None = None  # UTC; None: not stored yet
    updated: datetime | None = None
    past: tuple[Step, ...] = ()  # for undo, oldest first
    curation: Curation | None = None  # of a version that settles those of others

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
    """Sentences and their annotations, under one name and with one set of settings."""

    name: str
    items: tuple[Item, ...]
    annotations: tuple[Annotation, ...] = ()  # their `item` counts `items` from 0
    settings: Settings = UNSETTLED


@dataclass(frozen=True)
class Merged:
    """Result of merging annotations into a document, done or planned."""

    new: tuple[Annotation, ...]  # the annotator had said nothing, or had not finished the same
    same: int  # that were there
    conflicts: tuple[tuple[Annotation, Annotation], ...]  # what is there and stays, and what came


@dataclass(frozen=True)
class DocumentSummary:
    """One line of the list of documents."""

    name: str
    sentences: int
    created: datetime  # UTC
    settings: Settings

    @property
    def tags(self) -> tuple[str, ...] | None:
        """K tags that it is labelled with; None: none confirmed yet."""
        return self.settings.tags

    @property
    def model(self) -> str:
        """The model that it was begun with, or that was trained on it; empty for none."""
        return self.settings.model

    @property
    def key(self) -> str:
        """Return the key of the document in links and as the owner of models."""
        return f"{self.created:%Y%m%d%H%M%S%f}"


@dataclass(frozen=True)
class Progress:
    """Progress of one annotator in one document."""

    total: int  # sentences of the document
    done: int
    open: int  # begun, not done; one that was undone whole counts as not begun
    seconds: float  # spent on the done ones


def check_offsets(text: str, offsets: Offsets) -> None:
    """Refuse words that overlap, are empty, or lie outside of the text.

    Raises:
        ShapeError: says which word.
    """
    before = 0
    for number, (start, end) in enumerate(offsets, start=1):
        if not before <= start < end <= len(text):
            raise ShapeError(
                f"word {number} must lie between characters {before} and {len(text)} of its text, "
                f"got {start} to {end}"
            )
        before = end


# Values of JSON as the fields of records. Anybody may have written them: each function raises a
# ValueError or TypeError where the value is something else.


def texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of a list."""
    if not isinstance(value, list) or not {*map(type, value)} <= {str}:
        raise TypeError
    return tuple(value)


def state_of(value: object) -> State:
    """Return the state of an annotation."""
    found = [state for state in STATES if state == value]
    if not found:
        raise ValueError
    return found[0]


def offsets_of(value: object) -> Offsets:
    """Return the places of words, out of pairs."""
    if not isinstance(value, list) or not all(
        isinstance(pair, list)
        and len(pair) == 2
        and all(type(end) is int and 0 <= end < LARGEST for end in pair)
        for pair in value
    ):
        raise TypeError
    return tuple((start, end) for start, end in value)


def pins_of(value: object) -> dict[int, str]:
    """Return tags by position; positions are strings in JSON."""
    if not isinstance(value, dict) or not all(
        position.isdecimal() and len(position) < 10 and isinstance(tag, str)
        for position, tag in value.items()
    ):
        raise TypeError
    return {int(position): tag for position, tag in value.items()}


def steps_of(value: object) -> tuple[Step, ...]:
    """Return the steps that can be undone, out of pairs of words and pins."""
    if not isinstance(value, list):
        raise TypeError
    return tuple(Step(offsets_of(words), pins_of(pins)) for words, pins in value)


def curation_of(value: object) -> Curation:
    """Return what `Curation.as_fields` gives.

    Raises:
        FormatError: it is something else.
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
