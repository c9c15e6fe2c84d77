"""Queries of the store about names: their places, the refused ones, and changed annotations."""

from collections.abc import Callable, Collection, Sequence

import sqlalchemy as sa

from crfviz.annotations.everywhere import Name
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store import schema, writing
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS, REFUSED
from crfviz.annotations.store.store import Store
from crfviz.annotations.store.tagsets import hold_to_tags

MAX_SENTENCES = 1000  # sentences with a name that are read; more are not counted
Refused = tuple[int, int, int]  # sentence, first and last character


def sentences_with(
    store: Store, document: str, annotator: str, words: Sequence[str]
) -> list[tuple[Item, Annotation | None]]:
    """Return up to `MAX_SENTENCES` sentences that have all words, with an annotator's version.

    The database searches the texts: 100,000 sentences take a tenth of a second.
    """
    own = sa.and_(ANNOTATIONS.c.item == ITEMS.c.id, ANNOTATIONS.c.annotator == annotator)
    joined = ITEMS.join(DOCUMENTS).outerjoin(ANNOTATIONS, own)
    wanted = dict.fromkeys(words)

    def work(connection: sa.Connection) -> list[tuple[Item, Annotation | None]]:
        find = sa.func.instr if connection.dialect.name == "sqlite" else sa.func.strpos
        offsets = sa.func.coalesce(
            sa.cast(ANNOTATIONS.c.offsets, sa.Text), sa.cast(ITEMS.c.offsets, sa.Text)
        )
        number = sa.select(DOCUMENTS.c.id).where(DOCUMENTS.c.name == document).scalar_subquery()
        ends = sa.select(sa.func.min(ITEMS.c.id), sa.func.max(ITEMS.c.id))
        low, high = connection.execute(ends.where(ITEMS.c.document == number)).one()
        if low is None:
            return []
        text = sa.cast(ITEMS.c.text, sa.Text)
        candidates = (
            sa.select(ITEMS.c.id, text, offsets)
            .select_from(ITEMS.outerjoin(ANNOTATIONS, own))
            .where(ITEMS.c.id.between(low, high), ITEMS.c.document + 0 == number)  # no index
            .where(*(_may_have(find, text, offsets, word) for word in wanted))
        )
        ids = list[int]()
        for item, sentence, places in connection.execute(candidates):
            if all(_has_word(sentence, places, word) for word in wanted):
                ids.append(item)
            if len(ids) == MAX_SENTENCES:
                break
        query = sa.select(ITEMS, DOCUMENTS.c.name, ANNOTATIONS).select_from(joined)
        query = query.where(ITEMS.c.id.in_(ids)).order_by(ITEMS.c.position)
        return [
            (
                schema.item_of(row),
                None if row[ANNOTATIONS.c.id] is None else schema.annotation_of(row),
            )
            for row in connection.execute(query).mappings()
        ]

    return store.run(work)


def _may_have(
    find: Callable[..., sa.Function[int]],
    text: sa.ColumnElement[str],
    offsets: sa.ColumnElement[str],
    word: str,
) -> sa.ColumnElement[bool]:
    """Return a condition: the first run of a word's letters is a word, or there is another run."""
    at = find(text, word)
    start, end = (sa.cast(at + more, sa.Text) for more in (-1, len(word) - 1))
    place = sa.literal("[").concat(start).concat(", ").concat(end).concat("]")
    again = find(sa.func.substr(text, at + 1), word) > 0
    return sa.and_(at > 0, sa.or_(find(offsets, place) > 0, again))


def _has_word(text: str, places: str, word: str) -> bool:
    """Return whether one of the words is this one; `places` are the words as JSON.

    Parsing the words of all candidates would take ten times as long.
    """
    at = text.find(word)
    while at >= 0:
        if f"[{at}, {at + len(word)}]" in places:
            return True
        at = text.find(word, at + 1)
    return False


def refuse(store: Store, item: int, annotator: str, ends: tuple[int, int], name: Name) -> None:
    """Remember that a place is not what its words are elsewhere."""
    row = {"item": item, "annotator": annotator, "first": ends[0], "last": ends[1]}
    row["what"] = name.what

    def work(connection: sa.Connection) -> None:
        same = sa.and_(*(REFUSED.c[column] == value for column, value in row.items()))
        if connection.execute(sa.select(REFUSED).where(same)).first() is None:
            connection.execute(sa.insert(REFUSED).values(row))

    store.run(work, writes=True)


def take_back(store: Store, item: int, annotator: str, ends: tuple[int, int], name: Name) -> None:
    """Forget the refusal of a place."""
    query = sa.delete(REFUSED).where(
        REFUSED.c.item == item,
        REFUSED.c.annotator == annotator,
        REFUSED.c.first == ends[0],
        REFUSED.c.last == ends[1],
        REFUSED.c.what == name.what,
    )
    store.run(lambda connection: connection.execute(query), writes=True)


def refused(
    store: Store, document: str, annotator: str, what: str | None = None, item: int | None = None
) -> set[Refused]:
    """Return the places that an annotator refused for a tag or type, in a sentence; None: any."""
    columns = (REFUSED.c.item, REFUSED.c.first, REFUSED.c.last)
    query = sa.select(*columns).select_from(REFUSED.join(ITEMS).join(DOCUMENTS))
    query = query.where(DOCUMENTS.c.name == document, REFUSED.c.annotator == annotator)
    if what is not None:
        query = query.where(REFUSED.c.what == what)
    if item is not None:
        query = query.where(REFUSED.c.item == item)
    return store.run(lambda c: {(item, a, b) for item, a, b in c.execute(query)})


def save_all(
    store: Store, annotations: Sequence[Annotation], tags: Sequence[str]
) -> list[Annotation]:
    """Save annotations as `Store.save` does, all of them or none."""
    successors = [writing.successor(each) for each in annotations]

    def work(connection: sa.Connection) -> list[Annotation]:
        for each in successors:
            hold_to_tags(connection, each, tags)
        return [writing.write_annotation(connection, each) for each in successors]

    return store.run(work, writes=True)


def revisions(store: Store, document: str, annotator: str) -> dict[int, int]:
    """Return the revision of each annotation of an annotator, by sentence."""
    query = sa.select(ANNOTATIONS.c.item, ANNOTATIONS.c.revision)
    query = query.select_from(ANNOTATIONS.join(ITEMS).join(DOCUMENTS))
    query = query.where(DOCUMENTS.c.name == document, ANNOTATIONS.c.annotator == annotator)
    return store.run(lambda c: {item: number for item, number in c.execute(query)})  # noqa: C416 - rows, not pairs


def versions_of(
    store: Store, items: Collection[int], annotator: str
) -> list[tuple[Item, Annotation]]:
    """Return an annotator's versions of some sentences, without those that do not exist."""
    query = (
        sa.select(ITEMS, DOCUMENTS.c.name, ANNOTATIONS)
        .select_from(ANNOTATIONS.join(ITEMS).join(DOCUMENTS))
        .where(ANNOTATIONS.c.annotator == annotator)
    )
    numbers, found = sorted(items), list[tuple[Item, Annotation]]()
    for start in range(0, len(numbers), MAX_SENTENCES):
        part = query.where(ITEMS.c.id.in_(numbers[start : start + MAX_SENTENCES]))

        def work(connection: sa.Connection, part: sa.Select[*tuple[object, ...]] = part) -> None:
            rows = connection.execute(part).mappings()
            found.extend((schema.item_of(row), schema.annotation_of(row)) for row in rows)

        store.run(work)
    return found
