"""Records as rows of the tables, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import JSON, RowMapping

from crfviz.annotations.records import Annotation, Item, Offsets, State, Step
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS
from crfviz.exceptions import StoreError

Row = dict[str, Any]
KEPT = [column.name for column in ANNOTATIONS.columns if column.name != "id"]
LISTS = {  # columns that hold JSON
    each.name for table in (ITEMS, ANNOTATIONS) for each in table.c if isinstance(each.type, JSON)
}
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # no database holds these in its text


class Encoded(str):
    """JSON text that is ready: to encode many rows takes longer than to write them."""

    __slots__ = ()


def encoded(row: Row) -> Row:
    """The same with its lists encoded, so that it is written quickly once the store is locked."""
    return {
        name: Encoded(json.dumps(value)) if name in LISTS and value is not None else value
        for name, value in row.items()
    }


def to_json(value: object) -> str:
    """How lists become text in every database."""
    return str(value) if isinstance(value, Encoded) else json.dumps(value)


def item_row(item: Item) -> Row:
    """Columns of a sentence, without its place in the store.

    Raises:
        StoreError: a character that no database holds.
    """
    check_text(item.text, *(item.gold or ()))
    return {"text": item.text, "offsets": item.offsets, "gold": item.gold}


def annotation_row(annotation: Annotation) -> Row:
    """Columns of an annotation.

    Raises:
        StoreError: no annotator, or a character that no database holds.
    """
    if not annotation.annotator.strip():
        raise StoreError("expected the name of an annotator, got an empty one; nothing was stored")
    check_text(annotation.annotator, annotation.model, annotation.model_version)
    check_text(*annotation.proposed, *annotation.final, *annotation.pins.values())
    row: Row = {name: getattr(annotation, name) for name in KEPT}
    past: list[Any] = [[step.offsets, dict(step.pins)] for step in annotation.past]
    row.update(pins=dict(annotation.pins), past=past)
    return row


def item_of(row: RowMapping) -> Item:
    """The sentence of a row that joins `items` and `documents`."""
    gold = row[ITEMS.c.gold]
    return Item(
        text=row[ITEMS.c.text],
        offsets=_offsets(row[ITEMS.c.offsets]),
        gold=None if gold is None else tuple(gold),
        document=row[DOCUMENTS.c.name],
        position=row[ITEMS.c.position],
        id=row[ITEMS.c.id],
    )


def annotation_of(row: RowMapping) -> Annotation:
    """The annotation of a row."""
    columns = ANNOTATIONS.c
    return Annotation(
        item=row[columns.item],
        annotator=row[columns.annotator],
        offsets=_offsets(row[columns.offsets]),
        proposed=tuple(row[columns.proposed]),
        final=tuple(row[columns.final]),
        pins=_pins(row[columns.pins]),
        state=cast(State, row[columns.state]),
        model=row[columns.model],
        model_version=row[columns.model_version],
        revision=row[columns.revision],
        seconds=row[columns.seconds],
        created=row[columns.created],
        updated=row[columns.updated],
        past=tuple(Step(_offsets(words), _pins(pins)) for words, pins in row[columns.past]),
    )


def check_text(*texts: str) -> None:
    """Refuse what neither SQLite nor PostgreSQL could give back.

    Raises:
        StoreError: says which character it is.
    """
    for text in texts:
        if wrong := UNSTORABLE.search(text):
            raise StoreError(
                f"expected text that a database can hold, got the character "
                f"U+{ord(wrong[0]):04X} in {text[:60]!a}; nothing was stored"
            )


def _offsets(stored: list[list[int]]) -> Offsets:
    return tuple((start, end) for start, end in stored)


def _pins(stored: Mapping[str, str]) -> dict[int, str]:
    """Positions are strings in JSON."""
    return {int(position): tag for position, tag in stored.items()}
