"""Annotations of other people, or from elsewhere, joined to a document that is there.

Nothing is overwritten: where an annotator has said something else about a sentence here, that stays
and is told. Who joins the same annotations twice changes nothing the second time.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection, RowMapping, insert, select, update

from crfviz.annotations.records import Annotation, Merged
from crfviz.annotations.store.rows import annotation_of, annotation_row, write_annotation
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS
from crfviz.annotations.store.tagsets import check_tags, used


def merged(
    connection: Connection, document: str, labelled: Iterable[Annotation], *, write: bool
) -> Merged:
    """Join annotations to a document.

    Args:
        connection: in a transaction, that writes if `write`.
        document: its name.
        labelled: their `item` is the id of a sentence of this document.
        write: whether to do it, or only to say what would be done.

    Raises:
        UnknownTagError: a tag is none of the document's.
        StoreError: an annotation that no database can hold.
    """
    row = connection.execute(select(DOCUMENTS).where(DOCUMENTS.c.name == document)).mappings().one()
    there = _stored(connection, row)
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
        _write(connection, row, new)
    return Merged(tuple(new), same, tuple(conflicts))


def _stored(connection: Connection, document: RowMapping) -> dict[tuple[int, str], Annotation]:
    query = select(ANNOTATIONS).join(ITEMS).where(ITEMS.c.document == document["id"])
    found = map(annotation_of, connection.execute(query).mappings())
    return {(each.item, each.annotator): each for each in found}


def _write(connection: Connection, document: RowMapping, new: list[Annotation]) -> None:
    now = datetime.now(UTC)
    rows = []
    for each in new:
        dated = replace(
            each,
            revision=each.revision + 1,
            created=each.created or now,
            updated=(each.updated if each.revision == 0 else None) or now,
        )
        if each.revision:
            write_annotation(connection, dated)
        else:
            rows.append(annotation_row(dated))
    if rows:
        connection.execute(insert(ANNOTATIONS), rows)
    models = Counter(each.model for each in new if each.model).most_common(1)
    if models and not document["model"]:
        change = update(DOCUMENTS).where(DOCUMENTS.c.id == document["id"])
        connection.execute(change.values(model=models[0][0]))
