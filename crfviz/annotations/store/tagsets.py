"""The tags of a document: its own, or those of the model it was begun with.

A document without own tags gets the tags of the first confirmed annotation's model. Documents of
older stores, and imported annotated ones, already have the name of that model. A used tag cannot be
removed.
"""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

import sqlalchemy as sa

from crfviz.annotations.mixing import apart, example, kinds
from crfviz.annotations.records import Annotation
from crfviz.annotations.settings import Settings
from crfviz.annotations.store.schema import ANNOTATIONS, DOCUMENTS, ITEMS, settings_at, settings_row
from crfviz.exceptions import StoreError, UnknownTagError
from crfviz.taggers.blank import UNSET

ALIKE = 0.5  # minimum ratio of difflib, from 0 to 1
MAX_LISTED = 20  # tags in a message


def hold_to_tags(connection: sa.Connection, new: Annotation, tags: Sequence[str] | None) -> None:
    """Check an annotation against its document's tags; a document without any gets `tags`.

    `tags` are those of the annotation's model; None if unknown.

    Raises:
        UnknownTagError: the annotation has another tag, or the document was begun with other tags.
    """
    query = sa.select(DOCUMENTS).join(ITEMS).where(ITEMS.c.id == new.item)
    document = connection.execute(query).mappings().first()
    if document is None:  # saving raises the error
        return
    if settings_at(document).tags is None and tags is not None:
        locked = connection.execute(query.with_for_update(of=DOCUMENTS)).mappings().one()
        if settings_at(locked).tags is None:
            _begin(connection, locked, new, tags)
        document = connection.execute(query).mappings().one()
    check_tags(connection, document, used([new]))


def check_tags(connection: sa.Connection, document: sa.RowMapping, tags: Collection[str]) -> None:
    """Reject tags that a document lacks, suggesting similar ones.

    If the document has no tags yet, reject tags of another kind.
    """
    name, allowed = repr(document["name"][:80]), settings_at(document).tags
    if allowed is None:
        there = _stored_tags(connection, document)
        if apart(kinds(there), kinds(tags)):
            raise UnknownTagError(
                f"{name} has tags such as {example(there)}, so {example(tags)} is none of them; "
                "nothing was stored"
            )
        return
    for tag in sorted(set(tags) - {*allowed, UNSET}):
        whose = f"the tags of {document['model']}" if document["model"] else "tags of its own"
        raise UnknownTagError(
            f"{name} is labelled with {whose}, and {tag[:80]!r} is none of them: "
            f"{near(tag, allowed)}. Nothing was stored."
        )


def change_settings(connection: sa.Connection, name: str, new: Settings) -> None:
    """Replace the settings of a document; a used tag must stay."""
    query = sa.select(DOCUMENTS).where(DOCUMENTS.c.name == name).with_for_update()
    document = connection.execute(query).mappings().first()
    if document is None:
        raise StoreError(f"there is no document {name[:80]!r}; it may have been removed")
    if new.tags is not None:
        rows = sa.select(ANNOTATIONS.c.final, ANNOTATIONS.c.pins).join(ITEMS)
        found = connection.execute(rows.where(ITEMS.c.document == document["id"]))
        said = [{*final, *pins.values()} for final, pins in found]
        for tag in sorted(set().union(*said) - {*new.tags, UNSET}):
            number = sum(tag in tags for tags in said)
            raise UnknownTagError(
                f"{tag[:80]!r} is in use in {number} annotated sentence{'s' * (number != 1)} of "
                f"{name[:80]!r}: give their words another tag first. Nothing was changed."
            )
    values = settings_row(new)
    connection.execute(sa.update(DOCUMENTS).where(DOCUMENTS.c.id == document["id"]).values(values))


def near(tag: str, tags: Sequence[str]) -> str:
    """Suggest tags with names like this one, or list all of them."""
    by_name = {name.casefold(): name for name in tags}
    alike = get_close_matches(tag.casefold(), by_name, cutoff=ALIKE)
    if alike:
        return f"did you mean {' or '.join(by_name[name] for name in alike)}?"
    more = ", …" if len(tags) > MAX_LISTED else ""
    return f"expected one of {', '.join(tags[:MAX_LISTED])}{more}"


def used(annotations: Iterable[Annotation]) -> set[str]:
    """Return the tags in annotations: final ones and pins."""
    return {tag for each in annotations for tag in (*each.final, *each.pins.values())}


def _begin(
    connection: sa.Connection, document: sa.RowMapping, new: Annotation, tags: Sequence[str]
) -> None:
    """Give a document the tags of a model; reject a model that lacks used tags."""
    begun = document["model"]
    if begun != new.model:
        strange = sorted(_stored_tags(connection, document) - set(tags))
        if strange:
            raise UnknownTagError(
                f"{document['name'][:80]!r} was begun with {begun or 'another model'} and has the "
                f"tag {strange[0][:80]!r}, which {new.model} has not: "
                f"{near(strange[0], tags)}. Choose a model with these tags; nothing was stored."
            )
    values = {"tags": list(tags), "model": begun or new.model}
    connection.execute(sa.update(DOCUMENTS).where(DOCUMENTS.c.id == document["id"]).values(values))


def _stored_tags(connection: sa.Connection, document: sa.RowMapping) -> set[str]:
    query = sa.select(ANNOTATIONS.c.final).join(ITEMS).where(ITEMS.c.document == document["id"])
    if document["model"]:
        query = query.where(ANNOTATIONS.c.model == document["model"])
    return {tag for final in connection.execute(query).scalars() for tag in final}
