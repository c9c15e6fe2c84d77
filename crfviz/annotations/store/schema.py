"""The tables of the newest migration, and their rows as records.

There is one row per document, per sentence, and per sentence and annotator. Lists in `records` are
stored as JSON text, because no query searches them and SQLite and PostgreSQL store text alike. All
names begin with `crfviz_`, so that other programs can share the database. They may write anything,
so each column validates its values.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

from crfviz.annotations import records
from crfviz.annotations.settings import Settings, settings_of
from crfviz.exceptions import CrfvizError, FormatError, StoreError
from crfviz.text.files import abbreviate_value

VERSION = "6"  # version of the newest migration
VERSION_TABLE = "crfviz_version"
READ_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)

TABLES = sa.MetaData()


@dataclass(frozen=True)
class Damaged:
    """A cell that another program has damaged."""

    cell: object


class Encoded(str):
    """JSON text encoded in advance: encoding many rows takes longer than writing them."""

    __slots__ = ()


def to_json(value: object) -> str:
    """Encode a value as JSON text, identically for every database."""
    return str(value) if isinstance(value, Encoded) else json.dumps(value)


def from_json(text: str) -> object:
    """Decode a JSON cell; the column rejects a `Damaged` one."""
    try:
        return json.loads(text)
    except READ_ERRORS:
        return Damaged(text)


class Cell(sa.TypeDecorator[Any]):
    """A column that holds one field of a record; an unreadable cell becomes `Damaged`.

    Args:
        read: converts a stored value into the field; raises one of READ_ERRORS for an invalid
            value.
        write: the inverse of `read`.
        stored: the type in the database.
        optional: whether the field may be None.


    """

    impl = sa.JSON
    cache_ok = True

    def __init__(
        self,
        read: Callable[[Any], object],
        write: Callable[[Any], object] = lambda field: field,
        stored: TypeEngine[Any] = sa.JSON(none_as_null=True),  # noqa: B008 - is not changed
        *,
        optional: bool = False,
    ) -> None:
        super().__init__()
        self.impl = self.stored = stored  # type: ignore[assignment]  # as SQLAlchemy sets it
        self.read, self.write, self.optional = read, write, optional

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Convert a cell into a field; the driver's type may already reject it."""
        unpack = self.impl_instance.result_processor(dialect, coltype) or (lambda cell: cell)
        read, optional = self.read, self.optional

        def process(cell: Any) -> Any:  # noqa: ANN401 - any value of the driver
            try:
                value = unpack(cell)
                if value is None:  # also in a row that an outer join did not find
                    return None if optional else Damaged(cell)
                return read(value)
            except READ_ERRORS:
                return Damaged(cell)

        return process

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> object:  # noqa: ANN401, ARG002 (SQLAlchemy's signature)
        return value if value is None or isinstance(value, Encoded) else self.write(value)


def _only(*kinds: type) -> Callable[[object], object]:
    """Return a validator of values of some types; booleans are not numbers."""

    def read(value: object) -> object:
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise TypeError
        return value

    return read


