"""A process that stores one correction after the other until it is killed."""

from dataclasses import replace

from crfviz.annotations.records import Annotation, Step
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import ConflictError

TEXT = "Kim saw Oslo"
OFFSETS = ((0, 3), (4, 7), (8, 12))


def correction(item, revision):
    """What is stored as a revision: everything in it says which one it is."""
    said = (str(revision),) * 3
    past = tuple(Step(OFFSETS, {0: str(n)}) for n in range(revision % 50))
    return Annotation(item, "anna", OFFSETS, said, said, {0: str(revision)}, past=past)


def work(url, item, confirmed):
    """Say on a pipe which revision is stored, as soon as it is."""
    with open_store(url) as store:
        while True:
            stored = store.annotation(item, "anna")
            revision = 0 if stored is None else stored.revision
            try:
                while True:
                    new = replace(correction(item, revision + 1), revision=revision)
                    revision = store.save(new).revision
                    confirmed.send(revision)
            except ConflictError:  # what a killed process had sent to the server came in
                continue
