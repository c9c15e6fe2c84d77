"""Normalisation of entity tags, and the scheme of a whole file.

| written as                    | becomes                       |
|-------------------------------|-------------------------------|
| IOB1, IOE1, IOE2, IO          | BIO                           |
| BMES, BMEWO                   | BIOES                         |
| `(PER*`, `*)`, `*`            | BIO                           |
| `B_PER`, `PER-B`, `b-PER`     | `B-PER`                       |
| `B:PER`, `B/PER`, `<B-PER>`   | `B-PER`                       |
| `BPER` beside `IPER` and `O`  | `B-PER`                       |
| `PER`, `O` (IO, known types)  | `B-PER`, `I-PER`, `O`         |
| BIO, BIOES, BILOU, other tags | what they are                 |

In IOB1 an entity begins with `I-X`, and with `B-X` only directly after another of its type. A
single sentence could be BIO with errors; a whole file in BIO has some `B-X` elsewhere.

Source: Ramshaw and Marcus (1995) for IOB1; Tjong Kim Sang and Veenstra (1999) for the variants.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.entities import TYPE_NAMES
from crfviz.text.files import abbreviate
from crfviz.text.readers.kinds import KNOWN
from crfviz.text.readers.rows import are_brackets, entities_of_brackets
from crfviz.text.schemes import (
    BIO,
    OUTSIDE,
    SCHEMES,
    Span,
    entity_scheme,
    repair,
    scheme_of_file,
    spans,
    tags_of,
)
from crfviz.text.sentences import Sentence

AS_WRITTEN = "as written"  # a target that keeps all tags as they are
IOB1 = "IOB1"  # only a target: IOB1 files are read as BIO
TARGETS = (*SCHEMES, IOB1)
_PREFIXED = re.compile(r"[BIESLU]-.+")
_USUAL = re.compile(r"[BIESLU]-.+|-[A-Z]+-|(?!o$)[^-_*]*")
_OPENING, _CLOSING = re.compile(r"[<\[({]"), re.compile(r"[>\])}]")
_SPELLINGS: tuple[re.Pattern[str], ...] = (
    re.compile(r"(?P<prefix>[BIESLUMW])-(?P<kind>.+)"),
    re.compile(r"(?P<prefix>[BIESLUMWbieslumw])[\W_]+(?P<kind>.+)"),
    re.compile(r"(?P<kind>.+)[\W_](?P<prefix>[BIESLUMW])"),
    re.compile(r"(?P<prefix>[BIESLUMW])(?P<kind>[A-Z][A-Za-z]+)"),  # only as in `respelled`
)
IO = "IO"  # a target only where a tagger has such tags
IO_TYPES = {  # types of entities that are no parts of speech
    *(name for names in TYPE_NAMES.values() for name in names),
    *("DATE", "TIME", "MONEY", "PERCENT", "NORP", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW"),
    *("LANGUAGE", "QUANTITY", "ORDINAL", "CARDINAL"),
}
NOT_OUTSIDE = {"0", "-", "_", "\u041e", "\u039f"}  # the last two: Cyrillic and Greek capitals
_BMES = (set("BMES"), set("BMEW"), set("BMEWS"))


@dataclass(frozen=True)
class Tagged:
    """A sentence of a file with its first line number."""

    line: int
    sentence: Sentence
    error: FormatError | None = None  # why it is unreadable; it then has no words
    own: Any = None  # what the caller of a reader keeps beside it, see `ObjectReader.own`


def usual(sentences: Iterable[Tagged], told: Callable[[str], object]) -> Iterator[Tagged]:
    """Yield sentences with normalised tags, see the table; `told` is called with notes.

    Sentences with normal tags are yielded at once. After the first tag that may need a conversion,
    sentences wait for the end of the file.
    """
    begins = False  # whether a B-X occurred where IOB1 has none
    known: set[str] = set()  # normal tags so far
    entities: set[str] = set()  # entity tags among them
    iterator = iter(sentences)
    for tagged in iterator:
        tags = tagged.sentence.tags or ()
        here = set(tags)
        odd = False
        if not here <= known:
            odd = any(map(_is_odd, here - known)) or bool(here & IO_TYPES)
            known |= here
            entities |= {tag for tag in here if tag[1:2] == "-"}
        illegal = False
        if not begins and here & entities:
            begins, illegal = _starts(tags)
        ends = any(tag.startswith("E-") for tag in entities) and not begins
        if odd or ends or (illegal and not begins):
            yield from _decided([tagged, *iterator], known, told, begins=begins)
            return
        yield tagged


def _is_odd(tag: str) -> bool:
    """Return whether a tag may have another normal form, depending on the others of its file."""
    if tag == OUTSIDE or _PREFIXED.fullmatch(tag):
        return False
    bare = _bare(tag)
    is_spelled = any(spelling.fullmatch(bare) for spelling in _SPELLINGS)
    return (is_spelled and tag not in KNOWN) or bare == OUTSIDE or _USUAL.fullmatch(tag) is None


def _bare(tag: str) -> str:
    """Return a tag without brackets around it or its type, such as B-PER for <B-PER>."""
    return _CLOSING.sub("", _OPENING.sub("-", tag)).strip("-_")


def _starts(tags: Sequence[str]) -> tuple[bool, bool]:
    """Return whether a B-X does not follow its own type, and whether an I-X begins an entity."""
    before, begins, illegal = OUTSIDE, False, False
    for tag in tags:
        if tag != OUTSIDE and tag[1:2] == "-" and tag[0] in "BI":
            same = before[1:2] == "-" and before[2:] == tag[2:]
            begins = begins or (tag[0] == "B" and not same)
            illegal = illegal or (tag[0] == "I" and not same)
        before = tag
    return begins, illegal


def _decided(
    waiting: Sequence[Tagged],
    before: Collection[str],
    told: Callable[[str], object],
    *,
    begins: bool,
) -> Iterator[Tagged]:
    """Yield the rest of a file after checking all its tags."""
    tags = {*before, *(tag for each in waiting for tag in each.sentence.tags or ())}
    if are_brackets(tags) and any("(" in tag for tag in tags):
        yield from (_retagged(each, entities_of_brackets) for each in waiting)
        return
    if OUTSIDE in tags and is_io(tags):
        told("entities without prefixes (IO): read as BIO")
        yield from (_retagged(each, _of_io) for each in waiting)
        return
    names = respelled(sorted(tags))
    rest = [_renamed(each, names) for each in waiting]
    if any(old != new for old, new in names.items()):
        example = next((old, new) for old, new in names.items() if old != new)
        told(f"tags such as {example[0]} were read as {example[1]}")
    used = {tag[0] for tag in names.values() if tag != OUTSIDE and tag[1:2] == "-"}
    if used in ({"E"}, {"I", "E"}):
        told("entities end with E- (IOE1 or IOE2): read as BIO")
        yield from (_retagged(each, _of_ioe) for each in rest)
        return
    starts = [_starts(each.sentence.tags or ()) for each in rest]
    begins = begins or any(begun for begun, _ in starts)
    if used and used <= set("BI") and not begins and any(illegal for _, illegal in starts):
        told("entities begin with I- (IOB1): read as BIO")
        rest = [_retagged(each, repair) for each in rest]
    yield from rest


def require_one_set(tags: Collection[str], name: str) -> None:
    """Reject entity tags beside a mark that may stand for `O`, such as B-PER and 0, or OUT alone.

    Raises:
        FormatError: names two such tags.
    """
    entities = sorted(tag for tag in tags if _PREFIXED.fullmatch(tag))
    free = {tag for tag in tags if tag != OUTSIDE and not _PREFIXED.fullmatch(tag)}
    others = sorted(free if OUTSIDE not in tags and len(free) == 1 else free & NOT_OUTSIDE)
    if others and any(tag[0] == "B" for tag in entities):
        raise FormatError(
            f"{name}: expected entity tags such as {abbreviate(entities[0])} or O, got "
            f"{abbreviate(others[0])}; correct the tag, or name another column with tags="
        )


def is_io(tags: Collection[str]) -> bool:
    """Return whether tags are known types of entities without prefixes, and `O`."""
    return bool(types := {*tags} - {OUTSIDE}) and types <= IO_TYPES


def _of_io(tags: Sequence[str]) -> list[str]:
    return repair([tag if tag == OUTSIDE else f"I-{tag}" for tag in tags])


def _of_ioe(tags: Sequence[str]) -> list[str]:
    """Return the BIO tags of IOE1 or IOE2, which are IOB1 and IOB2 read from the end."""
    turned = [f"B-{tag[2:]}" if tag[:2] == "E-" else tag for tag in tags[::-1]]
    length = len(tags)
    found = spans(repair(turned))
    return tags_of([Span(e.type, length - e.end, length - e.start) for e in found], length)


def respelled(tags: Sequence[str]) -> dict[str, str]:
    """Return the normal form of each tag of a file; the tag itself if no spelling fits all."""
    same = {tag: OUTSIDE for tag in tags if _bare(tag) in (OUTSIDE, "o")}
    entities = [tag for tag in tags if tag not in same]
    for spelling in _SPELLINGS:
        bare = str if spelling is _SPELLINGS[0] else _bare
        parts = [spelling.fullmatch(bare(tag)) for tag in entities]
        if not all(parts):
            continue
        found = [(part["prefix"].upper(), part["kind"]) for part in parts if part]
        prefixes = {prefix for prefix, _ in found}
        kinds = {kind for _, kind in found}
        if spelling is _SPELLINGS[-1] and not (
            same and "B" in prefixes and len(kinds) < len(found)
        ):
            continue  # SYM alone is no S-YM; BPER beside IPER and O is B-PER
        begins = "B" in prefixes or (same and "I" in prefixes)
        if not begins and not all("-" in tag or "_" in tag for tag in entities):
            continue  # S:subj and S:obj are no entities of one word
        changes = {"M": "I", "W": "S"} if any(prefixes <= each for each in _BMES) else {}
        if not (prefixes <= set("BIESLU") or changes):
            continue
        names = (f"{changes.get(prefix, prefix)}-{kind}" for prefix, kind in found)
        return dict(zip(entities, names, strict=True)) | same
    return {tag: tag for tag in tags}


def _renamed(tagged: Tagged, names: dict[str, str]) -> Tagged:
    return _retagged(tagged, lambda tags: [names.get(tag, tag) for tag in tags])


def _retagged(tagged: Tagged, change: Callable[[Sequence[str]], Sequence[str]]) -> Tagged:
    sentence = tagged.sentence
    if sentence.tags is None:
        return tagged
    return replace(tagged, sentence=replace(sentence, tags=tuple(change(sentence.tags))))


def target_scheme(name: str) -> str:
    """Return a scheme of `TARGETS` by its name in any case; IOB and IOB2 are BIO.

    Raises:
        FormatError: the scheme is unknown.
    """
    scheme = {"IOB2": BIO, "IOB": BIO}.get(name.upper(), name.upper())
    if scheme not in (*TARGETS, IO):
        raise FormatError(
            f"expected one of the schemes {', '.join(TARGETS)}, got {abbreviate(name)}"
        )
    return scheme


def converted(sentences: Iterable[Tagged], scheme: str, *, strict: bool = True) -> Iterator[Tagged]:
    """Yield all sentences with their entities in another scheme of `TARGETS`.

    Raises:
        FormatError: the tags have no scheme; if not `strict`, they are unchanged.
    """
    every = list(sentences)
    tags = {tag for each in every for tag in each.sentence.tags or ()}
    own = scheme_of_file(tags)
    if own is None and not strict:
        yield from every
        return
    if own is None:
        strange = odd_tag(tags)
        raise FormatError(
            f"expected entity tags to convert to {scheme}, such as B-PER, got {abbreviate(strange)}"
        )
    for each in every:
        yield _retagged(each, lambda tags: convert_tags(tags, own, scheme))


def scheme_like(tags: Collection[str]) -> str | None:
    """Return the scheme of a tagger's tags: BIO, BIOES, BILOU or IO; None for other tags."""
    return IO if is_io(tags) else entity_scheme(tags)


