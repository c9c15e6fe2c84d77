"""Sentences that several people labelled: where their copies contradict, and which copies go on.

What learns from contradicting copies learns both. So who hands sentences on chooses one annotator,
or a way to settle it: sentences with

- agreed: one version only, once each;
- majority: a version that more than half of their annotators gave, once each;
- all: whatever anybody said, every copy, for files that are to be merged elsewhere.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from crfviz.annotations.records import Annotation, Item
from crfviz.exceptions import CrfvizError
from crfviz.text.sentences import Offsets

Way = Literal["agreed", "majority", "all"]
WAYS: tuple[Way, ...] = get_args(Way)
Pair = tuple[Item, Annotation]
_Version = tuple[Offsets, tuple[str, ...]]  # what has to be the same in two copies


def contradicting(pairs: Sequence[Pair]) -> list[Item]:
    """The sentences whose copies differ in words or tags, in their order."""
    return [copies[0][0] for copies in _by_sentence(pairs) if len(_votes(copies)) > 1]


def settled(pairs: Sequence[Pair], way: Way | None) -> list[Pair]:
    """The copies that go on.

    Args:
        pairs: sentences with what anybody said about them, as the store gives them.
        way: what is done about contradicting copies; None: they are refused.

    Raises:
        CrfvizError: there are such copies and no way was chosen; says how many sentences.
    """
    apart = len(contradicting(pairs))
    if way is None and apart:
        raise CrfvizError(
            f"annotators disagree about {apart} of {len(_by_sentence(pairs))} sentences: expected "
            f"one annotator, or one of {', '.join(WAYS)} copies"
        )
    if way is None or way == "all":
        return list(pairs)
    kept = []
    for copies in _by_sentence(pairs):
        version, votes = _votes(copies).most_common(1)[0]
        if votes == len(copies) or (way == "majority" and 2 * votes > len(copies)):
            kept.append(next(pair for pair in copies if _version(pair) == version))
    return kept


def _by_sentence(pairs: Sequence[Pair]) -> list[list[Pair]]:
    sentences: dict[int, list[Pair]] = {}
    for pair in pairs:
        sentences.setdefault(pair[0].id, []).append(pair)
    return list(sentences.values())


def _version(pair: Pair) -> _Version:
    return pair[1].offsets, pair[1].final


def _votes(copies: Sequence[Pair]) -> Counter[_Version]:
    return Counter(map(_version, copies))
