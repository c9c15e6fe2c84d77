"""Evidence for the columns of a file: which holds the words, and which the tags.

Names decide first. Without names, the values of each column show its kind. The words are in the
first column of words. The tags are in the last column, if its values are tags and no other column
has as much evidence. Anything else is a question: the error lists the columns.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from crfviz.exceptions import FormatError
from crfviz.text.readers.losses import question
from crfviz.text.schemes import OUTSIDE, PENN, STTS, UPOS

WORD_NAMES = ("word", "token", "form", "words", "tokens", "surface")
TAG_NAMES = (
    *("ner", "ner_tag", "ner_tags", "tag", "tags", "label", "labels", "entity", "iob", "bio"),
    *("iob_tag", "named_entity", "upos", "pos", "pos_tag", "xpos", "chunk", "chunk_tag"),
)
ANSWER_NAMES = ("pred", "answer", "system", "guess", "output", "auto", "model")  # begin so
CONLL_NAMES = ("word", "pos", "chunk", "ner")  # of four columns without a header
MARK = "[-_:/|~+#@\u2010-\u2015\u2212\uff0d]"  # between the prefix of an entity tag and its type
_OPEN, _CLOSE = r"[<\[({]?", r"[>\])}]?"  # around such a tag
ENTITY = re.compile(
    rf"{_OPEN}(?:[Oo]|[BIESLUMW]{MARK}\S+|[bieslumw][-_:]\S+|\S+{MARK}[BIESLUMW]){_CLOSE}"
    r"|\(?[\w-]*\*\)?|[BIESLUMW]"
)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)?:(?=\S)")
FULL_ENTITY = re.compile(
    rf"{_OPEN}(?:[BIESLUMW]{MARK}[A-Z]{{2,}}|[A-Z]{{2,}}{MARK}[BIESLUMW]){_CLOSE}"
)
_PREFIX = re.compile(rf"{_OPEN}[BIESLUMW]{MARK}")
KNOWN = {*UPOS, *PENN, *STTS, *".,:;!?\"'`()#$", "``", "''", "--", "...", "HYPH", "_", "-", "X"}
BARE = set("BIESLUMW")  # prefixes without a type
_CHUNK = re.compile(r"O|[BIES]-(?:NP|VP|PP|ADVP|ADJP|SBAR|PRT|CONJP|INTJ|LST|UCP)")
_CAPITAL = re.compile(r"[A-Z$.,:;!?'\"`()#\[\]{}-][A-Z0-9$_|+:.,'\"`)(\[\]-]*")
_TYPE = re.compile(r"O|[A-Z][A-Z0-9_]+")
_NO_TAG = re.compile(r"[-_]?|[-_]?[0-9]+(?:[.,:/-][0-9]+)?")  # empty, a dash or a number
_RANGE = re.compile(r"[0-9]+[-.][0-9]+")  # of words in CoNLL-U
_ATTRIBUTE = re.compile(r"\w+(?:\[-?[0-9]+\])?(?:\|\w+\[-?[0-9]+\])*=\S*")  # w[0]=Nora
_WITH_SCORE = re.compile(r"[^/]+/[01]\.[0-9]+")  # as CRF++ writes a tag
MIN_CAPITAL_ROWS, MIN_REPEATED_ROWS = 3, 6
MAX_REPEATED = 30  # values of a column of tags
Column = Sequence[str]  # the values in a column
# entities, chunks and parts of speech are evidence of tags; weak ones look like tags of a set
# that is not known; a constant has one value or none
Kind = Literal["entities", "types", "chunks", "speech", "weak", "ids", "constant", "words"]
_READ_AS = "column {} was read as the words and column {} as the tags"
STRONG = ("entities", "types", "chunks", "speech")


@dataclass(frozen=True)
class Roles:
    """The columns of words and tags; negative numbers count from the end."""

    word: int
    tag: int
    predicted: int | None = None  # column of predicted tags, after the gold tags
    note: str = ""  # which columns are read, if they are not the first and the last


@dataclass(frozen=True)
class Header:
    """What a file says about its columns."""

    names: Sequence[str] = ()  # of the columns; empty if they are unknown
    is_row: bool = False  # whether the first row has the names
    own: bool = False  # whether crfviz has written the file
    certain: bool = True  # whether the rows cannot be plain text


def find_roles(
    cells: Sequence[Sequence[str]], header: Header, chosen: tuple[int | None, int | None], name: str
) -> Roles | None:
    """Return the columns of words and tags; None if the rows may be plain text.

    Args:
        cells: the rows.
        header: what the file says about its columns.
        chosen: the columns of words and tags that the caller has named; None finds them.
        name: name of the file, for messages.

    Raises:
        FormatError: the values leave the columns open; lists them.
    """
    word, tag = chosen
    width = len(cells[0]) if cells else 2
    named = [each.rpartition(":")[2] for each in header.names]
    rows = [[cell.strip() for cell in row] for row in cells if len(row) == width]
    columns = list(zip(*rows, strict=True))
    if word is None:
        word = next((named.index(each) for each in WORD_NAMES if each in named), None)
    if not columns or width < 2 or len(header.names) > width:  # reading reports the line
        known = next((named.index(each) for each in TAG_NAMES if each in named), -1)
        return Roles(word or 0, known if tag is None else tag)
    if header.own or (word is not None and tag is not None):
        return Roles(word or 0, -1 if tag is None else tag)

    def ask(problem: str) -> FormatError:
        return question(name, problem, header.names, columns)

    kinds = [kind_of(values) for values in columns]
    _refuse_features(columns, tag, ask)
    if width == 2 and word is None and not header.is_row:
        return _of_pair(columns, kinds, tag, header, ask)
    is_first = word is not None
    if word is None:
        taken = None if tag is None else tag % width
        word = _word(columns, kinds, taken, ask)
        if word is None:
            if not header.certain:
                return None
            raise ask("no column shows words")
    _refuse_as_words(columns[word], word, ask, named=is_first)
    found = Roles(word, tag) if tag is not None else _tag(columns, kinds, word, header, ask)
    if found is None or is_first:
        return found
    if word == 0 or (word == 1 and are_counts(columns[0])):
        return found
    return replace(found, note=_READ_AS.format(word + 1, found.tag % width + 1))


def _refuse_features(
    columns: Sequence[Column], tag: int | None, ask: Callable[[str], FormatError]
) -> None:
    """Reject features of CRFsuite, and scores of CRF++, unless the caller names the tags."""
    if tag is not None:
        return
    if attributes := [n for n, values in enumerate(columns) if _are_attributes(values)]:
        raise ask(f"column {attributes[0] + 1} has attributes (CRFsuite), not words")
    if len(columns) == 2 and any(map(_have_one_prefix, columns)):
        raise ask("a column has attributes, not words")
    if len(columns[-1]) >= MIN_CAPITAL_ROWS and all(map(_WITH_SCORE.fullmatch, columns[-1])):
        raise ask("seems to be output of CRF++ with probabilities; run crf_test without -v")


def _refuse_as_words(
    words: Column, number: int, ask: Callable[[str], FormatError], *, named: bool
) -> None:
    """Reject attributes; if the column is not named, also texts and WikiANN's `en:Oslo`."""
    if _have_one_prefix(words):
        raise ask(f"column {number + 1} has attributes, not words")
    if named:
        return
    if _are_texts(words):
        raise ask(f"column {number + 1} has texts, not words")
    codes = {found[0] if (found := _LANGUAGE.match(word)) else "" for word in words}
    if len(words) >= MIN_CAPITAL_ROWS and len(codes) == 1 and "" not in codes:
        raise ask(
            f"all words in column {number + 1} begin with {min(codes)}, the code of a language"
        )


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
    if all(map(_CAPITAL.fullmatch, values)) and len(values) >= MIN_CAPITAL_ROWS:
        return "weak"
    most = min(len(values) // 3, MAX_REPEATED)
    if len(values) >= MIN_REPEATED_ROWS and len(different) <= most:
        return "weak"
    return "words"


def _word(
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    taken: int | None,
    ask: Callable[[str], FormatError],
) -> int | None:
    """Return the first column of words; a column of few values if it is the only one."""
    free = [n for n in range(len(kinds)) if n != taken]
    words = [n for n in free if kinds[n] == "words" and "" not in columns[n]]
    if words:
        if any(_are_lemmas_of(columns[words[0]], columns[n]) for n in words[1:]):
            raise ask(f"column {words[0] + 1} seems to have lemmas")
        return words[0]
    weak = [n for n in free if kinds[n] == "weak" and "" not in columns[n]]
    varied = sorted(weak, key=lambda n: -len({*columns[n]}))
    if varied and len(weak) < len(free) + (taken is not None):
        return varied[0]
    if taken != 0 and kinds[0] == "constant" and columns[0][0][:1].isalpha():
        return 0  # `ha ha ha`, if no other column has words
    small = len(columns[0]) < MIN_CAPITAL_ROWS
    return 0 if small and taken != 0 and kinds[0] != "entities" else None


def _of_pair(
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    tag: int | None,
    header: Header,
    ask: Callable[[str], FormatError],
) -> Roles | None:
    """Return the roles of two columns: a word and its tag, or a tag and its word."""
    first, last = columns
    if tag is not None:
        return Roles(1 - tag % 2, tag)
    if kinds[0] in STRONG and kinds[1] == "words" and len(first) > 1:
        if kinds[0] == "entities":
            return Roles(1, 0)
        if len(first) >= MIN_REPEATED_ROWS:
            return Roles(1, 0, note=_READ_AS.format(2, 1))
    if not header.certain:  # rows.columns_of looks at the tags
        return Roles(0, 1)
    if len(first) >= MIN_REPEATED_ROWS and (
        kinds[0] in STRONG or are_counts(first) or (kinds[0] == "constant" and len({*last}) > 1)
    ):
        raise ask("no column shows words")
    _refuse_as_words(first, 0, ask, named=False)
    if kinds[1] in (*STRONG, "weak"):
        return Roles(0, 1)
    if kinds[1] == "ids":
        raise ask("column 2 has numbers, not tags")
    if _are_texts(last):
        raise ask("column 2 has texts, not tags")
    few = len(last) < MIN_REPEATED_ROWS  # too few to repeat
    marked = few and any(ENTITY.fullmatch(v) or _CAPITAL.fullmatch(v) for v in last)
    if are_lemmas(first, last) or (len(last) > 1 and not marked and 2 * len({*last}) > len(last)):
        raise ask("column 2 seems to have words or lemmas, not tags")
    return Roles(0, 1)


def _tag(
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    word: int,
    header: Header,
    ask: Callable[[str], FormatError],
) -> Roles | None:
    """Return the column of tags, with the evidence of names first."""
    last = len(columns) - 1
    others = [n for n in range(last + 1) if n != word]
    entities = [n for n in others if kinds[n] in ("entities", "types")]
    strong = [n for n in others if kinds[n] in STRONG]
    several = ask("several columns may have the tags")
    names = [each.rpartition(":")[2] for each in header.names]
    if known := [names.index(each) for each in TAG_NAMES if each in names]:
        if known[0] not in entities and any(
            n >= len(names) or names[n] not in TAG_NAMES for n in entities
        ):
            raise several
        return Roles(word, known[0])
    is_pair = last - 1 != word and are_gold_and_predicted(columns[last - 1], columns[last])
    is_open = is_pair and names and not "".join(names[last:]).startswith(ANSWER_NAMES)
    if is_pair and not is_open and not any(n < last - 1 for n in entities):
        return Roles(word, last - 1, last)
    is_speech = last in strong and kinds[last] == "speech"
    if is_open or len({columns[n] for n in entities}) > 1 or (entities and is_speech):
        raise several
    if entities:
        return _noted(word, entities[0], last, "" if entities[1:] else "the only one with entities")
    if last in strong or (last != word and {*columns[last]} == {OUTSIDE}):
        return Roles(word, last)
    if strong:
        if len({columns[n] for n in strong}) > 1 or kinds[last] == "weak":
            raise several
        return _noted(word, strong[0], last, "" if strong[1:] else "the only one with tags")
    is_weak = kinds[last] == "weak" and not are_lemmas(columns[word], columns[last])
    if last != word and (is_weak or (last == 1 and len(columns[0]) < MIN_CAPITAL_ROWS)):
        return Roles(word, last)
    if last == 1 != word and all(value in ("_", "") for value in columns[last]):
        return Roles(word, last)
    if not header.certain:
        return None
    raise ask("no column shows tags")


def _noted(word: int, tag: int, last: int, what: str) -> Roles:
    """Return the roles with a note if the tags are not in the last column."""
    note = ", ".join(filter(None, (f"column {tag + 1} was read", what))) if tag != last else ""
    return Roles(word, tag, note=note)


def are_lemmas(words: Column, values: Column) -> bool:
    """Return whether half of the values repeat their words, as in TreeTagger."""
    pairs = [(w, v) for w, v in zip(words, values, strict=True) if any(map(str.isalpha, w))]
    same = sum(w.casefold() == v.casefold() for w, v in pairs)
    return len(pairs) > 1 and 2 * same >= len(pairs)


def _are_lemmas_of(lemmas: Column, words: Column) -> bool:
    """Return whether the first column has lemmas of the second: a capital is small in it, or ?."""
    if not are_lemmas(words, lemmas):
        return False
    pairs = [(a, b) for a, b in zip(lemmas, words, strict=True) if a != b]
    lower = sum(a == b.lower() for a, b in pairs) - sum(b == a.lower() for a, b in pairs)
    return lower > 0 or "<unknown>" in lemmas


def _are_texts(values: Column) -> bool:
    """Return whether most values have several words."""
    texts = sum(" " in value and ENTITY.fullmatch(value) is None for value in values)
    return 2 * texts > len(values) > 1


def _have_one_prefix(values: Column) -> bool:
    """Return whether all values are a name, an equals sign and a value, of one name."""
    names = {value.partition("=")[0] for value in values}
    marked = all("=" in value[1:] for value in values)
    return len(values) >= MIN_CAPITAL_ROWS and len(names) == 1 and marked


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


def _are_attributes(values: Column) -> bool:
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
    if all(_CAPITAL.fullmatch(value) for value in values):
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
    known = listed or all(map(_CAPITAL.fullmatch, (*gold, *predicted)))
    return known and 2 * same >= len(marked)


def _type(tag: str) -> str:
    return _PREFIX.sub("", tag, count=1).rstrip(">])}")
