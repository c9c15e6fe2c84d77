"""Schemes for entities as tags of words: BIO, BIOES and BILOU.

In BIO, `B-X` begins an entity of type X, `I-X` continues it, `O` is outside. BIOES also has `E-X`
for the last word and `S-X` for a single word; BILOU calls them `L-X` and `U-X`.

An `I-X` is illegal at the start, after `O`, and after `B-Y` or `I-Y` of another type. Spans are
read strictly: an illegal `I-X` belongs to no entity, nor does a `B-X` that no `E-X` closes. Call
`repair` first for the lenient reading of conlleval, where an `I-X` may begin an entity.

Source: Ramshaw and Marcus (1995), in the IOB2 variant of Tjong Kim Sang and Veenstra (1999);
Ratinov and Roth, "Design Challenges and Misconceptions in Named Entity Recognition" (2009), for
BILOU.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

BIO = "BIO"  # name of the scheme, in config.json and in links
# prefixes of first, inner, last and single words
SCHEMES = {BIO: "BI", "BIOES": "BIES", "BILOU": "BILU"}
OUTSIDE = "O"
# Universal Dependencies, in the order of their colours: tags that often meet are far apart.
UPOS = (
    "NOUN", "VERB", "ADJ", "DET", "X", "PROPN", "PUNCT", "INTJ", "PRON", "ADV", "ADP", "AUX", "SYM",
    "CCONJ", "PART", "NUM", "SCONJ",
)  # fmt: skip
# The Penn Treebank, with the additions of the English Web Treebank.
PENN = (
    "CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS",
    "PDT", "POS", "PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG",
    "VBN", "VBP", "VBZ", "WDT", "WP", "WP$", "WRB", "ADD", "AFX", "GW", "HYPH", "NFP", "-LRB-",
    "-RRB-",
)  # fmt: skip

# German treebanks (Schiller and others, 1999); SENT ends a sentence in TreeTagger.
STTS = (
    "$,", "$.", "$(", "ADJA", "ADJD", "ADV", "APPO", "APPR", "APPRART", "APZR", "ART", "CARD", "FM",
    "ITJ", "KOKOM", "KON", "KOUI", "KOUS", "NE", "NN", "PAV", "PDAT", "PDS", "PIAT", "PIDAT", "PIS",
    "PPER", "PPOSAT", "PPOSS", "PRELAT", "PRELS", "PRF", "PROAV", "PTKA", "PTKANT", "PTKNEG",
    "PTKVZ", "PTKZU", "PWAT", "PWAV", "PWS", "SENT", "TRUNC", "VAFIN", "VAIMP", "VAINF", "VAPP",
    "VMFIN", "VMINF", "VMPP", "VVFIN", "VVIMP", "VVINF", "VVIZU", "VVPP", "XY",
)  # fmt: skip


@dataclass(frozen=True)
class Span:
    """One entity: the words [start, end) and their type."""

    type: str  # "PER"
    start: int  # first word
    end: int  # one past the last word


def begin(kind: str) -> str:
    return f"B-{kind}"


def inside(kind: str) -> str:
    """Return the tag of later words of an entity."""
    return f"I-{kind}"


def split_tag(tag: str) -> tuple[str, str]:
    """Return prefix and entity type of a tag; ("", tag) for other tags.

    >>> split_tag("B-PER"), split_tag("O"), split_tag("NOUN")
    (('B', 'PER'), ('O', ''), ('', 'NOUN'))
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    if is_begin(tag) or is_inside(tag):
        return tag[0], tag[2:]
    return "", tag


def is_begin(tag: str) -> bool:
    return tag.startswith(begin(""))


def is_inside(tag: str) -> bool:
    return tag.startswith(inside(""))


def with_type(tag: str, kind: str) -> str:
    """Return the tag with another entity type.

    >>> with_type("I-PER", "LOC")
    'I-LOC'
    """
    return inside(kind) if is_inside(tag) else begin(kind)


def types_of(tags: Iterable[str]) -> list[str]:
    """Return the types X with a tag B-X, in tag order."""
    return [split_tag(tag)[1] for tag in tags if is_begin(tag)]


def is_bio(tags: Iterable[str]) -> bool:
    """Return whether all tags are BIO tags with a type, and at least one begins an entity."""
    return entity_scheme(tags) == BIO


def entity_scheme(tags: Iterable[str]) -> str | None:
    """Return the scheme of `SCHEMES` with all these tags, `O` and prefixed types; else None.

    >>> entity_scheme(["O", "B-PER", "E-PER", "S-PER"]), entity_scheme(["O", "NOUN"])
    ('BIOES', None)
    """
    used = {*tags}
    return scheme_of_file(used) if any(map(is_begin, used)) else None


