"""The tables of the store, as the newest migration leaves them.

One row per document, per sentence, and per sentence and annotator. What is a list in `records` is
JSON text here: nobody searches in it, and SQLite and PostgreSQL hold it alike. The names begin with
`crfviz_`, so that a database can be shared with other programs.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

VERSION = "5"  # of the newest migration
VERSION_TABLE = "crfviz_version"

TABLES = MetaData()


@dataclass(frozen=True)
class Damaged:
    """A cell that cannot be read, as something else than this program has written it."""

    cell: object


def from_json(text: str) -> object:
    """What a cell of JSON says; who reads the row knows which one it is, and refuses it."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return Damaged(text)


class Moment(TypeDecorator[datetime]):
    """A time with its zone in Python, UTC without a zone in the database."""

    impl = DateTime
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """A time, or what stands there instead."""
        read = super().result_processor(dialect, coltype)

        def process(value: Any) -> Any:  # noqa: ANN401 - whatever the driver gives
            try:
                return read(value) if read else value
            except (TypeError, ValueError):
                return Damaged(value)

        return process

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 (SQLAlchemy's signature)
        """UTC without a zone."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 (SQLAlchemy's signature)
        """UTC with its zone."""
        return None if value is None else value.replace(tzinfo=UTC)


DOCUMENTS = Table(
    "crfviz_documents",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Moment, nullable=False),
    Column("tags", JSON(none_as_null=True)),  # K names; none before the first confirmation
    Column("model", Text, nullable=False, server_default=""),  # it was begun with, or its own
    Column("look", JSON(none_as_null=True)),  # keys and colours of tags
    sqlite_autoincrement=True,  # an id is never given twice, as in PostgreSQL
)

ITEMS = Table(
    "crfviz_items",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("document", ForeignKey("crfviz_documents.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("offsets", JSON, nullable=False),
    Column("gold", JSON(none_as_null=True)),
    UniqueConstraint("document", "position", name="crfviz_items_place"),
    sqlite_autoincrement=True,
)

ANNOTATIONS = Table(
    "crfviz_annotations",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("item", ForeignKey("crfviz_items.id", ondelete="CASCADE"), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("offsets", JSON, nullable=False),
    Column("proposed", JSON, nullable=False),
    Column("final", JSON, nullable=False),
    Column("pins", JSON, nullable=False),
    Column("state", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("model_version", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created", Moment, nullable=False),
    Column("updated", Moment, nullable=False),
    Column("seconds", Float, nullable=False, server_default="0"),
    Column("past", JSON, nullable=False, server_default="[]"),
    Column("curation", JSON(none_as_null=True)),  # who settled it, from which versions
    UniqueConstraint("item", "annotator", name="crfviz_annotations_whose"),
)

SKIPS = Table(  # sentences that an annotator has passed over
    "crfviz_skips",
    TABLES,
    Column("item", ForeignKey("crfviz_items.id", ondelete="CASCADE"), primary_key=True),
    Column("annotator", Text, primary_key=True),
)
