"""Tags of different kinds, in one document or in one file of several documents.

Entities and parts of speech are never mixed, nor are UPOS (Universal Dependencies) and XPOS (Penn
Treebank), the two tag columns of English CoNLL-U. A document that was begun with a model keeps the
tags of that model, and forms one tag set only with documents of the same tags.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from crfviz.annotations.records import Pair
from crfviz.text.schemes import OUTSIDE, PENN, UPOS, split_tag

Kind = Literal["UPOS", "Penn", "entity", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ENTITY = re.compile(r"[BIESLU]-")  # BIO, BIOES and BILOU
OF_ONE = {"UPOS": frozenset(UPOS) - {*PENN, "X"}, "Penn": frozenset(PENN) - {*UPOS}}
WORDS: frozenset[Kind] = frozenset({"UPOS", "Penn", "other"})
# kinds that are never mixed in one document
SIDES: tuple[tuple[frozenset[Kind], frozenset[Kind]], ...] = (
    (WORDS, frozenset({"entity"})),
    (frozenset({"UPOS"}), frozenset({"Penn"})),
)
MAX_SHOWN = 3  # documents or tags of a set in a message
LONGEST = 60  # characters of a name


@dataclass(frozen=True)
class TagRules:
    """The tags that a file may have."""

    # allowed gold tags; None allows any; unknown ones are dropped
    tags: Collection[str] | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # mapping of the file's gold tags
    mixed: bool = False  # whether a document may mix entities and parts of speech


@dataclass
class TagSet:
    """Documents that are labelled with the same tags."""

    documents: list[str]
    used: set[str]  # tags in the sentences
    models: set[str]
    tags: frozenset[str] | None  # all tags; None without a known model


def kinds(tags: Collection[str]) -> set[Kind]:
    """Return the kinds of tags; `O` belongs to all kinds, and tags such as `SYM` to "other".

    >>> kinds(["O", "B-PER"]), kinds(["NOUN"]), kinds(["NNS", "NN"]), kinds(["mine"]), kinds(["O"])
    ({'entity'}, {'UPOS'}, {'Penn'}, {'other'}, set())
    """
    return {_kind(tag) for tag in tags if tag != OUTSIDE}


def _kind(tag: str) -> Kind:
    if ENTITY.match(tag):
        return "entity"
    if tag in OF_ONE["UPOS"]:
        return "UPOS"
    return "Penn" if tag in OF_ONE["Penn"] else "other"


def apart(some: Collection[Kind], others: Collection[Kind]) -> bool:
    """Return whether the kinds of two sets must not be mixed; "other" mixes with parts of speech.

    >>> apart({"UPOS"}, {"Penn", "other"}), apart({"other"}, {"Penn"}), apart({"entity"}, {"other"})
    (True, False, True)
    """
    telling, told = ({*each} - {"other"} or {*each} for each in (some, others))
    pairs = [{one, other} for one in telling for other in told]
    return bool(pairs) and all(
        any(pair & one and pair & other for one, other in SIDES) for pair in pairs
    )


def example(tags: Collection[str]) -> str:
    """Return one of the tags other than `O`, quoted for a message."""
    return repr(min(tag for tag in tags if tag != OUTSIDE)[:LONGEST])


def strangers(rows: Sequence[Collection[str]]) -> dict[int, str]:
    """Return messages on rows whose tags are of another kind than most, or of two kinds.

    A row has the tags of one sentence; the keys of the result are row numbers.
    """
    found = dict(enumerate(map(kinds, rows)))
    told: dict[int, str] = {}
    for one, other in SIDES:
        of_one = sum(bool(each & one and not each & other) for each in found.values())
        of_other = sum(bool(each & other and not each & one) for each in found.values())
        usual, odd = (other, one) if of_other > of_one else (one, other)
        strange = [number for number, each in found.items() if each & odd]
        rows_left = [rows[number] for number in found] if strange else []
        there = [tag for row in rows_left for tag in row if kinds([tag]) & usual]
        if not there:
            continue
        others = example(there)
        for number in strange:
            got = example([tag for tag in rows[number] if kinds([tag]) & odd])
            told[number] = (
                f"expected tags of one kind in a document, got {got} beside tags such as {others}"
            )
            del found[number]
    return told


def tag_sets(pairs: Sequence[Pair], known: Mapping[str, Sequence[str] | None]) -> list[TagSet]:
    """Return the tag sets of some annotations; a file holds one tag set.

    A document without its own tags joins a set that has all its tags. Two such documents form one
    set if they name the same model or share a tag.

    Args:
        pairs: sentences of any documents with their annotations.
        known: the tags that each document was begun with; None if unknown.

    """
    documents: dict[str, TagSet] = {}
    for item, annotation in pairs:
        if item.document not in documents:
            tags = known.get(item.document)
            whole = None if tags is None else frozenset(tags)
            documents[item.document] = TagSet([item.document], set(), set(), whole)
        documents[item.document].used.update(annotation.final)
        documents[item.document].models |= {annotation.model} - {""}
    parts = [part for each in documents.values() for part in _of_one_kind(each)]
    sets: list[TagSet] = []
    for part in sorted(parts, key=lambda each: each.tags is None):
        fitting = next((each for each in sets if _belong(each, part)), None)
        if fitting is None:
            sets.append(part)
        else:
            fitting.documents += part.documents
            fitting.used |= part.used
            fitting.models |= part.models
    return sets


def in_words(sets: Sequence[TagSet]) -> str:
    """Describe the sets and their documents, for a message."""
    told = []
    for each in sets[:MAX_SHOWN]:
        documents = _listed([repr(name[:LONGEST]) for name in each.documents])
        told.append(f"{documents} ({_listed([tag[:LONGEST] for tag in sorted(each.used)])})")
    return "; ".join([*told, "…"] if len(sets) > MAX_SHOWN else told)


def _of_one_kind(document: TagSet) -> list[TagSet]:
    """Split a document by the kinds of its tags, unless it has tags of its own."""
    if document.tags is not None:
        return [document]
    tags = document.used - {OUTSIDE}
    used = {kind: {tag for tag in tags if _kind(tag) == kind} for kind in KINDS}
    used["UPOS" if used["UPOS"] else "Penn"] |= used.pop("other")  # "other" tags mix with both
    names, models = document.documents, document.models
    return [TagSet([*names], part, {*models}, None) for part in used.values() if part]


def _belong(there: TagSet, part: TagSet) -> bool:
    if part.tags is not None:
        return part.tags == there.tags
    if there.tags is not None:
        return part.used <= there.tags
    if apart(kinds(part.used), kinds(there.used)):
        return False
    return bool(part.models & there.models or _types(part.used) & _types(there.used))


def _types(tags: Collection[str]) -> set[str]:
    return {split_tag(tag)[1] for tag in tags}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_SHOWN]) + ", …" * (len(names) > MAX_SHOWN)