def scheme_of_file(tags: Iterable[str]) -> str | None:
    """Return the scheme of all tags of a file; BIO for only `O`, None for other tags.

    >>> scheme_of_file(["O", "S-PER"]), scheme_of_file(["U-PER"]), scheme_of_file(["NOUN"])
    ('BIOES', 'BILOU', None)
    """
    parts = [tag.partition("-") for tag in tags if tag != OUTSIDE]
    if not all(len(prefix) == 1 and kind for prefix, _, kind in parts):
        return None
    used = {prefix for prefix, _, _ in parts}
    return next((name for name, known in SCHEMES.items() if used <= set(known)), None)


def scheme_of(tags: Iterable[str]) -> str | None:
    return BIO if is_bio(tags) else None


def could_be_bio(tags: Sequence[str]) -> bool:
    """Return whether BIO rules could apply to these tags: `O`, and only BIO tags besides."""
    return set(tags) > {OUTSIDE} and all(split_tag(tag)[0] for tag in tags)


def continues(tag: str, previous: str) -> bool:
    """Return whether `tag` is an `I-X` that may follow `previous`, a `B-X` or `I-X`."""
    return is_inside(tag) and may_follow(tag, previous)


def may_follow(tag: str, previous: str, scheme: str = BIO) -> bool:
    """Return whether `tag` may follow `previous`; `OUTSIDE` stands for sentence borders.

    In BIO every tag may follow, except an `I-X` of another type. In schemes with `E-X` or `L-X` an
    entity must continue until one of these.
    """
    first, inner, last, _ = _letters(scheme)
    (prefix, _, kind), (before, _, old) = tag.partition("-"), previous.partition("-")
    is_open = before in (first, inner)
    if prefix in (inner, last):
        return is_open and old == kind
    return last == " " or not is_open


def _letters(scheme: str) -> list[str]:
    """Return the prefixes of the first, inner, last and single word; blanks for missing ones."""
    return list(SCHEMES[scheme].ljust(4))


def spans(tags: Sequence[str], scheme: str = BIO) -> list[Span]:
    """Return the entities of a tag sequence, in order; an illegal tag belongs to none.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [Span(type='PER', start=0, end=2), Span(type='LOC', start=4, end=5)]
    >>> spans(["B-PER", "E-PER", "B-LOC", "O", "S-LOC"], "BIOES")
    [Span(type='PER', start=0, end=2), Span(type='LOC', start=4, end=5)]
    """
    first, inner, last, only = _letters(scheme)
    entities: list[Span] = []
    begun: Span | None = None  # the entity that the next word may continue
    for position, tag in enumerate(tags):
        prefix, dash, kind = tag.partition("-")
        start = position
        if begun and begun.type == kind and prefix in (inner, last):
            start = begun.start
        elif not dash or prefix not in (first, only):
            begun = None
            continue
        span = Span(kind, start, position + 1)
        if last == " " and start < position:
            entities[-1] = span
        elif prefix in (last, only) or last == " ":
            entities.append(span)
        begun = span if prefix in (first, inner) else None
    return entities


def units(tags: Sequence[str]) -> list[tuple[int, int]]:
    """Return the words [first, end) of each entity, and of each other word; `I-X` begins no entity.

    >>> units(["B-PER", "I-PER", "O", "NOUN"])
    [(0, 2), (2, 3), (3, 4)]
    """
    starts = [t for t, tag in enumerate(tags) if not (t and is_inside(tag))]
    return list(pairwise([*starts, len(tags)]))


def tags_of(entities: Iterable[Span], length: int, scheme: str = BIO) -> list[str]:
    """Return the tags of `length` words from non-overlapping spans: the inverse of `spans`."""
    first, inner, last, only = _letters(scheme)
    tags = [OUTSIDE] * length
    for span in entities:
        words = range(span.start, span.end)
        tags[span.start : span.end] = [f"{inner}-{span.type}" for _ in words]
        tags[span.start] = f"{first}-{span.type}"
        if last != " ":
            tags[span.end - 1] = f"{last if len(words) > 1 else only}-{span.type}"
    return tags


def repair(tags: Sequence[str]) -> list[str]:
    """Return the tags with every illegal `I-X` replaced by `B-X`.

    >>> repair(["O", "I-PER", "I-PER", "I-LOC"])
    ['O', 'B-PER', 'I-PER', 'B-LOC']
    """
    repaired: list[str] = []
    for tag in tags:
        previous = repaired[-1] if repaired else OUTSIDE
        illegal = is_inside(tag) and not may_follow(tag, previous)
        repaired.append(begin(split_tag(tag)[1]) if illegal else tag)
    return repaired
