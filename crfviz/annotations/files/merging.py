"""Storing of imported files: as new documents, or merged into stored ones.

A stored document matches if it has the same words in the same order.

An export holds only annotated sentences. A file with annotations may therefore lack sentences of
the document; a file without annotations must contain the whole document.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from crfviz.annotations.files.importing import Import
from crfviz.annotations.records import Annotation, Document, DocumentSummary, Item, Merged
from crfviz.annotations.store.store import Store

MAX_WORDS = 8  # words of a sentence in a message


@dataclass(frozen=True)
class Known:
    """A stored document with the sentences of one in a file."""

    document: str  # name in the store
    sentences: tuple[Item, ...]  # stored sentences, one for each in the file
    labelled: tuple[Annotation, ...]  # annotations of the file, for these sentences


def known_documents(store: Store, imported: Import) -> dict[str, Known]:
    """Return the stored documents that match those of a file, by their names in the file.

    A document of the same name is preferred, then the newest.
    """
    summaries, known = store.documents()[::-1], dict[str, Known]()
    for document in imported.documents:
        number, name = len(document.items), document.name
        for summary in sorted(summaries, key=lambda each: each.name != name):
            more = bool(document.annotations) and summary.sentences > number
            if name not in known and (more or summary.sentences == number):
                there = _known(store, summary, document)
                known |= {name: there} if there else {}
    return known


def keep(
    store: Store,
    imported: Import,
    progress: Callable[[int, int], None] | None = None,
    known: Mapping[str, Known] | None = None,
) -> list[str]:
    """Store an import, and return the names of its documents in the store.

    Args:
        store: the target.
        imported: the import, after the user accepted its losses.
        progress: called with the number of written rows, and their total.
        known: matching documents, to which only annotations are added.

    Raises:
        StoreError: storing failed; documents completed before stay.
        UnknownTagError: an annotation has a tag that its document lacks.
    """
    sizes = [len(each.items) + len(each.annotations) for each in imported.documents]
    names: list[str] = []

    def report(done: int, _of: int) -> None:
        if progress is not None:
            progress(sum(sizes[: len(names)]) + done, sum(sizes))

    for document, size in zip(imported.documents, sizes, strict=True):
        if there := (known or {}).get(document.name):
            store.merge(there.document, there.labelled)
            report(size, size)
            names.append(there.document)
        else:
            parts = (document.name, document.items, report, document.annotations)
            names.append(store.add(*parts, document.settings))
    return names


def planned(store: Store, known: Mapping[str, Known]) -> dict[str, Merged]:
    """Return the result of merging without writing, by the documents' names in the file."""
    return {
        name: store.merge(each.document, each.labelled, write=False) for name, each in known.items()
    }


def conflicts(known: Known, merged: Merged) -> list[str]:
    """Return a line for each sentence whose stored annotation differs from that of the file."""
    sentences = {item.id: item for item in known.sentences}
    lines = []
    for there, came in merged.conflicts:
        item = sentences[there.item]
        words = " ".join(item.tokens[:MAX_WORDS]) + " …" * (len(item.tokens) > MAX_WORDS)
        lines.append(
            f"{known.document}, sentence {item.position + 1} ({words}): {there.annotator[:40]} has "
            f"{_difference(there, came)} in the file; what is in the store stays"
        )
    return lines


def _difference(there: Annotation, came: Annotation) -> str:
    if there.offsets != came.offsets:
        return f"{len(there.offsets)} words in the store, {len(came.offsets)} split differently"
    pairs = list(zip(there.final, came.final, strict=True))
    t = next(t for t, (one, other) in enumerate(pairs) if one != other)
    more = sum(one != other for one, other in pairs) - 1
    rest = f" (and {more} more)" if more else ""
    return f"{pairs[t][0]} at word {t + 1} in the store, {pairs[t][1]}{rest}"


def _known(store: Store, summary: DocumentSummary, document: Document) -> Known | None:
    """Return the stored document if it has these sentences, split as in the annotations."""
    there = _same(document.items, store.items(summary.name))
    if there is None:
        return None
    moved = []
    for annotation in document.annotations:
        own, stored = document.items[annotation.item], there[annotation.item]
        if own.text == stored.text:
            offsets = annotation.offsets
        elif annotation.offsets == own.offsets:
            offsets = stored.offsets
        else:  # words split by hand, in a text with other blanks
            return None
        moved.append(replace(annotation, item=stored.id, offsets=offsets))
    return Known(summary.name, tuple(there), tuple(moved))


def _same(items: Sequence[Item], stored: Sequence[Item]) -> list[Item] | None:
    """Return the equal stored sentences in order, preferably at the same positions."""
    by_place, rest = {item.position: item for item in stored}, iter(stored)
    ways = (
        (by_place.get(item.position) for item in items),
        (next((each for each in rest if each.tokens == item.tokens), None) for item in items),
    )
    for way in ways:
        found = [item for item in way if item is not None]
        rising = all(a.position < b.position for a, b in pairwise(found))
        if rising and [item.tokens for item in found] == [item.tokens for item in items]:
            return found
    return None
