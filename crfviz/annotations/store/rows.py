"""Records as rows of the tables, and rows as records; another program may have written these."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import RowMapping, Table

from crfviz.annotations.records import CURATED, UNSTORABLE, Annotation, DocumentSummary, Item
from crfviz.annotations.settings import Settings, settings_of
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS, Cell, Damaged, Encoded
from crfviz.exceptions import CrfvizError, StoreError
from crfviz.text.files import abbreviate_value

Row = dict[str, Any]
KEPT = [column.name for column in ANNOTATIONS.columns if column.name != "id"]


def encoded(table: Table, row: Row) -> Row:
    """The same with its lists encoded, so that it is written quickly once the store is locked."""
    lists = {c.name: c.type for c in table.c if isinstance(c.type, Cell) and c.type.is_json}
    return {
        name: Encoded(json.dumps(lists[name].write(value)))
        if name in lists and value is not None
        else value
        for name, value in row.items()
    }


def annotation_row(annotation: Annotation) -> Row:
    """Columns of an annotation that has an annotator and no character that no database holds."""
    if not annotation.annotator.strip():
        raise StoreError("expected the name of an annotator, got an empty one; nothing was stored")
    if annotation.annotator == CURATED and annotation.curation is None:
        raise StoreError(f"{CURATED} are the settled sentences: label under another name")
    check_text(annotation.annotator, annotation.model, annotation.model_version)
    check_text(*annotation.proposed, *annotation.final, *annotation.pins.values())
    return {name: getattr(annotation, name) for name in KEPT}


def settings_row(settings: Settings) -> Row:
    """Columns of the table of documents."""
    look = {name: dict(of) for name in ("keys", "colours") if (of := getattr(settings, name))}
    return {"tags": settings.tags, "model": settings.model, "look": look or None}


def summary_of(row: RowMapping) -> DocumentSummary:
    """The document of a row with its number of `sentences`."""
    created = cells_of(row, DOCUMENTS, ("created",))["created"]
    return DocumentSummary(row["name"], row["sentences"], created, settings_at(row))


def settings_at(row: RowMapping) -> Settings:
    """The settings in a row of documents."""
    cells = cells_of(row, DOCUMENTS, ("tags", "model", "look"))
    tags, look = cells["tags"], cells["look"] or {}
    with _consistent(DOCUMENTS, row):
        fields = {"tags": tags and [*tags], "model": cells["model"], **look}
        return settings_of(fields, abbreviate_value(row[DOCUMENTS.c.name]))


def item_of(row: RowMapping) -> Item:
    """The sentence of a row that joins `items` and `documents`."""
    cells = cells_of(row, ITEMS, ("id", "text", "offsets", "gold", "position"))
    with _consistent(ITEMS, row):
        return Item(**cells, document=row[DOCUMENTS.c.name])


def annotation_of(row: RowMapping) -> Annotation:
    """The annotation of a row."""
    cells = cells_of(row, ANNOTATIONS, KEPT)
    with _consistent(ANNOTATIONS, row):
        return Annotation(**cells)


def cells_of(row: RowMapping, table: Table, names: Sequence[str]) -> Row:
    """The fields in the cells of a table; a StoreError says which another program has written."""
    cells = {name: row[table.c[name]] for name in names}
    for name, value in cells.items():
        if isinstance(value, Damaged):
            raise _damaged(table, row, f"its {name} cannot be {abbreviate_value(value.cell)}")
    return cells


@contextmanager
def _consistent(table: Table, row: RowMapping) -> Iterator[None]:
    """Say which row it is whose cells do not fit each other."""
    try:
        yield
    except CrfvizError as error:
        raise _damaged(table, row, str(error)) from error


def _damaged(table: Table, row: RowMapping, why: str) -> StoreError:
    return StoreError(
        f"row {row[table.c.id]} of the table {table.name} was damaged by another program: {why}. "
        f"Restore a copy of the store, or remove its document."
    )


def check_text(*texts: str) -> None:
    """Refuse what neither SQLite nor PostgreSQL could give back, naming the character."""
    for value in texts:
        if wrong := UNSTORABLE.search(value):
            raise StoreError(
                f"expected text that a database can hold, got the character "
                f"U+{ord(wrong[0]):04X} in {value[:60]!a}; nothing was stored"
            )
