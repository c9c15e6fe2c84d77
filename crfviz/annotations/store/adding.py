"""A new document, written in chunks inside of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, Table, insert, select, text

from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.rows import Row, annotation_row, check_text, encoded, item_row
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS
from crfviz.exceptions import StoreError

CHUNK = 1000  # rows between two reports of progress
Told = Callable[[int, int], None]  # how many rows are written, of how many


@dataclass(frozen=True)
class NewDocument:
    """Everything that is to be written, checked and ready."""

    name: str
    created: datetime
    sentences: list[Row]
    labelled: list[Row]  # their `item` counts the sentences


def new_document(
    name: str, sentences: Iterable[Item], labelled: Iterable[Annotation]
) -> NewDocument:
    """Check and prepare a document, before anything is locked.

    Raises:
        StoreError: a character that no database holds, or an annotation of no sentence.
    """
    check_text(name)
    rows = _placed(sentences)
    now = datetime.now(UTC)
    marks = [annotation_row(_dated(annotation, now)) for annotation in labelled]
    outside = [mark["item"] for mark in marks if not 0 <= mark["item"] < len(rows)]
    if outside:
        raise StoreError(
            f"expected annotations of sentences 0 to {len(rows) - 1}, got one of {outside[0]}; "
            f"nothing was stored"
        )
    return NewDocument(name, now, [*map(encoded, rows)], [*map(encoded, marks)])


def write_document(connection: Connection, new: NewDocument, progress: Told | None) -> str:
    """Write it; returns the name it got, which is "name (2)" where the name is taken."""
    if connection.dialect.name == "postgresql":  # SQLite has one writer at a time anyway
        connection.execute(text(f"LOCK TABLE {DOCUMENTS.name} IN SHARE ROW EXCLUSIVE MODE"))
    name = _free_name(connection, new.name)
    row = insert(DOCUMENTS).values(name=name, created=new.created).returning(DOCUMENTS.c.id)
    number = connection.execute(row).scalar_one()
    total = len(new.sentences) + len(new.labelled)
    report = progress or (lambda _done, _of: None)
    rows = [sentence | {"document": number} for sentence in new.sentences]
    _write(connection, ITEMS, rows, lambda done: report(done, total))
    if new.labelled:
        found = select(ITEMS.c.id).where(ITEMS.c.document == number).order_by(ITEMS.c.position)
        ids = list(connection.execute(found).scalars())
        marks = [mark | {"item": ids[mark["item"]]} for mark in new.labelled]
        _write(connection, ANNOTATIONS, marks, lambda done: report(len(rows) + done, total))
    return name


def _placed(sentences: Iterable[Item]) -> list[Row]:
    rows: list[Row] = []
    position = -1
    for sentence in sentences:
        position = max(position + 1, sentence.position)
        rows.append(item_row(sentence) | {"position": position})
    return rows


def _dated(annotation: Annotation, now: datetime) -> Annotation:
    return replace(
        annotation,
        revision=max(1, annotation.revision),
        created=annotation.created or now,
        updated=annotation.updated or now,
    )


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
