"""Exported sentences as fields of JSON objects, and their parser.

Every format holds the same data: text, words and tags, annotator, model, pins, and the gold tags of
the imported file. Revision and undo steps stay in the store. An invalid field raises a FormatError
that names its place.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from crfviz.annotations import records
from crfviz.annotations.settings import settings_of
from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.files import abbreviate_value
from crfviz.text.jsonl import parse_object, strings
from crfviz.text.sentences import Offsets, words_at

Fields = dict[str, Any]
Value = TypeVar("Value")
NO_TAG = ""  # marks a word without a tag
# fields that columns hold outside the comment
ROWS = ("text", "tokens", "tags", "offsets", "proposed")


@dataclass(frozen=True)
class FileSentence:
    """One sentence of a file."""

    item: records.Item
    annotation: records.Annotation | None = None  # its `item` is not set yet
    note: str = ""  # note about a correction
    lines: tuple[int, ...] = ()  # line numbers of the T words, in formats with one word per line


def fields_of(pair: records.Pair) -> Fields:
    """Return the fields for JSON, without empty optional ones."""
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


def row_of(pair: records.Pair) -> Fields:
    """Return the fields with the same keys and types in every row, as Arrow tables need them.

    Arrow takes column types from the first rows, and rejects later differences. `gold` and `pins`
    therefore have one string per word, empty without a tag. Settings and curation are one string
    each.
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
    """Read a sentence and its annotation; only tags, offsets and annotator are required.

    The fields have the form of `fields_of`, but may be invalid.
    """
    if not isinstance(text, str):
        raise FormatError(f'{where}: expected a string in "text", got {abbreviate_value(text)}')

    read = partial(_read, fields, where)

    def texts(name: str) -> tuple[str, ...]:
        return strings(fields.get(name), name, where)

    def words(places: object) -> Offsets:
        offsets = places_of(places, where)
        check_length(len(offsets), where)
        return offsets

    final, offsets = texts("tags"), words(fields.get("offsets"))
    if "tokens" in fields:
        check_words(text, offsets, texts("tokens"), where)
    own = offsets if fields.get("offsets_in_file") is None else words(fields["offsets_in_file"])
    gold = None if fields.get("gold") is None else texts("gold")
    if gold and len(gold) == len(own) and not any(gold):
        gold = None
    names = ("document", "annotator", "model", "model_version")
    document, annotator, model, version = (read(name, _text, "", "a string") for name in names)
    settings = fields.get("settings")
    moment = "a time such as 2030-01-31T12:00:00+00:00"
    try:
        item = records.Item(
            text=text,
            offsets=own,
            gold=gold,
            document=document,
            position=max(0, int(read("sentence", _number, 1.0, "a number from 0")) - 1),
            settings=settings_of(_fields(settings, where), where) if settings else None,
        )
        annotation = records.Annotation(
            item=0,
            annotator=annotator,
            offsets=offsets,
            proposed=texts("proposed") if "proposed" in fields else final,
            final=final,
            pins=read("pins", partial(_pins, len(offsets)), {}, 'an object such as {"0": "NOUN"}'),
            state=read("state", records.state_of, "done", " or ".join(records.STATES)),
            model=model,
            model_version=version,
            seconds=read("seconds", _number, 0.0, "a number from 0"),
            created=read("created", _moment, None, moment),
            updated=read("updated", _moment, None, moment),
            curation=read("curation", partial(_curation, where), None, "who settled a sentence"),
        )
    except ShapeError as error:
        raise FormatError(f"{where}: {error}") from error
    return FileSentence(item, annotation)


def check_length(words: int, where: str) -> None:
    """Reject a sentence that is too long to label."""
    if words > records.MAX_WORDS:
        raise FormatError(
            f"{where}: expected at most {records.MAX_WORDS:,} words in a sentence, got more; end "
            f"each sentence with a line break, in columns with an empty line"
        )


def check_words(text: str, offsets: Offsets, tokens: Sequence[str], where: str) -> None:
    """Reject offsets that do not match the words."""
    there = words_at(text, offsets)
    if there != tuple(tokens):
        raise FormatError(
            f"{where}: expected offsets that point at the tokens {abbreviate_value(list(tokens))}, "
            f"got those of {abbreviate_value(list(there))}"
        )


def places_of(value: object, where: str) -> Offsets:
    """Return word offsets from JSON."""
    try:
        return records.offsets_of(value)
    except TypeError:
        raise FormatError(
            f"{where}: expected offsets such as [[0, 5], [6, 11]], got {abbreviate_value(value)}"
        ) from None


def _written(moment: datetime | None) -> str | None:
    """Return a time in ISO format; None if never stored."""
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _read(
    fields: Mapping[str, Any],
    where: str,
    name: str,
    make: Callable[[Any], Value],
    default: Value,
    expected: str,
) -> Value:
    """Read a field that may be missing or empty."""
    value = fields.get(name)
    try:
        return default if value in (None, "") else make(value)
    except (TypeError, ValueError, OverflowError):
        got = abbreviate_value(value)
        raise FormatError(f'{where}: expected {expected} in "{name}", got {got}') from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: float) -> float:
    if isinstance(value, bool) or not 0 <= value < 1e12:
        raise TypeError
    return float(value)


def _moment(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def _pins(words: int, value: object) -> dict[int, str]:
    """Read pins: one string per word, or the object of older exports."""
    if isinstance(value, list) and len(value) == words:
        return {
            position: tag for position, tag in enumerate(records.texts_of(value)) if tag != NO_TAG
        }
    return records.pins_of(value)


def _curation(where: str, value: object) -> records.Curation:
    return records.curation_of(_fields(value, where))


def _fields(value: object, where: str) -> object:
    """Return an object, parsed if it is a string, as in rows of equal types."""
    return parse_object(value, where) if isinstance(value, str) else value
