"""Which columns of a file hold the words and the tags: names, else the values decide.

The first column holds the words and the last one the tags, unless their values contradict: numbers,
tags and repeated values are not words, and numbers, blanks and lemmas are not tags. Then another
column is read with a note, or the file is rejected.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from crfviz.exceptions import FormatError
from crfviz.text.schemes import OUTSIDE, PENN, UPOS

WORD_NAMES = ("word", "token", "form", "words", "tokens", "surface")
TAG_NAMES = (
    *("ner", "ner_tag", "ner_tags", "tag", "tags", "label", "labels", "entity", "iob", "bio"),
    *("iob_tag", "named_entity", "upos", "pos", "pos_tag", "xpos", "chunk", "chunk_tag"),
)
CONLL_NAMES = ("word", "pos", "chunk", "ner")  # of four columns without a header
ENTITY = re.compile(r"[Oo]|[BIESLUMWbieslumw][-_]\S+|\S+[-_][BIESLUMW]|\(?[\w-]*\*\)?")
FULL_ENTITY = re.compile(r"[BIESLUMW][-_][A-Z]{2,}|[A-Z]{2,}[-_][BIESLUMW]")
KNOWN = {*UPOS, *PENN, *".,:;!?\"'`()#$", "``", "''", "--", "...", "HYPH", "_", "-", "X"}
_CHUNK = re.compile(r"O|[BIES]-(?:NP|VP|PP|ADVP|ADJP|SBAR|PRT|CONJP|INTJ|LST|UCP)")
_CAPITAL = re.compile(r"[A-Z$.,:;!?'\"`()#\[\]{}-][A-Z0-9$_|+:.,'\"`)(\[\]-]*")
_TYPE = re.compile(r"O|[A-Z][A-Z0-9_]+")
_NO_TAG = re.compile(r"[-_]?|[-_]?[0-9]+(?:[.,:/-][0-9]+)?")  # empty, a dash or a number
_WITH_SCORE = re.compile(r"[^/]+/[01]\.[0-9]+")  # as CRF++ writes a tag
MIN_CAPITAL_ROWS, MIN_REPEATED_ROWS = 3, 6
MAX_REPEATED = 30  # values of a column of tags
NUMBERS, TAGS, ONE_VALUE = "only numbers", "only tags", "only one value"
IDS, FEW_VALUES = "ids such as s1-t3", "few values"  # which words may be
NAMES_HELP = "name the columns in a first line, such as word TAB tag"
Column = Sequence[str]  # the values in a column


@dataclass(frozen=True)
class Roles:
    """The columns of words and tags; negative numbers count from the end."""

    word: int
    tag: int
    predicted: int | None = None  # column of predicted tags, after the gold tags
    note: str = ""  # why other columns than the first and the last are read


@dataclass(frozen=True)
class Header:
    """What a file says about its columns."""

    names: Sequence[str] = ()  # of the columns; empty if they are unknown
    is_row: bool = False  # whether the first row has the names
    own: bool = False  # whether crfviz has written the file
    tabs: bool = True  # whether TABs separate the columns, so that rows are not plain text


def find_roles(
    cells: Sequence[Sequence[str]], header: Header, tag: int | None, name: str
) -> Roles | None:
    """Return the columns of words and tags; None if the rows may be plain text.

    Args:
        cells: the rows.
        header: what the file says about its columns.
        tag: the chosen column of tags; None finds it.
        name: name of the file, for messages.

    Raises:
        FormatError: no columns hold words and tags.
    """
    width = len(cells[0]) if cells else 2
    rows = [[cell.strip() for cell in row] for row in cells if len(row) == width]
    columns = list(zip(*rows, strict=True))
    word = next((header.names.index(each) for each in WORD_NAMES if each in header.names), None)
    is_unclear = not columns or width < 2 or len(header.names) > width  # reading reports the line
    is_known = word is not None or header.own or is_unclear
    if word is None:
        word = 1 if width > 2 and columns and are_counts(columns[0]) else 0
    if tag is None and width == 2 and not header.is_row and _are_tags_first(columns):
        return Roles(1, 0)
    fault = "" if is_known else _fault(columns[word], width)
    better = _better_word(columns, word, fault, tag, header) if fault else None
    if better is not None:
        return _moved(columns, better, tag, header, name)
    roles = Roles(word, tag) if tag is not None else _usual(cells, columns, word, header)
    if is_known or tag is not None:
        return roles
    if problem := _tag_problem(columns, roles, fault):
        if not header.tabs:
            return None
        raise FormatError(f"{name}: {problem}")
    if fault in (NUMBERS, TAGS, ONE_VALUE):
        note = f"column {word + 1}, read as the words, holds {fault}"
        notes = "; ".join(filter(None, (note, roles.note)))
        return Roles(word, roles.tag, roles.predicted, notes)
    return roles


def _usual(
    cells: Sequence[Sequence[str]], columns: Sequence[Column], word: int, header: Header
) -> Roles:
    """Return the last column as tags, unless names or values decide otherwise."""
    known = [header.names.index(each) for each in TAG_NAMES if each in header.names]
    if known:
        return Roles(word, known[0])
    if not header.own and _are_gold_and_predicted(cells):
        width = len(cells[0])
        return Roles(word, width - 2, width - 1)
    if header.own or len(columns) < 3 or word >= len(columns):
        return Roles(word, -1)
    column, what = None, "entities"
    if _lacks_entities(columns, word):
        column = _entities_after(columns, word)
    if column is None and _is_empty(columns, word):
        between = range(word + 1, len(columns) - 1)
        column, what = next((n for n in between if _are_some_tags(columns[n])), None), "tags"
    if column is None:
        return Roles(word, -1)
    note = f"column {column + 1} was read, the first with {what}; choose others by number"
    return Roles(word, column, note=note)


def _is_empty(columns: Sequence[Column], word: int) -> bool:
    """Return whether the last column has no tags at all: numbers, blanks, one value or lemmas."""
    last = columns[-1]
    if 2 * last.count("_") >= len(last) or all(_NO_TAG.fullmatch(value) for value in last):
        return True
    is_tag = last[0] in KNOWN or ENTITY.fullmatch(last[0]) is not None
    same = len({*last}) == 1 and len(last) >= MIN_REPEATED_ROWS and not is_tag
    return same or are_lemmas(columns[word], last)


def _lacks_entities(columns: Sequence[Column], word: int) -> bool:
    """Return whether the last column has no tags, few, or only `O`."""
    last = columns[-1]
    few = 2 * sum(_NO_TAG.fullmatch(value) is not None for value in last) >= len(last)
    return few or {*last} == {OUTSIDE} or _is_empty(columns, word)


def are_lemmas(words: Column, values: Column) -> bool:
    """Return whether half of the values repeat their words, as in TreeTagger."""
    pairs = [(w, v) for w, v in zip(words, values, strict=True) if any(map(str.isalpha, w))]
    same = sum(w.casefold() == v.casefold() for w, v in pairs)
    return len(pairs) > 1 and 2 * same >= len(pairs)


def _entities_after(columns: Sequence[Column], word: int) -> int | None:
    """Return the first column of entity tags between the words and the last column.

    Chunks before a column of only `O` are those of a CoNLL-2003 file without entities.
    """
    is_outside = {*columns[-1]} == {OUTSIDE}
    for column in range(word + 1, len(columns) - 1):
        values = columns[column]
        if _are_entities(values) and not (is_outside and _are_chunks(values)):
            return column
    return None


def _are_entities(values: Column) -> bool:
    full = any(FULL_ENTITY.match(value) or value[:2] == "B-" for value in values)
    return full and all(ENTITY.fullmatch(value) for value in values)


def _are_chunks(values: Column) -> bool:
    return all(_CHUNK.fullmatch(value) for value in values)


def _are_some_tags(values: Column) -> bool:
    """Return whether values are tags, and not only punctuation, dashes or `O`."""
    return len({*values}) > 1 and are_tags(values)


def _are_outside(values: Column) -> bool:
    """Return whether a third of the values are `O`, and others types such as `Loc`."""
    return len({*values}) > 1 and 3 * values.count(OUTSIDE) >= len(values)


def _are_ids(values: Column) -> bool:
    """Return whether values are numbers, offsets or ids, such as 3, 0-4, s1-t3 or doc_7."""
    return all(value[-1:].isdigit() or value in ("", "_", "-") for value in values)


def _are_repeated(values: Column) -> bool:
    """Return whether the same few values fill a column; letters of DNA do, too."""
    most = min(len(values) // 3, MAX_REPEATED)
    return len(values) >= MIN_REPEATED_ROWS and len({*values}) <= most


def _fault(values: Column, width: int) -> str:
    """Return why the values of a column can hardly be words; empty if they can."""
    if len(values) < (MIN_CAPITAL_ROWS if width > 2 else MIN_REPEATED_ROWS):
        return ""
    if all(_NO_TAG.fullmatch(value) for value in values):
        return NUMBERS
    if _are_ids(values):
        return IDS
    if len({*values}) == 1:
        return ONE_VALUE
    if _are_some_tags(values) or (width > 2 and _are_outside(values)):
        return TAGS
    letters = all(len(value) == 1 for value in values) and OUTSIDE not in values
    return FEW_VALUES if _are_repeated(values) and not letters else ""


def _better_word(
    columns: Sequence[Column], word: int, fault: str, tag: int | None, header: Header
) -> int | None:
    """Return another column that may hold the words, the one with most values; None without."""
    width = len(columns)
    taken = {word, width if tag is None else tag % width}
    if not header.tabs and width == 2:
        return None
    found = [
        column
        for column in range(width)
        if column not in taken
        and _fault(columns[column], width) in ("", "" if fault == FEW_VALUES else FEW_VALUES)
        and "" not in columns[column]
    ]
    # two columns are swapped only if the first one has tags
    least = 3 * len({*columns[word]}) if fault == FEW_VALUES else 2
    if width == 2 and fault in (NUMBERS, IDS, ONE_VALUE):
        return None
    found = [column for column in found if len({*columns[column]}) >= least]
    return max(found, key=lambda column: len({*columns[column]}), default=None)


def _moved(
    columns: Sequence[Column], word: int, tag: int | None, header: Header, name: str
) -> Roles | None:
    """Return the roles when the words are in an unusual column; None if it may be plain text.

    Raises:
        FormatError: no column has tags.
    """
    if tag is not None:
        return Roles(word, tag, note=f"column {word + 1} was read as the words; {NAMES_HELP}")
    others = [column for column in range(len(columns)) if column != word]
    others = [others[-1], *others[:-1]]
    kinds: list[Callable[[Column], bool]] = [
        lambda v: _are_entities(v) and not _are_chunks(v),
        _are_outside,
        _are_some_tags,
        lambda v: header.tabs and not _are_ids(v) and len({*v}) > 1 and _are_repeated(v),
    ]
    found = (column for is_kind in kinds for column in others if is_kind(columns[column]))
    column = next(found, None)
    if column is not None:
        note = f"column {word + 1} was read as the words and column {column + 1} as the tags"
        return Roles(word, column, note=f"{note}; to change it, {NAMES_HELP}")
    if not header.tabs:
        return None
    raise FormatError(f"{name}: expected columns of words and tags, got no tags; {NAMES_HELP}")


def _tag_problem(columns: Sequence[Column], roles: Roles, fault: str) -> str:
    """Return why a file has no tags, as a message; empty if it may have some."""
    tags = columns[roles.tag]
    number = roles.tag % len(columns) + 1
    if len(tags) >= MIN_CAPITAL_ROWS and all(map(_WITH_SCORE.fullmatch, tags)):
        return "seems to be output of CRF++ with probabilities; run crf_test without -v"
    varied = 2 * len({*tags}) > len(tags) >= MIN_REPEATED_ROWS
    no_tags = len(tags) >= MIN_CAPITAL_ROWS and all(_NO_TAG.fullmatch(tag) for tag in tags)
    if no_tags and (varied or any("." in tag for tag in tags)):
        return f"expected tags in column {number}, got only numbers; {NAMES_HELP}"
    texts = sum(" " in tag and ENTITY.fullmatch(tag) is None for tag in tags)
    if len(tags) > 1 and 2 * texts >= len(tags):
        return f"expected tags in column {number}, got texts; {NAMES_HELP}"
    if fault in (NUMBERS, ONE_VALUE) and varied and not are_tags(tags, in_blocks=True):
        return f"column {roles.word + 1} holds {fault}, and column {number} no tags; {NAMES_HELP}"
    return ""


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
    """Return whether a column numbers the words: each cell is 1, or one more than the previous."""
    if not values or not all(value.isdecimal() and len(value) < 6 for value in values):
        return False
    numbers = [int(value) for value in values]
    return numbers[0] in (0, 1) and all(b in (0, 1, a + 1) for a, b in pairwise(numbers))


def _are_gold_and_predicted(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether the last two columns share a tag set, as in conlleval."""
    if not cells or min(len(row) for row in cells) < 3:
        return False
    gold, predicted = ({row[at] for row in cells} - {"O", "_"} for at in (-2, -1))
    common = gold & predicted
    tags = are_tags([row[-2] for row in cells]) and are_tags([row[-1] for row in cells])
    return tags and bool(common) and 2 * len(common) >= min(len(gold), len(predicted))


def _are_tags_first(columns: Sequence[Column]) -> bool:
    """Return whether two columns are a tag and its word, as in the MIT corpora."""
    if not columns:
        return False
    first, second = columns
    full = any(FULL_ENTITY.match(tag) or tag[:2] in ("B-", "I-") for tag in first)
    return full and are_tags(first) and not are_tags(second)
