"""Writing to the store: new documents, merged annotations, and changed annotations.

A document is written in chunks within one transaction. An annotation replaces its predecessor, or
raises a conflict: it is never overwritten silently. When merging, a different stored annotation is
kept and reported. Merging the same annotations twice changes nothing the second time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from crfviz.annotations.records import Annotation, Item, Merged
from crfviz.annotations.settings import Settings
from crfviz.annotations.store import schema
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS, Row
from crfviz.annotations.store.tagsets import check_tags, used
from crfviz.exceptions import ConflictError, StoreError

CHUNK = 1000  # rows between two progress updates


def successor(annotation: Annotation) -> Annotation:
    """Return an annotation with its next revision and times; an imported one keeps its time."""
    now = datetime.now(UTC)
    said = annotation.updated if annotation.revision == 0 else None
    return replace(
        annotation,
        revision=annotation.revision + 1,
        created=annotation.created or now,
        updated=said or now,
    )


def prepared(
    name: str, sentences: Iterable[Item], labelled: Iterable[Annotation], settings: Settings
) -> tuple[Row, list[Row], list[Row]]:
    """Validate and prepare the rows of a document, its sentences and annotations.

    Nothing is locked yet; the `item` of an annotation is a sentence index. A document with neither
    tags nor a model gets the model of most annotations.
    """
    schema.check_text(name)
    rows, position = [], -1
    for sentence in sentences:
        schema.check_text(sentence.text, *(sentence.gold or ()))
        position = max(position + 1, sentence.position)
        row = {column: getattr(sentence, column) for column in ("text", "offsets", "gold")}
        rows.append(schema.encoded(ITEMS, row | {"position": position}))
    now, marks = datetime.now(UTC), []
    for each in labelled:
        times = {"created": each.created or now, "updated": each.updated or now}
        row = schema.annotation_row(each) | times | {"revision": max(1, each.revision)}
        marks.append(schema.encoded(ANNOTATIONS, row))
        if not 0 <= each.item < len(rows):
            raise StoreError(
                f"expected annotations of sentences 0 to {len(rows) - 1}, got one of {each.item}; "
                f"nothing was stored"
            )
    if not settings.model and settings.tags is None:
        settings = replace(settings, model=_usual_model(mark["model"] for mark in marks))
    return {"name": name, "created": now, **schema.settings_row(settings)}, rows, marks


def write_document(
    connection: sa.Connection,
    document: Row,
    sentences: Sequence[Row],
    labelled: Sequence[Row],
    progress: Callable[[int, int], None] | None,
) -> str:
    """Write prepared rows; return the document's name, "name (2)" if the name is used."""
    if connection.dialect.name == "postgresql":  # SQLite has only one writer
        connection.execute(sa.text(f"LOCK TABLE {DOCUMENTS.name} IN SHARE ROW EXCLUSIVE MODE"))
    name = _free_name(connection, document["name"])
    new = sa.insert(DOCUMENTS).values(document | {"name": name}).returning(DOCUMENTS.c.id)
    number = connection.execute(new).scalar_one()
    total = len(sentences) + len(labelled)
    report = progress or (lambda _done, _of: None)
    rows = [sentence | {"document": number} for sentence in sentences]
    _write(connection, ITEMS, rows, lambda done: report(done, total))
    if labelled:
        written = sa.select(ITEMS.c.id).where(ITEMS.c.document == number).order_by(ITEMS.c.position)
        ids = list(connection.execute(written).scalars())
        marks = [mark | {"item": ids[mark["item"]]} for mark in labelled]
        _write(connection, ANNOTATIONS, marks, lambda done: report(len(rows) + done, total))
    return name