def in_scheme(sentences: Sequence[Sentence], scheme: str | None) -> Sequence[Sentence]:
    """Return sentences with their entities in a scheme; None and other tags change nothing."""
    own = scheme_of_file({tag for each in sentences for tag in each.tags or ()})
    if scheme is None or own in (None, scheme):
        return sentences
    tagged = (Tagged(0, each) for each in sentences)
    return [each.sentence for each in converted(tagged, scheme, strict=False)]


def odd_tag(tags: Iterable[str]) -> str:
    """Return the first tag, in alphabetical order, that fits no scheme with those before it.

    >>> odd_tag(["B-PER", "E-PER", "O", "U-LOC"]), odd_tag(["B-PER", "NOUN"])
    ('U-LOC', 'NOUN')
    """
    seen: set[str] = set()
    for tag in sorted(tags):
        seen.add(tag)
        if scheme_of_file(seen) is None:
            return tag
    return OUTSIDE


def entities_of(tags: Sequence[str], own: str) -> list[Span]:
    """Return the entities of a sentence; in BIO an `I-X` may begin one.

    Raises:
        FormatError: a tag other than `O` belongs to no entity; names it.
    """
    entities = spans(repair(tags) if own == BIO else tags, own)
    inside = {t for entity in entities for t in range(entity.start, entity.end)}
    lost = next((t for t, tag in enumerate(tags) if tag != OUTSIDE and t not in inside), None)
    if lost is not None:
        around = " ".join(tags[max(lost - 1, 0) : lost + 2])
        raise FormatError(
            f"expected entities in {own}, got {abbreviate(tags[lost])} in {abbreviate(around)}, "
            f"which belongs to none; correct the tag, or keep the scheme"
        )
    return entities


def convert_tags(tags: Sequence[str], own: str, scheme: str) -> Sequence[str]:
    """Return the same entities in another scheme.

    >>> convert_tags(["U-PER", "O", "B-LOC", "L-LOC"], "BILOU", "BIO")
    ['B-PER', 'O', 'B-LOC', 'I-LOC']
    >>> convert_tags(["B-PER", "B-PER", "O", "B-LOC", "I-LOC"], "BIO", "IOB1")
    ['I-PER', 'B-PER', 'O', 'I-LOC', 'I-LOC']
    """
    if own == scheme:
        return tags
    entities = entities_of(tags, own)
    if scheme == IO:
        plain = [OUTSIDE] * len(tags)
        for entity in entities:
            plain[entity.start : entity.end] = [entity.type] * (entity.end - entity.start)
        return plain
    if scheme != IOB1:
        return tags_of(entities, len(tags), scheme)
    written = tags_of(entities, len(tags))
    ends = {(entity.end, entity.type) for entity in entities}
    for entity in entities:
        if (entity.start, entity.type) not in ends:
            written[entity.start] = f"I-{entity.type}"
    return written
