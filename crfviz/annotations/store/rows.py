"""Records as rows of the tables, read and written: a new document, and one annotation anew.

A document is written in chunks inside of one transaction. An annotation takes the place of the one
it was made from, or there is a conflict: never a silent overwrite.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Connection, RowMapping, Table, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from crfviz.annotations.records import CURATED, UNSTORABLE, Annotation, Item, Step, curation_of
from crfviz.annotations.settings import Settings
from crfviz.annotations.store.cells import checked, consistent
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS
from crfviz.exceptions import ConflictError, StoreError
from crfviz.text.sentences import Offsets

Row = dict[str, Any]
CHUNK = 1000  # rows between two reports of progress
KEPT = [column.name for column in ANNOTATIONS.columns if column.name != "id"]
LISTS = {  # columns that hold JSON
    each.name for table in (ITEMS, ANNOTATIONS) for each in table.c if isinstance(each.type, JSON)
}


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


def annotation_row(annotation: Annotation) -> Row:
    """Columns of an annotation.

    Raises:
        StoreError: no annotator, or a character that no database holds.
    """
    if not annotation.annotator.strip():
        raise StoreError("expected the name of an annotator, got an empty one; nothing was stored")
    if annotation.annotator == CURATED and annotation.curation is None:
        raise StoreError(f"{CURATED} are the settled sentences: label under another name")
    check_text(annotation.annotator, annotation.model, annotation.model_version)
    check_text(*annotation.proposed, *annotation.final, *annotation.pins.values())
    row: Row = {name: getattr(annotation, name) for name in KEPT}
    past: list[Any] = [[step.offsets, dict(step.pins)] for step in annotation.past]
    curation = annotation.curation and annotation.curation.as_fields()
    row.update(pins=dict(annotation.pins), past=past, curation=curation)
    return row


def settings_row(settings: Settings) -> Row:
    """Columns of the table of documents."""
    look = {name: dict(of) for name in ("keys", "colours") if (of := getattr(settings, name))}
    tags = None if settings.tags is None else list(settings.tags)
    return {"tags": tags, "model": settings.model, "look": look or None}


def item_of(row: RowMapping) -> Item:
    """The sentence of a row that joins `items` and `documents`.

    Raises:
        StoreError: another program has written something else there; says where.
    """
    cells = checked(row, ITEMS, ("id", "text", "offsets", "gold", "position"))
    gold = cells.pop("gold")
    with consistent(ITEMS, cells["id"]):
        return Item(
            **cells | {"offsets": _offsets(cells["offsets"])},
            gold=None if gold is None else tuple(gold),
            document=row[DOCUMENTS.c.name],
        )


def annotation_of(row: RowMapping) -> Annotation:
    """The annotation of a row.

    Raises:
        StoreError: another program has written something else there; says where.
    """
    cells = checked(row, ANNOTATIONS, KEPT)
    curation = cells.pop("curation")
    with consistent(ANNOTATIONS, row[ANNOTATIONS.c.id]):
        return Annotation(
            **cells
            | {
                "offsets": _offsets(cells["offsets"]),
                "proposed": tuple(cells["proposed"]),
                "final": tuple(cells["final"]),
                "pins": _pins(cells["pins"]),
                "past": tuple(Step(_offsets(words), _pins(pins)) for words, pins in cells["past"]),
            },
            curation=None if curation is None else curation_of(curation),
        )


def check_text(*texts: str) -> None:
    """Refuse what neither SQLite nor PostgreSQL could give back.

    Raises:
        StoreError: says which character it is.
    """
    for value in texts:
        if wrong := UNSTORABLE.search(value):
            raise StoreError(
                f"expected text that a database can hold, got the character "
                f"U+{ord(wrong[0]):04X} in {value[:60]!a}; nothing was stored"
            )


@dataclass(frozen=True)
class NewDocument:
    """Everything that is to be written, checked and ready."""

    name: str
    created: datetime
    settings: Settings  # with the model that most annotations are by, where it names none
    sentences: list[Row]
    labelled: list[Row]  # their `item` counts the sentences


def new_document(
    name: str, sentences: Iterable[Item], labelled: Iterable[Annotation], settings: Settings
) -> NewDocument:
    """Check and prepare a document, before anything is locked.

    Raises:
        StoreError: a character that no database holds, or an annotation of no sentence.
    """
    check_text(name)
    rows = _placed(sentences)
    now = datetime.now(UTC)
    marks = [annotation_row(annotation) for annotation in labelled]
    for mark in marks:
        mark.update(
            revision=max(1, mark["revision"]),
            created=mark["created"] or now,
            updated=mark["updated"] or now,
        )
    outside = [mark["item"] for mark in marks if not 0 <= mark["item"] < len(rows)]
    if outside:
        raise StoreError(
            f"expected annotations of sentences 0 to {len(rows) - 1}, got one of {outside[0]}; "
            f"nothing was stored"
        )
    models = Counter(mark["model"] for mark in marks if mark["model"]).most_common(1)
    if models and not settings.model and settings.tags is None:
        settings = replace(settings, model=models[0][0])
    return NewDocument(name, now, settings, [*map(encoded, rows)], [*map(encoded, marks)])


def write_document(
    connection: Connection, new: NewDocument, progress: Callable[[int, int], None] | None
) -> str:
    """Write it; returns the name it got, which is "name (2)" where the name is taken."""
    if connection.dialect.name == "postgresql":  # SQLite has one writer at a time anyway
        connection.execute(text(f"LOCK TABLE {DOCUMENTS.name} IN SHARE ROW EXCLUSIVE MODE"))
    name = _free_name(connection, new.name)
    row = {"name": name, "created": new.created, **settings_row(new.settings)}
    number = connection.execute(
        insert(DOCUMENTS).values(row).returning(DOCUMENTS.c.id)
    ).scalar_one()
    total = len(new.sentences) + len(new.labelled)
    report = progress or (lambda _done, _of: None)
    rows = [sentence | {"document": number} for sentence in new.sentences]
    _write(connection, ITEMS, rows, lambda done: report(done, total))
    if new.labelled:
        written = select(ITEMS.c.id).where(ITEMS.c.document == number).order_by(ITEMS.c.position)
        ids = list(connection.execute(written).scalars())
        marks = [mark | {"item": ids[mark["item"]]} for mark in new.labelled]
        _write(connection, ANNOTATIONS, marks, lambda done: report(len(rows) + done, total))
    return name


def stored(connection: Connection, item: int, annotator: str) -> Annotation | None:
    """What an annotator said about a sentence; None is nothing yet."""
    query = select(ANNOTATIONS).where(
        ANNOTATIONS.c.item == item, ANNOTATIONS.c.annotator == annotator
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else annotation_of(row)


def write_annotation(connection: Connection, new: Annotation) -> Annotation:
    """Write an annotation in place of its predecessor.

    Raises:
        ConflictError: the stored one is another.
        StoreError: there is no such sentence.
    """
    if not _replaced(connection, new):
        before = stored(connection, new.item, new.annotator)
        if before != new:  # equal: a lost connection hid that it had been stored
            raise _conflict(connection, new, before)
    return new


def _replaced(connection: Connection, new: Annotation) -> bool:
    """Write an annotation if its predecessor is the stored one."""
    row = annotation_row(new)
    if new.revision > 1:
        change = update(ANNOTATIONS).where(
            ANNOTATIONS.c.item == new.item,
            ANNOTATIONS.c.annotator == new.annotator,
            ANNOTATIONS.c.revision == new.revision - 1,
        )
        return connection.execute(change.values(row)).rowcount == 1
    try:
        with connection.begin_nested():
            connection.execute(insert(ANNOTATIONS).values(row))
    except IntegrityError:
        return False
    return True


def _conflict(connection: Connection, new: Annotation, stored: Annotation | None) -> StoreError:
    """Why an annotation did not replace the stored one, in words."""
    if stored is not None:
        return ConflictError(
            f"This sentence was stored meanwhile from another tab or program "
            f"(revision {stored.revision}, {stored.updated:%H:%M:%S} UTC; this one would follow "
            f"revision {new.revision - 1}). Nothing was overwritten: load it again, then correct."
        )
    if connection.execute(select(ITEMS.c.id).where(ITEMS.c.id == new.item)).first() is None:
        return StoreError(f"sentence {new.item} is not in the store; its document may be removed")
    return ConflictError(
        "This annotation was removed meanwhile. Nothing was stored: load it again."
    )


def _placed(sentences: Iterable[Item]) -> list[Row]:
    rows: list[Row] = []
    position = -1
    for sentence in sentences:
        check_text(sentence.text, *(sentence.gold or ()))
        position = max(position + 1, sentence.position)
        columns = ("text", "offsets", "gold")
        rows.append({name: getattr(sentence, name) for name in columns} | {"position": position})
    return rows


def _free_name(connection: Connection, wanted: str) -> str:
    taken = set(connection.execute(select(DOCUMENTS.c.name)).scalars())
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name


def _write(
    connection: Connection, table: Table, rows: Sequence[Row], report: Callable[[int], None]
) -> None:
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        connection.execute(insert(table), chunk)
        report(start + len(chunk))


def _offsets(stored: list[list[int]]) -> Offsets:
    return tuple((start, end) for start, end in stored)


def _pins(stored: Mapping[str, str]) -> dict[int, str]:
    """Positions are strings in JSON."""
    return {int(position): tag for position, tag in stored.items()}