def merged(
    connection: sa.Connection, document: str, labelled: Iterable[Annotation], *, write: bool
) -> Merged:
    """Merge annotations, see `Store.merge`; the transaction writes if `write`."""
    row = (
        connection.execute(sa.select(DOCUMENTS).where(DOCUMENTS.c.name == document))
        .mappings()
        .one()
    )
    query = sa.select(ANNOTATIONS).join(ITEMS).where(ITEMS.c.document == row["id"])
    stored = map(schema.annotation_of, connection.execute(query).mappings())
    there = {(each.item, each.annotator): each for each in stored}
    new, conflicts, same = [], [], 0
    for each in labelled:
        before = there.get((each.item, each.annotator))
        if before is None:
            new.append(replace(each, revision=0))
        elif (before.offsets, before.final) != (each.offsets, each.final):
            conflicts.append((before, each))
        elif (before.state, each.state) == ("open", "done"):
            new.append(replace(before, state="done"))
        else:
            same += 1
    check_tags(connection, row, used(new))
    if write:
        _write_joined(connection, row, new)
    return Merged(tuple(new), same, tuple(conflicts))


def stored(connection: sa.Connection, item: int, annotator: str) -> Annotation | None:
    """Return an annotator's annotation of a sentence; None without one."""
    query = sa.select(ANNOTATIONS).where(
        ANNOTATIONS.c.item == item, ANNOTATIONS.c.annotator == annotator
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else schema.annotation_of(row)


def write_annotation(connection: sa.Connection, new: Annotation) -> Annotation:
    """Replace an annotation; raise a ConflictError if the stored one is not its predecessor."""
    if not _replaced(connection, new):
        before = stored(connection, new.item, new.annotator)
        if before != new:  # equal after a lost connection hid a successful save
            raise _conflict(connection, new, before)
    return new


def _replaced(connection: sa.Connection, new: Annotation) -> bool:
    """Write an annotation if its predecessor is the stored one."""
    row = schema.annotation_row(new)
    if new.revision > 1:
        change = sa.update(ANNOTATIONS).where(
            ANNOTATIONS.c.item == new.item,
            ANNOTATIONS.c.annotator == new.annotator,
            ANNOTATIONS.c.revision == new.revision - 1,
        )
        return connection.execute(change.values(row)).rowcount == 1
    try:
        with connection.begin_nested():
            connection.execute(sa.insert(ANNOTATIONS).values(row))
    except IntegrityError:
        return False
    return True


def _conflict(connection: sa.Connection, new: Annotation, stored: Annotation | None) -> StoreError:
    if stored is not None:
        return ConflictError(
            f"This sentence was stored meanwhile from another tab or program "
            f"(revision {stored.revision}, {stored.updated:%H:%M:%S} UTC; this one would follow "
            f"revision {new.revision - 1}). Nothing was overwritten: load it again, then correct."
        )
    if connection.execute(sa.select(ITEMS.c.id).where(ITEMS.c.id == new.item)).first() is None:
        return StoreError(f"sentence {new.item} is not in the store; its document may be removed")
    return ConflictError(
        "This annotation was removed meanwhile. Nothing was stored: load it again."
    )


def _write_joined(
    connection: sa.Connection, document: sa.RowMapping, new: list[Annotation]
) -> None:
    for each in new:
        if each.revision:
            write_annotation(connection, successor(each))
    if rows := [schema.annotation_row(successor(each)) for each in new if not each.revision]:
        connection.execute(sa.insert(ANNOTATIONS), rows)
    if not document["model"] and (model := _usual_model(each.model for each in new)):
        change = sa.update(DOCUMENTS).where(DOCUMENTS.c.id == document["id"])
        connection.execute(change.values(model=model))


def _usual_model(models: Iterable[str]) -> str:
    """Return the model of most annotations; empty if none has one."""
    return next((model for model, _ in Counter(filter(None, models)).most_common(1)), "")


def _free_name(connection: sa.Connection, wanted: str) -> str:
    taken = set(connection.execute(sa.select(DOCUMENTS.c.name)).scalars())
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name


def _write(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Row], report: Callable[[int], None]
) -> None:
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        connection.execute(sa.insert(table), chunk)
        report(start + len(chunk))
