"""Queries of the store, and what its rows say of documents and of settled sentences."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Text,
    and_,
    cast,
    func,
    or_,
    select,
)

from crfviz.annotations.records import DocumentSummary, State, curation_of
from crfviz.annotations.store.cells import settings_at
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS
from crfviz.exceptions import StoreError
from crfviz.text.files import abbreviate_value

AnyQuery = Select[*tuple[Any, ...]]


def disputed(connection: Connection, document: str) -> dict[int, bool]:
    """See `Store.disputed`."""
    texts = [cast(ANNOTATIONS.c[name], Text) for name in ("final", "offsets")]
    differ = or_(*(func.count(each.distinct()) > 1 for each in texts))
    apart = versions_only(of_document(document, ANNOTATIONS.c.item))
    names = ("item", "annotator", "updated", "curation")
    query = (
        select(*(ANNOTATIONS.c[name] for name in names))
        .join(ITEMS)
        .where(
            ANNOTATIONS.c.item.in_(apart.group_by(ANNOTATIONS.c.item).having(differ)),
            ANNOTATIONS.c.state == "done",
        )
        .order_by(ITEMS.c.position)
    )
    versions: dict[int, dict[str, datetime | None]] = {}
    settled: dict[int, Mapping[str, datetime | None]] = {}
    for item, annotator, updated, curation in connection.execute(query):
        if curation is None:
            versions.setdefault(item, {})[annotator] = updated
        else:
            settled[item] = curation_of(curation).versions
    return {item: settled.get(item) == made_of for item, made_of in versions.items()}


def summary_of(row: RowMapping) -> DocumentSummary:
    """Return the document of a row, with its number of sentences.

    Raises:
        StoreError: another program has written something else there.
    """
    name, created = row["name"], row["created"]
    if not isinstance(created, datetime):
        raise StoreError(
            f"the document {abbreviate_value(name)} was damaged by another program: "
            "its time is none"
        )
    return DocumentSummary(name, row["sentences"], created, settings_at(row))


def sentences() -> AnyQuery:
    """Query sentences with the names of their documents."""
    return select(ITEMS, DOCUMENTS.c.name).join(DOCUMENTS)


def wanted(
    document: str | None, annotator: str | None, state: State | None
) -> list[ColumnElement[bool]]:
    """Return conditions on annotations; None is any."""
    wanted = {DOCUMENTS.c.name: document, ANNOTATIONS.c.annotator: annotator}
    wanted[ANNOTATIONS.c.state] = state
    return [column == value for column, value in wanted.items() if value is not None]


def versions_only(query: AnyQuery) -> AnyQuery:
    """Restrict a query to finished annotations of people, without curated ones."""
    return query.where(ANNOTATIONS.c.state == "done", ANNOTATIONS.c.curation.is_(None))


def undone() -> ColumnElement[bool]:
    """Whether all steps in a sentence were undone, so that it is as if nobody had begun it."""
    return and_(
        ANNOTATIONS.c.state == "open",
        cast(ANNOTATIONS.c.pins, Text) == "{}",
        cast(ANNOTATIONS.c.past, Text) == "[]",
        cast(ANNOTATIONS.c.offsets, Text) == cast(ITEMS.c.offsets, Text),
        cast(ANNOTATIONS.c.final, Text) == cast(ANNOTATIONS.c.proposed, Text),
    )


def of_document(document: str, *what: ColumnElement[Any]) -> AnyQuery:
    """Query columns of the annotations of a document."""
    joined = ANNOTATIONS.join(ITEMS).join(DOCUMENTS)
    return select(*what).select_from(joined).where(DOCUMENTS.c.name == document)
