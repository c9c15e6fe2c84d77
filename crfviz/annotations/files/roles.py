"""What the tags of a file are: finished work, proposals to check, or a hidden reference."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

from crfviz.annotations.files.importing import Import
from crfviz.annotations.records import Annotation, Document
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import UNSET

Role = Literal["work", "proposals", "reference"]
ROLES: tuple[Role, ...] = get_args(Role)


def with_role(read: Import, role: Role, by: str = "") -> Import:
    """Return a file's sentences with their tags in a role; its annotations are unchanged.

    Args:
        read: the file.
        role: "work" makes each tagged sentence an annotation, finished if every word has a tag;
            "proposals" lets the desk propose the tags; "reference" hides them.
        by: the annotator of the work.

    Raises:
        CrfvizError: work has no name.
    """
    if role == "reference":
        return read
    if role == "work" and not by.strip():
        raise CrfvizError("finished work needs the name of its annotator, got none")
    documents = []
    for document in read.documents:
        if role == "work":
            documents.append(_as_work(document, by))
        else:
            settings = replace(document.settings, proposes_gold=True)
            documents.append(replace(document, settings=settings))
    return replace(read, documents=tuple(documents))


def _as_work(document: Document, by: str) -> Document:
    work = tuple(_work(document, by))
    taken = {each.item for each in work}
    items = tuple(
        replace(item, gold=None) if number in taken else item
        for number, item in enumerate(document.items)
    )
    return replace(document, items=items, annotations=(*document.annotations, *work))


def _work(document: Document, by: str) -> Iterator[Annotation]:
    there = {each.item for each in document.annotations}
    for number, item in enumerate(document.items):
        if item.gold is not None and number not in there:
            pins = {t: tag for t, tag in enumerate(item.gold) if tag != UNSET}
            whole = len(pins) == len(item.gold)
            state: Literal["open", "done"] = "done" if whole else "open"
            yield Annotation(number, by, item.offsets, item.gold, item.gold, pins, state)
