"""The tagged sentences that are shipped: excerpts of dev files, from which no model learnt."""

from collections.abc import Mapping, Sequence
from functools import cache

from crfviz.taggers.registry import SHIPPED
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence

EXCERPTS: Mapping[str, str] = {  # file, and what it is
    "excerpts/ewt-dev.conllu": "150 sentences of UD English EWT dev (CC BY-SA 4.0)",
    "excerpts/btc-dev.conll": "150 tweets of the Broad Twitter Corpus dev (CC BY 4.0)",
}


@cache
def read_excerpt(path: str) -> tuple[Sentence, ...]:
    """The sentences of one of `EXCERPTS`."""
    return tuple(read_sentences(SHIPPED / path))


def excerpt_for(tags: Sequence[str]) -> str | None:
    """The first of `EXCERPTS` that has no other tags than these, if there is such."""
    known = set(tags)
    for path in EXCERPTS:
        if {tag for sentence in read_excerpt(path) for tag in sentence.tags or ()} <= known:
            return path
    return None
