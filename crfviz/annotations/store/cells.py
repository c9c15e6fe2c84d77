"""Cells of the tables as they come back: another program may have written anything into them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Table

from crfviz.annotations.records import STATES, are_offsets
from crfviz.annotations.settings import Settings, settings_of
from crfviz.annotations.store.schema import DOCUMENTS, Damaged
from crfviz.exceptions import FormatError, ShapeError, StoreError
from crfviz.text.files import abbreviate_value


def checked(row: RowMapping, table: Table, names: Sequence[str]) -> dict[str, Any]:
    """The cells of a row of a table, each being what belongs there.

    Raises:
        StoreError: one is not; says which.
    """
    cells = {name: row[table.c[name]] for name in names}
    for name, value in cells.items():
        if not BELONGS[name](value):
            got = abbreviate_value(value.cell if isinstance(value, Damaged) else value)
            raise _damaged(table, row[table.c.id], f"its {name} cannot be {got}")
    return cells


def settings_at(document: RowMapping) -> Settings:
    """The settings in a row of documents.

    Raises:
        StoreError: another program has written something else there.
    """
    tags, look = document[DOCUMENTS.c.tags], document[DOCUMENTS.c.look]
    name = abbreviate_value(document[DOCUMENTS.c.name])
    if tags is not None and not _are_tags(tags):
        raise StoreError(f"the document {name} was damaged by another program: its tags are none")
    fields = {"tags": tags, "model": document[DOCUMENTS.c.model]}
    try:
        return settings_of(fields | (look or {}), f"the document {name}")
    except (FormatError, TypeError) as error:
        raise StoreError(f"the document {name} was damaged by another program: {error}") from error


@contextmanager
def consistent(table: Table, number: object) -> Iterator[None]:
    """Say which row it is whose cells do not fit each other.

    Raises:
        StoreError: the body raised a ShapeError or FormatError.
    """
    try:
        yield
    except (FormatError, ShapeError) as error:
        raise _damaged(table, number, str(error)) from error


def _damaged(table: Table, number: object, why: str) -> StoreError:
    return StoreError(
        f"row {number} of the table {table.name} was damaged by another program: {why}. "
        f"Restore a copy of the store, or remove its document."
    )


def _are_tags(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(tag, str) for tag in value)


def _are_pins(value: object) -> bool:
    return isinstance(value, dict) and all(
        position.isdecimal() and len(position) < 10 and isinstance(tag, str)
        for position, tag in value.items()
    )


def _are_steps(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(step, list) and len(step) == 2 and are_offsets(step[0]) and _are_pins(step[1])
        for step in value
    )


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_text(value: object) -> bool:
    return isinstance(value, str)


BELONGS: Mapping[str, Callable[[object], bool]] = {  # in a column
    **dict.fromkeys(("id", "item", "position", "revision"), _is_whole),
    **dict.fromkeys(("text", "annotator", "model", "model_version"), _is_text),
    **dict.fromkeys(("created", "updated"), lambda value: isinstance(value, datetime)),
    **dict.fromkeys(("proposed", "final"), _are_tags),
    "offsets": are_offsets,
    "gold": lambda value: value is None or _are_tags(value),
    "pins": _are_pins,
    "curation": lambda value: value is None or isinstance(value, dict),
    "past": _are_steps,
    "state": lambda value: value in STATES,
    "seconds": lambda value: isinstance(value, int | float),
}
