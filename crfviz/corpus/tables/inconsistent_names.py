"""Names that stand under different entity types."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crfviz.corpus.tables.evaluation import Tagging
from crfviz.corpus.tables.label_errors import tagged_sentences
from crfviz.text.schemes import entity_scheme, spans


@dataclass(frozen=True)
class InconsistentName:
    """A name with two or more types, and the sentences of each."""

    name: str  # its words, joined by blanks
    types: Mapping[str, tuple[int, ...]]  # type to sentences from 0, the most frequent type first


def inconsistent_names(sentences: str | Path | Iterable[Tagging]) -> list[InconsistentName]:
    """Return the names that stand under different types, the most mixed first.

    Names are equal if their words are, in the same case. A sentence is listed once for each time
    that the name stands in it.

    >>> inconsistent_names([(["Paris"], ["B-LOC"]), (["Paris", "won"], ["B-PER", "O"])])
    [InconsistentName(name='Paris', types={'LOC': (0,), 'PER': (1,)})]

    Args:
        sentences: a file, or tagged sentences; tags without entities give an empty list.

    Raises:
        FormatError: a sentence has no tags.
    """
    tagged = tagged_sentences(sentences)
    scheme = entity_scheme({tag for each in tagged for tag in each.tags or ()})
    found: dict[str, dict[str, list[int]]] = {}
    for number, sentence in enumerate(tagged if scheme else ()):
        for span in spans(sentence.tags or (), scheme or ""):
            name = " ".join(sentence.tokens[span.start : span.end])
            found.setdefault(name, {}).setdefault(span.type, []).append(number)
    mixed = {name: types for name, types in found.items() if len(types) > 1}
    names = [
        InconsistentName(
            name, {kind: tuple(types[kind]) for kind in sorted(types, key=lambda k: -len(types[k]))}
        )
        for name, types in mixed.items()
    ]
    return sorted(names, key=lambda each: -sum(len(n) for n in [*each.types.values()][1:]))


def equal_runs(words: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Yield the first positions of disjoint runs of equal words."""
    at, size = 0, len(wanted)
    while at + size <= len(words):
        if words[at] == wanted[0] and tuple(words[at : at + size]) == tuple(wanted):
            yield at
            at += size
        else:
            at += 1
