"""The store: all documents, and the annotations of each sentence.

The store is a SQLite file, or PostgreSQL if CRFVIZ_DATABASE_URL is set. Methods return after their
changes are on disk. One store serves all threads of a program, and many programs may open it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from crfviz.annotations.records import (
    CURATED,
    UNSETTLED,
    Annotation,
    DocumentSummary,
    Item,
    Merged,
    Pair,
    Progress,
    State,
)
from crfviz.annotations.settings import Settings
from crfviz.annotations.store import database, schema, writing
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS, SKIPS
from crfviz.annotations.store.tagsets import change_settings, hold_to_tags
from crfviz.exceptions import StoreError

LARGEST_ID = 2**31
_STORES: WeakSet[Store] = WeakSet()  # all stores of this process
PAUSE = 1.0  # seconds before a lost server is retried
Result = TypeVar("Result")
AnyQuery = sa.Select[*tuple[Any, ...]]
_SENTENCES: AnyQuery = sa.select(ITEMS, DOCUMENTS.c.name).join(DOCUMENTS)
_SUMMARIES: AnyQuery = (
    sa.select(DOCUMENTS, sa.func.count(ITEMS.c.id).label("sentences"))
    .outerjoin(ITEMS)
    .group_by(DOCUMENTS.c.id)
    .order_by(DOCUMENTS.c.created, DOCUMENTS.c.id)
)
# finished annotations, without curated ones
_FINISHED = (ANNOTATIONS.c.state == "done", ANNOTATIONS.c.curation.is_(None))
_UNDONE = sa.and_(  # a fully undone sentence counts as not begun
    ANNOTATIONS.c.state == "open",
    sa.cast(ANNOTATIONS.c.pins, sa.Text) == "{}",
    sa.cast(ANNOTATIONS.c.past, sa.Text) == "[]",
    sa.cast(ANNOTATIONS.c.offsets, sa.Text) == sa.cast(ITEMS.c.offsets, sa.Text),
    sa.cast(ANNOTATIONS.c.final, sa.Text) == sa.cast(ANNOTATIONS.c.proposed, sa.Text),
)


def open_store(url: str | None = None) -> Store:
    """Open the store at a URL; create it or migrate it to the newest schema if needed.

    Args:
        url: such as `sqlite:////home/me/annotations.db` or `postgresql://user:password@host/name`;
            None for CRFVIZ_DATABASE_URL, else `crfviz/annotations.db` in XDG_DATA_HOME.

    Raises:
        StoreError: it cannot be opened; the message has the reason and the action.
    """
    address = database.database_url(url)
    return Store(database.connect(address), database.shown(address))


def file_of(url: str | None = None) -> Path | None:
    """Return the file of the store at a URL, see `open_store`; None if it is on a server."""
    address = database.database_url(url)
    on_disk = address.get_backend_name() == "sqlite"
    return Path(str(address.database)) if on_disk else None


def close_stores() -> None:
    """Close the connections of all stores of this process; see `Store.close`."""
    for store in list(_STORES):
        store.close()


class Store:
    """Documents and annotations in one database; every method may raise a StoreError."""

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self._engine = engine
        self._lock = Lock()
        self._running = 0  # transactions
        self._closing = False
        _STORES.add(self)
        self.place = place  # display name: the file, or the URL without its password

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the store reconnects when it is used again.

        A connection with a running transaction is closed at its end: the engine closes only idle
        ones.
        """
        with self._lock:
            self._closing = self._running > 0
            if not self._closing:
                self._engine.dispose()

    def add(
        self,
        document: str,
        sentences: Iterable[Item],
        progress: Callable[[int, int], None] | None = None,
        labelled: Iterable[Annotation] = (),
        settings: Settings = UNSETTLED,
    ) -> str:
        """Store a new document atomically, and return its name in the store.

        Args:
            document: its name; a number is added to a used name, "name (2)".
            sentences: in order. A sentence keeps its `position` if that exceeds the previous one;
                otherwise it gets the next.
            progress: called with the number of written rows, and their total.
            labelled: annotations of these sentences; `item` is the index of a sentence.
            settings: tags, model, keys and colours.


        """
        rows = writing.prepared(document, sentences, labelled, settings)
        return self._run(lambda c: writing.write_document(c, *rows, progress), writes=True, tries=1)

    def merge(self, document: str, labelled: Iterable[Annotation], *, write: bool = True) -> Merged:
        """Merge annotations into a document atomically; none is overwritten.

        `item` is the id of a sentence of the document. Without `write`, return only the plan.

        Raises:
            UnknownTagError: the document lacks a tag.
        """
        return self._run(lambda c: writing.merged(c, document, labelled, write=write), writes=write)

    def change(self, document: str, settings: Settings, name: str | None = None) -> None:
        """Replace the settings and the name of a document atomically.

        Raises:
            StoreError: the document does not exist, or another document has the name.
            UnknownTagError: a used tag is missing.
        """
        schema.check_text(name or "", *(settings.tags or ()), settings.model)

        def work(connection: sa.Connection) -> None:
            change_settings(connection, document, settings)
            if name is not None and name != document:
                taken = sa.select(DOCUMENTS.c.id).where(DOCUMENTS.c.name == name)
                if not name.strip() or connection.execute(taken).first():
                    raise StoreError(f"expected a name that no document has, got {name[:80]!r}")
                change = sa.update(DOCUMENTS).where(DOCUMENTS.c.name == document)
                connection.execute(change.values(name=name))

        self._run(work, writes=True)

    def remove(self, document: str) -> None:
        query = sa.delete(DOCUMENTS).where(DOCUMENTS.c.name == document)
        self._run(lambda c: c.execute(query), writes=True)

    def documents(self) -> list[DocumentSummary]:
        return self._records(_SUMMARIES, schema.summary_of)

    def renewed(self, document: DocumentSummary) -> DocumentSummary:
        """Return a document with its current name and settings; unchanged if it was removed."""
        query = _SUMMARIES.where(DOCUMENTS.c.created == document.created)
        return next(iter(self._records(query, schema.summary_of)), document)

    def items(self, document: str, start: int = 0, limit: int | None = None) -> list[Item]:
        query = _SENTENCES.where(DOCUMENTS.c.name == document).order_by(ITEMS.c.position)
        return self._records(query.offset(start).limit(limit), schema.item_of)

    def item(self, number: int) -> Item:
        """Return the sentence with an id; raise StoreError if it does not exist."""
        known = 0 < number < LARGEST_ID  # a larger id overflows the database's integers
        query = _SENTENCES.where(ITEMS.c.id == number)
        found = self._records(query, schema.item_of) if known else []
        if not found:
            raise StoreError(f"sentence {number} is not in the store; its document may be removed")
        return found[0]

    def item_ids(self, document: str) -> list[int]:
        query = sa.select(ITEMS.c.id).join(DOCUMENTS).where(DOCUMENTS.c.name == document)
        return self._column(query.order_by(ITEMS.c.position))

    def annotation(self, item: int, annotator: str) -> Annotation | None:
        return self._run(lambda c: writing.stored(c, item, annotator))

    def save(self, annotation: Annotation, tags: Sequence[str] | None = None) -> Annotation:
        """Replace the annotation of the same revision; return the stored annotation.

        It is then on disk with the next revision. A document without tags gets `tags`, the tags of
        the annotation's model.

        Raises:
            ConflictError: the stored revision differs; nothing was overwritten.
            UnknownTagError: the document lacks a tag.

        """
        new = writing.successor(annotation)
        schema.annotation_row(new)  # validates the row before the database is used

        def work(connection: sa.Connection) -> Annotation:
            hold_to_tags(connection, new, tags)
            return writing.write_annotation(connection, new)

        return self._run(work, writes=True)

    def annotations(
        self, document: str | None = None, annotator: str | None = None, state: State | None = None
    ) -> list[Pair]:
        """Return sentences with annotations by document, position and annotator; None means all."""
        columns = (ITEMS, DOCUMENTS.c.name, ANNOTATIONS)
        query = _said(*columns, document=document, annotator=annotator, state=state)
        order = (DOCUMENTS.c.id, ITEMS.c.position, ANNOTATIONS.c.annotator)
        return self._records(
            query.order_by(*order), lambda row: (schema.item_of(row), schema.annotation_of(row))
        )

    def count(
        self,
        document: str | None = None,
        annotator: str | None = None,
        state: State | None = None,
        *,
        sentences: bool = False,
    ) -> int:
        """Count annotations, or annotated sentences; None means all."""
        number = sa.func.count(ANNOTATIONS.c.item.distinct()) if sentences else sa.func.count()
        query = _said(number, document=document, annotator=annotator, state=state)
        return int(self._column(query)[0])

    def progress(self, document: str, annotator: str) -> Progress:
        """Return the progress of an annotator in a document."""
        total = (
            sa.select(sa.func.count(ITEMS.c.id)).join(DOCUMENTS).where(DOCUMENTS.c.name == document)
        )
        columns = (ANNOTATIONS.c.state, sa.func.count(), sa.func.sum(ANNOTATIONS.c.seconds))
        mine = _said(*columns, document=document, annotator=annotator).where(sa.not_(_UNDONE))

        def work(connection: sa.Connection) -> Progress:
            states = connection.execute(mine.group_by(ANNOTATIONS.c.state))
            counts = {state: (n, spent) for state, n, spent in states}
            done, seconds = counts.get("done", (0, 0.0))
            number = connection.execute(total).scalar_one()
            return Progress(number, done, counts.get("open", (0, 0.0))[0], seconds)

        return self._run(work)

    def done_ids(self, document: str, annotator: str) -> set[int]:
        return set(self._column(_done(document, annotator)))

    def last_done(self, document: str, annotator: str) -> int | None:
        """Return the id of the sentence that an annotator accepted last; None without one."""
        newest = (ANNOTATIONS.c.updated.desc(), ANNOTATIONS.c.id.desc())
        return next(iter(self._column(_done(document, annotator).order_by(*newest).limit(1))), None)

    def versions(self, item: int) -> list[Annotation]:
        """Return the finished versions of a sentence by annotator, without the curated one."""
        query = sa.select(ANNOTATIONS).where(ANNOTATIONS.c.item == item, *_FINISHED)
        return self._records(query.order_by(ANNOTATIONS.c.annotator), schema.annotation_of)

    def disputed(self, document: str) -> dict[int, bool]:
        """Return the ids of disputed sentences in order, and whether each is settled.

        A sentence is disputed if its finished versions differ. A changed or new version reopens it.
        """
        texts = [sa.cast(ANNOTATIONS.c[name], sa.Text) for name in ("final", "offsets")]
        differ = sa.or_(*(sa.func.count(each.distinct()) > 1 for each in texts))
        apart = _said(ANNOTATIONS.c.item, document=document).where(*_FINISHED)
        columns = [ANNOTATIONS.c[name] for name in ("item", "annotator", "updated", "curation")]
        query = (
            sa.select(ANNOTATIONS.c.id, *columns)
            .join(ITEMS)
            .where(
                ANNOTATIONS.c.item.in_(apart.group_by(ANNOTATIONS.c.item).having(differ)),
                ANNOTATIONS.c.state == "done",
            )
            .order_by(ITEMS.c.position)
        )
        versions: dict[int, dict[str, datetime]] = {}
        settled: dict[int, Mapping[str, datetime | None]] = {}
        for cells in self._records(query, lambda row: schema.made(row, columns, dict[str, Any])):
            item, annotator, updated, curation = cells.values()
            if curation is None:
                versions.setdefault(item, {})[annotator] = updated
            else:
                settled[item] = curation.versions
        return {item: settled.get(item) == made_of for item, made_of in versions.items()}

    def skip(self, item: int, annotator: str) -> None:
        """Record that an annotator has skipped a sentence."""
        row = {"item": item, "annotator": annotator}

        def work(connection: sa.Connection) -> None:
            same = sa.select(SKIPS).where(SKIPS.c.item == item, SKIPS.c.annotator == annotator)
            if connection.execute(same).first() is None:
                connection.execute(sa.insert(SKIPS).values(row))

        self._run(work, writes=True)

    def skipped(self, document: str, annotator: str) -> set[int]:
        """Return the ids of the sentences that an annotator has skipped."""
        query = sa.select(SKIPS.c.item).select_from(SKIPS.join(ITEMS).join(DOCUMENTS))
        mine = query.where(DOCUMENTS.c.name == document, SKIPS.c.annotator == annotator)
        return set(self._column(mine))

    def annotators(self, document: str | None = None) -> list[str]:
        """Return the annotators of a document, or of all; sorted, with the curated layer last."""
        names = self._column(_said(ANNOTATIONS.c.annotator, document=document).distinct())
        return sorted(names, key=lambda each: (each == CURATED, each))

    def _records(self, query: AnyQuery, make: Callable[[sa.RowMapping], Result]) -> list[Result]:
        """Return a record per row; each row is freed after it is read."""
        return self._run(lambda c: [make(row) for row in c.execute(query).mappings()])

    def _column(self, query: AnyQuery) -> list[Any]:
        return self._run(lambda c: list(c.execute(query).scalars()))

    def _run(
        self, work: Callable[[sa.Connection], Result], *, writes: bool = False, tries: int = 2
    ) -> Result:
        """Return the result of `work` in its own transaction; retry if the connection was lost."""
        try:
            with (
                self._in_use(),
                database.transaction(self._engine, writes=writes) as connection,
            ):
                return work(connection)
        except SQLAlchemyError as error:
            if tries == 1 or not database.lost_connection(error):
                raise database.explained(error, self.place) from error
        time.sleep(PAUSE)
        return self._run(work, writes=writes, tries=tries - 1)

    run = _run  # for the queries in `names`

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._closing and not self._running:
                    self._closing = False
                    self._engine.dispose()


def _said(
    *columns: sa.ColumnElement[Any] | sa.Table,
    document: str | None = None,
    annotator: str | None = None,
    state: State | None = None,
) -> AnyQuery:
    """Return the query of annotations with their sentences and documents; None means any."""
    filters = {DOCUMENTS.c.name: document, ANNOTATIONS.c.annotator: annotator}
    filters[ANNOTATIONS.c.state] = state
    wanted = [column == value for column, value in filters.items() if value is not None]
    joined = ANNOTATIONS.join(ITEMS).join(DOCUMENTS)
    return sa.select(*columns).select_from(joined).where(*wanted)


def _done(document: str, annotator: str) -> AnyQuery:
    return _said(ANNOTATIONS.c.item, document=document, annotator=annotator, state="done")
