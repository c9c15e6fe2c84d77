"""What an exported sentence says, as the fields of a JSON object, and the sentence of such fields.

Every format carries the same: text, words and tags, whose annotation it is, by which model, what
was pinned, and what the file had before anybody labelled it. The revision and what can be undone
stay in the store. What cannot be read is a FormatError that says where it stands.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from crfviz.annotations.records import (
    MAX_WORDS,
    STATES,
    Annotation,
    Curation,
    Item,
    curation_of,
    offsets_of,
)
from crfviz.annotations.settings import Settings, settings_of
from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.files import abbreviate, abbreviate_value
from crfviz.text.jsonl import parse_object, strings
from crfviz.text.sentences import Offsets, words_at

Pair = tuple[Item, Annotation]
Fields = dict[str, Any]
NO_TAG = ""  # of a word, where others may have one
ROWS = ("text", "tokens", "tags", "offsets", "proposed")  # what columns show outside of the fields


@dataclass(frozen=True)
class FileSentence:
    """One sentence of a file."""

    item: Item
    annotation: Annotation | None = None  # its `item` is not known yet
    note: str = ""  # what had to be changed about it
    lines: tuple[int, ...] = ()  # of the T words, where the format has one a line


def fields_of(pair: Pair) -> Fields:
    """The fields, ready for JSON; what says nothing is left out."""
    item, annotation = pair
    fields: Fields = {
        "text": item.text,
        "tokens": words_at(item.text, annotation.offsets),
        "tags": annotation.final,
        "offsets": annotation.offsets,
        "proposed": annotation.proposed,
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
            fields[name] = _written(moment)
    if item.gold is not None:
        fields["gold"] = item.gold
    if item.offsets != annotation.offsets:
        fields["offsets_in_file"] = item.offsets
    if annotation.curation is not None:
        fields["curation"] = annotation.curation.as_fields()
    if item.settings is not None and (own := item.settings.as_fields()):
        fields["settings"] = own
    return fields


def row_of(pair: Pair) -> Fields:
    """The fields with the same keys and types in every row, as tables of Arrow want them.

    Arrow takes the columns and their types from the first rows, and refuses what differs later. So
    `gold` and `pins` have a text for every word, an empty one where there is no tag. Settings and
    curation are one text each.
    """
    item, annotation = pair
    words, own = len(annotation.offsets), item.offsets
    settings = item.settings.as_fields() if item.settings else {}
    curation = annotation.curation.as_fields() if annotation.curation else {}
    return {
        **fields_of((replace(item, settings=None), annotation)),
        "created": _written(annotation.created),
        "updated": _written(annotation.updated),
        "pins": [annotation.pins.get(position, NO_TAG) for position in range(words)],
        "gold": [NO_TAG] * len(own) if item.gold is None and own else item.gold,
        "offsets_in_file": own,
        "settings": json.dumps(settings, ensure_ascii=False) if settings else "",
        "curation": json.dumps(curation, ensure_ascii=False) if curation else "",
    }


def annotated(fields: Mapping[str, Any], text: object, where: str) -> FileSentence:
    """The sentence and its annotation again; only tags, offsets and annotator must be there.

    The fields are as `fields_of` gives them, but anybody may have written them.
    """
    if not isinstance(text, str):
        raise FormatError(f'{where}: expected a string in "text", got {abbreviate_value(text)}')
    read = _Reader(fields, where)
    final = strings(fields.get("tags"), "tags", where)
    proposed = strings(fields["proposed"], "proposed", where) if "proposed" in fields else final
    offsets = places_of(fields.get("offsets"), where)
    check_length(len(offsets), where)
    if "tokens" in fields:
        check_words(text, offsets, strings(fields["tokens"], "tokens", where), where)
    in_file = fields.get("offsets_in_file")
    own = offsets if in_file is None else places_of(in_file, where)
    check_length(len(own), where)
    gold = None if fields.get("gold") is None else strings(fields["gold"], "gold", where)
    if gold and len(gold) == len(own) and not any(gold):
        gold = None
    state = read.text("state", "done")
    if state not in STATES:
        raise FormatError(f"{where}: expected state {' or '.join(STATES)}, got {abbreviate(state)}")
    try:
        item = Item(
            text=text,
            offsets=own,
            gold=gold,
            document=read.text("document"),
            position=max(0, int(read.number("sentence", 1)) - 1),
            settings=read.settings(),
        )
        annotation = Annotation(
            item=0,
            annotator=read.text("annotator"),
            offsets=offsets,
            proposed=proposed,
            final=final,
            pins=read.pins(len(offsets)),
            state=state,
            model=read.text("model"),
            model_version=read.text("model_version"),
            seconds=float(read.number("seconds", 0.0)),
            created=read.moment("created"),
            updated=read.moment("updated"),
            curation=read.curation(),
        )
    except ShapeError as error:
        raise FormatError(f"{where}: {error}") from error
    return FileSentence(item, annotation)


def check_length(words: int, where: str) -> None:
    """Refuse a sentence that is too long to be labelled."""
    if words > MAX_WORDS:
        raise FormatError(
            f"{where}: expected at most {MAX_WORDS:,} words in a sentence, got more; end each "
            f"sentence with a line break, in columns with an empty line"
        )


def check_words(text: str, offsets: Offsets, tokens: Sequence[str], where: str) -> None:
    """Refuse offsets that do not point at the words."""
    there = words_at(text, offsets)
    if there != tuple(tokens):
        raise FormatError(
            f"{where}: expected offsets that point at the tokens {abbreviate_value(list(tokens))}, "
            f"got those of {abbreviate_value(list(there))}"
        )


def places_of(value: object, where: str) -> Offsets:
    """Places of words out of JSON."""
    try:
        return offsets_of(value)
    except TypeError:
        raise FormatError(
            f"{where}: expected offsets such as [[0, 5], [6, 11]], got {abbreviate_value(value)}"
        ) from None


def _written(moment: datetime | None) -> str | None:
    """Null only for what was never stored."""
    return None if moment is None else moment.astimezone(UTC).isoformat()


@dataclass(frozen=True)
class _Reader:
    """Fields that may be absent, with their types checked."""

    fields: Mapping[str, Any]
    where: str

    def text(self, name: str, default: str = "") -> str:
        value = self.fields.get(name, default)
        if value is None:
            return default
        if not isinstance(value, str):
            self._refuse(name, "a string")
        return value

    def number(self, name: str, default: float) -> float:
        value = self.fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
            self._refuse(name, "a number from 0")
        return value

    def pins(self, words: int) -> dict[int, str]:
        value = self.fields.get("pins", {})
        if isinstance(value, list) and len(value) == words:
            tags = strings(value, "pins", self.where)
            return {position: tag for position, tag in enumerate(tags) if tag != NO_TAG}
        if not isinstance(value, dict):  # as older exports have them
            self._refuse("pins", 'an object such as {"0": "NOUN"}')
        tags = strings(list(value.values()), "pins", self.where)
        if not all(position.isdecimal() and len(position) < 10 for position in value):
            self._refuse("pins", "positions of words from 0")
        return {int(position): tag for position, tag in zip(value, tags, strict=True)}

    def settings(self) -> Settings | None:
        value = self._fields("settings")
        return None if value is None else settings_of(value, self.where)

    def curation(self) -> Curation | None:
        value = self._fields("curation")
        try:
            return None if value is None else curation_of(value)
        except FormatError as error:
            raise FormatError(f"{self.where}: {error}") from error

    def _fields(self, name: str) -> object:
        """An object, or its text in rows that all have the same types."""
        value = self.fields.get(name) or None
        return parse_object(value, self.where) if isinstance(value, str) else value

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
        got = abbreviate_value(self.fields.get(name))
        raise FormatError(f'{self.where}: expected {expected} in "{name}", got {got}')
