"""What was imported goes into the store."""

from __future__ import annotations

from dataclasses import replace

from crfviz.annotations.files.importing import Import
from crfviz.annotations.records import Annotation
from crfviz.annotations.store.adding import Told
from crfviz.annotations.store.store import Store


def keep(store: Store, imported: Import, progress: Told | None = None) -> list[str]:
    """Store what was read, one document for each that the file names.

    Args:
        store: where to.
        imported: what was read, the user having agreed to what is missing.
        progress: told how many sentences and annotations are written, of how many.

    Returns:
        The names of the new documents.

    Raises:
        StoreError: it could not be stored; documents that were complete before stay.
    """
    places: dict[str, list[int]] = {}
    for place, item in enumerate(imported.items):
        places.setdefault(item.document, []).append(place)
    of_item: dict[int, list[Annotation]] = {}
    for annotation in imported.annotations:
        of_item.setdefault(annotation.item, []).append(annotation)
    total = len(imported.items) + len(imported.annotations)
    written = 0

    def report(done: int, _of: int) -> None:
        if progress is not None:
            progress(written + done, total)

    names = []
    for document, own in places.items():
        labelled = [
            replace(annotation, item=number)
            for number, place in enumerate(own)
            for annotation in of_item.get(place, ())
        ]
        items = [imported.items[place] for place in own]
        names.append(store.add(document, items, report, labelled))
        written += len(own) + len(labelled)
    return names
