"""A process that saves one correction after another until it is killed."""

from dataclasses import replace

from crfviz.annotations.records import Annotation, Step
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import ConflictError

TEXT = "Kim saw Oslo"
OFFSETS = ((0, 3), (4, 7), (8, 12))


def correction(item, revision):
    """Return the annotation of a revision; all its fields contain the revision's number."""
    said = (str(revision),) * 3
    past = tuple(Step(OFFSETS, {0: str(n)}) for n in range(revision % 50))
    return Annotation(item, "anna", OFFSETS, said, said, {0: str(revision)}, past=past)


def work(url, item, confirmed):
    """Save revision after revision; send each number on a pipe as soon as it is saved."""
    with open_store(url) as store:
        while True:
            stored = store.annotation(item, "anna")
            revision = 0 if stored is None else stored.revision
            try:
                while True:
                    new = replace(correction(item, revision + 1), revision=revision)
                    revision = store.save(new).revision
                    confirmed.send(revision)
            except ConflictError:  # a killed process had already saved this revision
                continue
