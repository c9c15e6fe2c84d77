"""One annotation in place of the one it was made from, or a conflict: never a silent overwrite."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from crfviz.annotations.records import Annotation
from crfviz.annotations.store.rows import annotation_of, annotation_row
from crfviz.annotations.store.schema import ANNOTATIONS, ITEMS
from crfviz.exceptions import ConflictError, StoreError


def stored(connection: Connection, item: int, annotator: str) -> Annotation | None:
    """What an annotator said about a sentence; None is nothing yet."""
    query = select(ANNOTATIONS).where(
        ANNOTATIONS.c.item == item, ANNOTATIONS.c.annotator == annotator
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else annotation_of(row)


def replaced(connection: Connection, new: Annotation) -> bool:
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


def conflict(connection: Connection, new: Annotation, stored: Annotation | None) -> StoreError:
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
