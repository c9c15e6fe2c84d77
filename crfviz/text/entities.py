"""Entities of tagged words by two rules: conlleval's, and strictly by a scheme.

By conlleval's rule every tag but `O` is in an entity. One begins at `B-X` and `S-X`, after `O`,
`E-X` and `S-X`, and where the type changes.

Strictly, an entity is spelled as its scheme wants it. Ill-formed and unclosed ones do not count:

| scheme       | begins with                                | goes on with | ends with    |
|--------------|--------------------------------------------|--------------|--------------|
| BIO          | `B-X`                                      | `I-X`        | any of these |
| IOB1         | `I-X`, or `B-X` right after one of its type | `I-X`        | any of these |
| IOE2         | `I-X` or `E-X`                             | `I-X`        | `E-X`        |
| BIOES, BILOU | `B-X`; `S-X`, `U-X` alone                  | `I-X`        | `E-X`, `L-X` |
| IO           | `X`                                        | `X`          | `X`          |

Source: conlleval.pl of Tjong Kim Sang and Buchholz (2000), whose rule has no `S-X`: it is that of
seqeval's default mode here. The strict mode of seqeval 1.2.2 reads the same entities.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from crfviz.text.schemes import BIO, OUTSIDE, SCHEMES, Span, spans

IOB1, IOE2, IO = "IOB1", "IOE2", "IO"
UNTYPED = "_"  # type of the bare tags B and I
TYPE_NAMES = {  # by type: its names in data sets
    "PER": ("PER", "PERS", "PERSON", "PEOPLE"),
    "LOC": ("LOC", "LOCATION", "GPE", "GEO", "GEO-LOC", "PLACE", "FAC", "FACILITY"),
    "ORG": ("ORG", "ORGANIZATION", "ORGANISATION", "CORPORATION", "COMPANY"),
    "MISC": ("MISC", "MISCELLANEOUS"),
}
_TAG = re.compile(r"([BIESLUMW])(?:-(.+))?")
_LETTERS = {"L": "E", "U": "S", "M": "I", "W": "S"}  # as BIOES spells them
_ENDED = ("O", "E", "S")  # after these a word begins an entity
Part = tuple[str, str]  # prefix and type of a tag; ("O", "") outside


def usual_type(kind: str) -> str:
    """Return the usual name of an entity type, such as LOC for "gpe"; others in capitals."""
    name = kind.upper()
    return next((usual for usual, names in TYPE_NAMES.items() if name in names), name)


def parts_of(tags: Sequence[str]) -> list[Part]:
    """Return prefix and type of each tag; other tags than entities have the prefix ""."""
    parts = []
    for tag in tags:
        match = _TAG.fullmatch(tag)
        if tag == OUTSIDE:
            parts.append(("O", ""))
        else:
            parts.append((match[1], match[2] or UNTYPED) if match else ("", tag))
    return parts


def scheme_of_sentences(sentences: Iterable[Sequence[str]]) -> str | None:
    """Return the scheme of the tags of a file; None without prefixes.

    BIO and IOB1 have the same tags: the majority of the first tags of entities decides.

    >>> scheme_of_sentences([["I-PER", "I-PER", "O", "I-LOC"]])
    'IOB1'
    >>> (
    ...     scheme_of_sentences([["I-PER", "E-PER", "O", "B-LOC", "E-LOC"]]),
    ...     scheme_of_sentences([["O"]]),
    ... )
    ('BIOES', 'BIO')
    """
    parts = [parts_of(tags) for tags in sentences]
    used = {prefix for each in parts for prefix, _ in each}
    if "" in used:
        return None
    if used & set("LU"):
        return "BILOU"
    if used & set("SMW") or used >= set("BE"):
        return "BIOES"
    if "E" in used:
        return IOE2
    return IOB1 if _is_iob1(parts) else BIO


def _is_iob1(sentences: Iterable[Sequence[Part]]) -> bool:
    """Return whether more entities begin with I-X than with B-X that does not follow its type."""
    inner = outer = 0
    for parts in sentences:
        for (_, before), (prefix, kind) in pairwise([("O", ""), *parts]):
            inner += prefix == "I" and kind != before
            outer += prefix == "B" and kind != before
    return inner > outer


def lenient_entities(tags: Sequence[str]) -> list[Span]:
    """Return the entities of a sentence by conlleval's rule, in order.

    >>> lenient_entities(["I-PER", "I-PER", "I-LOC", "O", "B-LOC", "B-LOC"])[:2]
    [Span(type='PER', start=0, end=2), Span(type='LOC', start=2, end=3)]
    """
    found: list[Span] = []
    before, old = "O", ""
    for t, (written, kind) in enumerate(parts_of(tags)):
        prefix = _LETTERS.get(written, written)
        if prefix != "O":
            if prefix in ("B", "S") or kind != old or before in _ENDED:
                found.append(Span(kind, t, t + 1))
            else:
                found[-1] = Span(kind, found[-1].start, t + 1)
        before, old = prefix, kind
    return found


def strict_entities(tags: Sequence[str], scheme: str) -> list[Span]:
    """Return the entities of a sentence that are spelled as a scheme wants it, in order.

    >>> strict_entities(["I-PER", "I-PER", "O", "B-LOC"], "IOB1")
    [Span(type='PER', start=0, end=2)]
    """
    parts = parts_of(tags)
    if scheme == IO:
        return lenient_entities(tags)
    if scheme in SCHEMES:
        letters = dict(zip("MW", "IS", strict=True)) if scheme == "BIOES" else {}
        return spans(
            [_spelled(letters.get(prefix, prefix), kind) for prefix, kind in parts], scheme
        )
    found: list[Span] = []
    start = 0  # of the open entity
    is_open = False
    for t, ((before, old), (prefix, kind)) in enumerate(pairwise([("O", ""), *parts, ("O", "")])):
        same = old == kind
        if is_open and same and prefix == "I" and before in "BI":
            continue
        if is_open and same and scheme == IOE2 and (before, prefix) == ("I", "E"):
            continue
        if is_open and _ends(before, prefix, scheme, same=same):
            found.append(Span(old, start, t))
        is_open, start = _begins(before, prefix, scheme, same=same), t
    return found


def _spelled(prefix: str, kind: str) -> str:
    return f"{prefix}-{kind}" if prefix not in ("", "O") else prefix or kind


def _begins(before: str, prefix: str, scheme: str, *, same: bool) -> bool:
    """Return whether a tag may begin an entity of IOB1 or IOE2."""
    if scheme == IOE2:
        return prefix in ("I", "E") and (before in ("O", "E") or (before == "I" and not same))
    if prefix == "I":
        return before == "O" or before == "B" or (before == "I" and not same)
    return prefix == "B" and same and before in ("B", "I")


def _ends(before: str, prefix: str, scheme: str, *, same: bool) -> bool:
    """Return whether an entity of IOB1 or IOE2 may end between two tags."""
    if scheme == IOE2:
        return before == "E"
    if prefix == "B":
        return before == "I" or same
    return prefix in ("O", "I")
