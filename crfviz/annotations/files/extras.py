"""What an exported sentence says besides its words and tags, so that it can be read back whole.

Every format carries the same fields, in JSON: whose annotation it is, by which model, what was
pinned, and what the file had before anybody labelled it. The revision and what can be undone stay
in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn, get_args

from crfviz.annotations.records import STATES, Annotation, Item, Offsets
from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.columns import shown
from crfviz.text.jsonl import strings

Pair = tuple[Item, Annotation]
Fields = dict[str, Any]
FileFormat = Literal["conllu", "columns", "jsonl", "spacy"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)


@dataclass(frozen=True)
class Found:
    """One sentence of a file."""

    item: Item
    annotation: Annotation | None = None  # its `item` is not known yet
    note: str = ""  # what had to be changed about it
    lines: tuple[int, ...] = ()  # of the T words, where the format has one a line


@dataclass(frozen=True)
class Labels:
    """The words and tags of an exported sentence, as its format shows them."""

    text: str
    offsets: Offsets  # T words
    proposed: tuple[str, ...]  # T tags
    final: tuple[str, ...]  # T tags


def fields_of(item: Item, annotation: Annotation) -> Fields:
    """The fields, ready for JSON; what says nothing is left out."""
    fields: Fields = {
        "document": item.document,
        "sentence": item.position + 1,
        "annotator": annotation.annotator,
        "state": annotation.state,
        "model": annotation.model,
        "model_version": annotation.model_version,
        "pins": {str(position): tag for position, tag in sorted(annotation.pins.items())},
        "seconds": annotation.seconds,
    }
    for name, moment in (("created", annotation.created), ("updated", annotation.updated)):
        if moment is not None:
            fields[name] = moment.astimezone(UTC).isoformat()
    if item.gold is not None:
        fields["gold"] = item.gold
    if item.offsets != annotation.offsets:
        fields["offsets_in_file"] = item.offsets
    return fields


def restored(fields: Mapping[str, Any], labels: Labels, where: str) -> Found:
    """The sentence and its annotation again; only the annotator must be there.

    Raises:
        FormatError: a field has another type, or does not fit the sentence; says which.
    """
    read = _Reader(fields, where)
    own = read.offsets("offsets_in_file", labels.offsets)
    gold = read.tags("gold")
    state = read.text("state", "done")
    if state not in STATES:
        raise FormatError(f"{where}: expected state {' or '.join(STATES)}, got {shown(state)}")
    try:
        item = Item(
            text=labels.text,
            offsets=own,
            gold=gold,
            document=read.text("document"),
            position=max(0, int(read.number("sentence", 1)) - 1),
        )
        annotation = Annotation(
            item=0,
            annotator=read.text("annotator"),
            offsets=labels.offsets,
            proposed=labels.proposed,
            final=labels.final,
            pins=read.pins(),
            state=state,
            model=read.text("model"),
            model_version=read.text("model_version"),
            seconds=float(read.number("seconds", 0.0)),
            created=read.moment("created"),
            updated=read.moment("updated"),
        )
    except ShapeError as error:
        raise FormatError(f"{where}: {error}") from error
    return Found(item, annotation)


@dataclass(frozen=True)
class _Reader:
    """Fields of a file that anybody may have written."""

    fields: Mapping[str, Any]
    where: str

    def text(self, name: str, default: str = "") -> str:
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            self._refuse(name, "a string")
        return value

    def number(self, name: str, default: float) -> float:
        value = self.fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
            self._refuse(name, "a number from 0")
        return value

    def tags(self, name: str) -> tuple[str, ...] | None:
        value = self.fields.get(name)
        return None if value is None else strings(value, name, self.where)

    def offsets(self, name: str, default: Offsets) -> Offsets:
        return offsets(self.fields[name], self.where) if name in self.fields else default

    def pins(self) -> dict[int, str]:
        value = self.fields.get("pins", {})
        if not isinstance(value, dict):
            self._refuse("pins", 'an object such as {"0": "NOUN"}')
        tags = strings(list(value.values()), "pins", self.where)
        if not all(position.isdecimal() for position in value):
            self._refuse("pins", "positions of words from 0")
        return {int(position): tag for position, tag in zip(value, tags, strict=True)}

    def moment(self, name: str) -> datetime | None:
        value = self.text(name)
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError):
            self._refuse(name, "a time such as 2030-01-31T12:00:00+00:00")

    def _refuse(self, name: str, expected: str) -> NoReturn:
        got = shown(repr(self.fields.get(name)))
        raise FormatError(f'{self.where}: expected {expected} in "{name}", got {got}')


def offsets(value: object, where: str) -> Offsets:
    """Places of words out of JSON.

    Raises:
        FormatError: they are no list of pairs of whole numbers.
    """
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(end) is int for end in pair)
        for pair in value
    ):
        raise FormatError(
            f"{where}: expected offsets such as [[0, 5], [6, 11]], got {shown(repr(value))}"
        )
    return tuple((start, end) for start, end in value)
