"""What the values of a column are: words, tags of which kind, numbers, lemmas, attributes."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from crfviz.text.schemes import OUTSIDE, PENN, STTS, UPOS

MARK = "[-_:/|~+#@\u2010-\u2015\u2212\uff0d]"  # between the prefix of an entity tag and its type
_OPEN, _CLOSE = r"[<\[({]?", r"[>\])}]?"  # around such a tag
ENTITY = re.compile(
    rf"{_OPEN}(?:[Oo]|[BIESLUMW]{MARK}\S+|[bieslumw][-_:]\S+|\S+{MARK}[BIESLUMW]){_CLOSE}"
    r"|\(?[\w-]*\*\)?|[BIESLUMW]"
)
FULL_ENTITY = re.compile(
    rf"{_OPEN}(?:[BIESLUMW]{MARK}[A-Z]{{2,}}|[A-Z]{{2,}}{MARK}[BIESLUMW]){_CLOSE}"
)
_PREFIX = re.compile(rf"{_OPEN}[BIESLUMW]{MARK}")
KNOWN = {*UPOS, *PENN, *STTS, *".,:;!?\"'`()#$", "``", "''", "--", "...", "HYPH", "_", "-", "X"}
BARE = set("BIESLUMW")  # prefixes without a type
_CHUNK = re.compile(r"O|[BIES]-(?:NP|VP|PP|ADVP|ADJP|SBAR|PRT|CONJP|INTJ|LST|UCP)")
CAPITAL = re.compile(r"[A-Z$.,:;!?'\"`()#\[\]{}-][A-Z0-9$_|+:.,'\"`)(\[\]-]*")
_TYPE = re.compile(r"O|[A-Z][A-Z0-9_]+")
_NO_TAG = re.compile(r"[-_]?|[-_]?[0-9]+(?:[.,:/-][0-9]+)?")  # empty, a dash or a number
_RANGE = re.compile(r"[0-9]+[-.][0-9]+")  # of words in CoNLL-U
_ATTRIBUTE = re.compile(r"\w+(?:\[-?[0-9]+\])?(?:\|\w+\[-?[0-9]+\])*=\S*")  # w[0]=Nora
MIN_CAPITAL_ROWS, MIN_REPEATED_ROWS = 3, 6
MAX_REPEATED = 30  # values of a column of tags
Column = Sequence[str]  # the values in a column
# entities, chunks and parts of speech are evidence of tags; weak ones look like tags of a set
# that is not known; a constant has one value or none
Kind = Literal["entities", "types", "chunks", "speech", "weak", "ids", "constant", "words"]
STRONG = ("entities", "types", "chunks", "speech")


def kind_of(values: Column) -> Kind:
    """Return what the values of a column show."""
    different = {*values}
    if all(value in ("", "_", "-") for value in values):
        return "constant"
    if _are_entities(values):
        return "chunks" if all(map(_CHUNK.fullmatch, values)) else "entities"
    if len(different) == 1 and len(values) >= MIN_CAPITAL_ROWS:
        return "constant"
    if all(map(_NO_TAG.fullmatch, values)) or _are_ids(values):
        return "ids"
    if all(value in KNOWN for value in values):
        letters = any(value[:1].isalpha() for value in values)
        return "speech" if letters and len(values) > 1 else "words"
    if _are_types(values):
        return "types"
    sparse = 2 * sum(value in ("", "_", "-") for value in values) >= len(values)
    if sparse and len(values) >= MIN_CAPITAL_ROWS:
        return "constant"
    if all(map(CAPITAL.fullmatch, values)) and len(values) >= MIN_CAPITAL_ROWS:
        return "weak"
    most = min(len(values) // 3, MAX_REPEATED)
    if len(values) >= MIN_REPEATED_ROWS and len(different) <= most:
        return "weak"
    return "words"


def _are_entities(values: Column) -> bool:
    if not all(ENTITY.fullmatch(value) for value in values):
        return False
    full = any(FULL_ENTITY.match(value) or value[:2] in ("B-", "S-", "U-") for value in values)
    brackets = any("*" in value for value in values) and len({*values}) > 1
    bare = OUTSIDE in values and bool({*values} & BARE) and {*values} <= {OUTSIDE, *BARE}
    return full or brackets or bare or (OUTSIDE in values and len({*values}) > 1)


def _are_types(values: Column) -> bool:
    """Return whether a third of the values are `O`, and the others repeat or are capitals."""
    different = {*values} - {OUTSIDE}
    named = all(_TYPE.fullmatch(value) for value in values) and len(values) >= MIN_CAPITAL_ROWS
    most = OUTSIDE in values and 3 * values.count(OUTSIDE) >= len(values)
    return bool(different) and OUTSIDE in values and (named or most)


def _are_ids(values: Column) -> bool:
    """Return whether values are numbers, offsets or ids, such as 3, 0-4, s1-t3 or doc_7."""
    return len(values) >= MIN_CAPITAL_ROWS and all(
        value[-1:].isdigit() or value in ("", "_", "-") for value in values
    )


def are_lemmas(words: Column, values: Column) -> bool:
    """Return whether half of the values repeat their words, as in TreeTagger."""
    pairs = [(w, v) for w, v in zip(words, values, strict=True) if any(map(str.isalpha, w))]
    same = sum(w.casefold() == v.casefold() for w, v in pairs)
    return len(pairs) > 1 and 2 * same >= len(pairs)


def are_texts(values: Column) -> bool:
    """Return whether most values have several words."""
    texts = sum(" " in value and ENTITY.fullmatch(value) is None for value in values)
    return 2 * texts > len(values) > 1


def have_one_prefix(values: Column) -> bool:
    """Return whether all values are a name, an equals sign and a value, of one name."""
    names = {value.partition("=")[0] for value in values}
    marked = all("=" in value[1:] for value in values)
    return len(values) >= MIN_CAPITAL_ROWS and len(names) == 1 and marked


def are_attributes(values: Column) -> bool:
    found = sum(_ATTRIBUTE.fullmatch(value) is not None for value in values)
    return found >= 2 and 2 * found > len(values) and any("]=" in value for value in values)


def are_tags(values: Sequence[str], *, in_blocks: bool = False) -> bool:
    """Return whether a second column looks like tags rather than words.

    `wear Z-strap` and `Dogs run .` are sentences. Unknown tags count only in files with blank lines
    between blocks, if they are upper case or a few are repeated often.
    """
    if not values:
        return False
    if all(ENTITY.fullmatch(value) for value in values):
        return len(values) > 1 or FULL_ENTITY.fullmatch(values[0]) is not None
    if all(value in KNOWN for value in values):
        return len(values) > 1 and any(value[0].isalpha() for value in values)
    several = OUTSIDE in values and len(values) >= MIN_CAPITAL_ROWS and len({*values}) > 1
    if several and all(_TYPE.fullmatch(value) for value in values):
        return True  # IO: types without prefixes
    if not in_blocks:
        return False
    if all(CAPITAL.fullmatch(value) for value in values):
        return len(values) >= MIN_CAPITAL_ROWS
    return len(values) >= MIN_REPEATED_ROWS and 3 * len(set(values)) <= len(values)


def are_counts(values: Sequence[str]) -> bool:
    """Return whether a column numbers the words: each cell is one more than before, or the first.

    Ranges such as 3-4 do not count.
    """
    values = [value for value in values if not _RANGE.fullmatch(value)]
    if not values or not all(value.isdecimal() and len(value) < 6 for value in values):
        return False
    numbers = [int(value) for value in values]
    first = numbers[0]
    steps = [b in (first, a + 1) for a, b in pairwise(numbers)]
    return first in (0, 1) and all(steps) and (len(numbers) == 1 or max(numbers) > first)


def are_gold_and_predicted(gold: Column, predicted: Column) -> bool:
    """Return whether two columns share a tag set and most tags, as in conlleval."""
    pairs = list(zip(gold, predicted, strict=True))
    # Their schemes may differ, such as BIO and BIOES, so that only the types are the same.
    first, second = ({*map(_type, values)} - {OUTSIDE, "_"} for values in (gold, predicted))
    common = first & second
    if 2 * len(common) < max(1, min(len(first), len(second))):
        return False
    if not all(value for value in (*gold, *predicted)) or kind_of(gold) in ("ids", "constant"):
        return False
    marked = [(one, other) for one, other in pairs if (one, other) != (OUTSIDE, OUTSIDE)]
    same = sum(_type(one) == _type(other) for one, other in marked)
    listed = are_tags(gold, in_blocks=True) or are_tags(predicted, in_blocks=True)
    known = listed or all(map(CAPITAL.fullmatch, (*gold, *predicted)))
    return known and 2 * same >= len(marked)


def _type(tag: str) -> str:
    return _PREFIX.sub("", tag, count=1).rstrip(">])}")