def _without_zone(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _pins(pins: Mapping[int, str]) -> dict[int, str]:
    return dict(pins)


def _steps(past: Sequence[records.Step]) -> list[object]:
    return [[step.offsets, _pins(step.pins)] for step in past]


WHOLE, TEXT = Cell(_only(int), stored=sa.Integer()), Cell(_only(str), stored=sa.Text())
NUMBER, STATE = Cell(_only(int, float), stored=sa.Float()), Cell(records.state_of, stored=sa.Text())
MOMENT = Cell(lambda cell: cell.replace(tzinfo=UTC), _without_zone, sa.DateTime())  # as UTC
TAGS, OFFSETS, PINS = Cell(records.texts_of), Cell(records.offsets_of), Cell(records.pins_of, _pins)
MAYBE_TAGS, LOOK = Cell(records.texts_of, optional=True), Cell(_only(dict), optional=True)
PAST = Cell(records.steps_of, _steps)
CURATION = Cell(records.curation_of, records.Curation.as_fields, optional=True)

DOCUMENTS = sa.Table(
    "crfviz_documents",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", TEXT, nullable=False, unique=True),
    sa.Column("created", MOMENT, nullable=False),
    sa.Column("tags", MAYBE_TAGS),  # K names; null before the first confirmed annotation
    # the model that the document was begun with, or that was trained on it
    sa.Column("model", TEXT, nullable=False, server_default=""),
    sa.Column("look", LOOK),  # all other settings
    sqlite_autoincrement=True,  # ids are never reused, as in PostgreSQL
)

ITEMS = sa.Table(
    "crfviz_items",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("document", sa.ForeignKey("crfviz_documents.id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", WHOLE, nullable=False),
    sa.Column("text", TEXT, nullable=False),
    sa.Column("offsets", OFFSETS, nullable=False),
    sa.Column("gold", MAYBE_TAGS),
    sa.UniqueConstraint("document", "position", name="crfviz_items_place"),
    sqlite_autoincrement=True,
)

ANNOTATIONS = sa.Table(
    "crfviz_annotations",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("item", sa.ForeignKey("crfviz_items.id", ondelete="CASCADE"), nullable=False),
    sa.Column("annotator", TEXT, nullable=False),
    sa.Column("offsets", OFFSETS, nullable=False),
    sa.Column("proposed", TAGS, nullable=False),
    sa.Column("final", TAGS, nullable=False),
    sa.Column("pins", PINS, nullable=False),
    sa.Column("state", STATE, nullable=False),
    sa.Column("model", TEXT, nullable=False),
    sa.Column("model_version", TEXT, nullable=False),
    sa.Column("revision", WHOLE, nullable=False),
    sa.Column("created", MOMENT, nullable=False),
    sa.Column("updated", MOMENT, nullable=False),
    sa.Column("seconds", NUMBER, nullable=False, server_default="0"),
    sa.Column("past", PAST, nullable=False, server_default="[]"),
    sa.Column("curation", CURATION),  # curator and settled versions
    sa.UniqueConstraint("item", "annotator", name="crfviz_annotations_whose"),
)

SKIPS = sa.Table(  # sentences that an annotator has skipped
    "crfviz_skips",
    TABLES,
    sa.Column("item", sa.ForeignKey("crfviz_items.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("annotator", sa.Text, primary_key=True),
)

REFUSED = sa.Table(  # places of a name that an annotator refused to mark
    "crfviz_refused",
    TABLES,
    sa.Column("item", sa.ForeignKey("crfviz_items.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("annotator", sa.Text, primary_key=True),
    sa.Column("first", sa.Integer, primary_key=True),  # characters
    sa.Column("last", sa.Integer, primary_key=True),
    sa.Column("what", sa.Text, primary_key=True),  # type or tag
)


Row = dict[str, Any]
Record = TypeVar("Record")
SETTINGS = (DOCUMENTS.c.tags, DOCUMENTS.c.model, DOCUMENTS.c.look)  # columns of each record
SENTENCE = (ITEMS.c.id, ITEMS.c.text, ITEMS.c.offsets, ITEMS.c.gold, ITEMS.c.position)
SAID = [column for column in ANNOTATIONS.columns if column.name != "id"]


def encoded(table: sa.Table, row: Row) -> Row:
    """Encode the lists of a row in advance, to keep the write lock short."""
    lists = {
        c.name: c.type
        for c in table.c
        if isinstance(c.type, Cell) and isinstance(c.type.stored, sa.JSON)
    }
    return {
        name: Encoded(json.dumps(lists[name].write(value)))
        if name in lists and value is not None
        else value
        for name, value in row.items()
    }


def annotation_row(annotation: records.Annotation) -> Row:
    """Return the columns of an annotation; reject a missing annotator or invalid characters."""
    if not annotation.annotator.strip():
        raise StoreError("expected the name of an annotator, got an empty one; nothing was stored")
    if annotation.annotator == records.CURATED and annotation.curation is None:
        raise StoreError(f"{records.CURATED} are the settled sentences: label under another name")
    check_text(annotation.annotator, annotation.model, annotation.model_version)
    check_text(*annotation.proposed, *annotation.final, *annotation.pins.values())
    return {column.name: getattr(annotation, column.name) for column in SAID}


def settings_row(settings: Settings) -> Row:
    """Return the columns of settings in the table of documents."""
    fields = settings.as_fields()
    look = {name: value for name, value in fields.items() if name not in ("tags", "model")}
    return {"tags": settings.tags, "model": settings.model, "look": look or None}


def summary_of(row: sa.RowMapping) -> records.DocumentSummary:
    """Return the document of a row with its number of `sentences`."""
    name, number, settings = row["name"], row["sentences"], settings_at(row)
    make = partial(records.DocumentSummary, name, number, settings=settings)
    return made(row, (DOCUMENTS.c.created,), make)


def settings_at(row: sa.RowMapping) -> Settings:
    """Return the settings in a row of documents."""

    def make(tags: Sequence[str] | None, model: str, look: Mapping[str, object] | None) -> Settings:
        fields = {"tags": tags and [*tags], "model": model, **(look or {})}
        return settings_of(fields, abbreviate_value(row[DOCUMENTS.c.name]))

    return made(row, SETTINGS, make)


def item_of(row: sa.RowMapping) -> records.Item:
    make = partial(records.Item, document=row[DOCUMENTS.c.name])
    return made(row, SENTENCE, make)


def annotation_of(row: sa.RowMapping) -> records.Annotation:
    return made(row, SAID, records.Annotation)


def made(
    row: sa.RowMapping, columns: Sequence[sa.Column[Any]], make: Callable[..., Record]
) -> Record:
    """Create a record from the cells of a row; a StoreError names an invalid cell."""
    cells = {column.name: row[column] for column in columns}
    try:
        for name, value in cells.items():
            if isinstance(value, Damaged):
                raise FormatError(f"its {name} cannot be {abbreviate_value(value.cell)}")
        return make(**cells)
    except CrfvizError as error:
        table = columns[0].table
        raise StoreError(
            f"row {row[table.c.id]} of the table {table.name} was damaged by another program: "
            f"{error}. Restore a copy of the store, or remove its document."
        ) from error


def check_text(*texts: str) -> None:
    """Reject characters that SQLite or PostgreSQL cannot store, naming the first."""
    for value in texts:
        if wrong := records.UNSTORABLE.search(value):
            raise StoreError(
                f"expected text that a database can hold, got the character "
                f"U+{ord(wrong[0]):04X} in {value[:60]!a}; nothing was stored"
            )
