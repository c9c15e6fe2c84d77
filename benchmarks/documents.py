"""Documents to label: sentences of a shipped excerpt, each one of its own."""

from __future__ import annotations

import itertools

from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.store.store import open_store
from crfviz.taggers.registry import read_excerpt

EXCERPT = "excerpts/ewt-dev.conllu"


def sentences(number: int, mark: str) -> list[str]:
    """Sentences of about 17 words; the `mark` and a number in each make it like no other."""
    texts = itertools.cycle(" ".join(each.tokens) for each in read_excerpt(EXCERPT))
    return [f"{text} {mark}{n}" for n, text in zip(range(number), texts, strict=False)]


def stored(database: str, name: str, texts: list[str]) -> str:
    """Store sentences as a document, and give what stands for it in an address."""
    with open_store(database) as store:
        taken = keep(store, read_items("\n".join(texts).encode(), name))[-1]
        document = next(each for each in store.documents() if each.name == taken)
    return f"{document.created:%Y%m%d%H%M%S%f}"
