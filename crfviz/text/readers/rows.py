"""Rows of words: the columns of a file, and its lines as columns separated by TAB.

A line with a TAB is separated by TABs, so that a word may contain a blank; other lines are
separated by blanks, except no-break spaces. `-DOCSTART-` ends a sentence, and a header is not a
word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from crfviz.exceptions import FormatError
from crfviz.text.columns import COLUMNS, Layout, is_comment
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.schemes import OUTSIDE, PENN, UPOS

DOCUMENT = "-DOCSTART-"
EXPORTED = "# crfviz ="
NAMED = "# global.columns ="
WORD_NAMES = ("word", "token", "form", "words", "tokens", "surface")
TAG_NAMES = (
    *("ner", "ner_tag", "ner_tags", "tag", "tags", "label", "labels", "entity", "iob", "bio"),
    *("iob_tag", "named_entity", "upos", "pos", "pos_tag", "xpos", "chunk", "chunk_tag"),
)
CONLLU_NAMES = (
    *("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"),
)
CONLL_NAMES = ("word", "pos", "chunk", "ner")  # of four columns without a header
NESTED = "nested entities in the last column were left out"
GERMEVAL = ("number", "word", "outer", "nested")
SAMPLE = 2000  # lines used for detection
_BLANKS = re.compile("[ ]+")
ENTITY = re.compile(r"[Oo]|[BIESLUMWbieslumw][-_]\S+|\S+[-_][BIESLUMW]|\(?[\w-]*\*\)?")
_OPENED = re.compile(r"\(([\w-]+)")
_BRACKETED = re.compile(r"\([\w-]+\*?\)?|\*\)?|-")
_FULL_ENTITY = re.compile(r"[BIESLUMW][-_][A-Z]{2,}|[A-Z]{2,}[-_][BIESLUMW]")
_CAPITAL = re.compile(r"[A-Z$.,:;!?'\"`()#\[\]{}-][A-Z0-9$_|+:.,'\"`)(\[\]-]*")
_NO_TAG = re.compile(r"[-_]?\d*")  # empty, a dash or a number
_TYPE = re.compile(r"O|[A-Z][A-Z0-9_]+")
KNOWN = {*UPOS, *PENN, *".,:;!?\"'`()#$", "``", "''", "--", "...", "HYPH", "_", "-", "X"}
MIN_CAPITAL_ROWS, MIN_REPEATED_ROWS = 3, 6


@dataclass(frozen=True)
class Columns:
    """The columns of a file with one word per line."""

    layout: Layout
    blanks: bool = False  # whether blanks separate the columns, instead of TABs
    header: int = 0  # line number of the column names; 0 without a header
    predicted: int | None = None  # column of predicted tags, after the gold tags
    sources: bool = False  # whether lines of `#` TAB name a source, as in GermEval
    lost: str = ""  # what columns that are not read hold


def cells_of(line: str, *, blanks: bool) -> list[str]:
    """Return the columns of a line."""
    return line.split("\t") if "\t" in line or not blanks else _BLANKS.split(line.strip(" \r"))


def tab_lines(lines: Iterable[str], columns: Columns) -> Iterator[str]:
    """Yield the lines with TABs between columns, and an empty line after each sentence."""
    if columns.sources:
        yield from (
            f"# {line[2:]}".replace("\t", " ") if is_source(line) else line for line in lines
        )
        return
    if not (columns.blanks or columns.header):
        yield from ("" if line.startswith(DOCUMENT) else line for line in lines)
        return
    for number, line in enumerate(lines, start=1):
        if line.startswith(DOCUMENT) or number == columns.header:
            yield ""
        elif not columns.blanks or not line.strip():
            yield line
        elif _is_remark(line, columns):
            yield line.replace("\t", " ")
        else:
            yield "\t".join(cells_of(line, blanks=True))


def is_source(line: str) -> bool:
    """Return whether a line names the source of a sentence, as in GermEval 2014."""
    return line.startswith("#\t")


def _is_remark(line: str, columns: Columns) -> bool:
    """Return whether a line of a blank-separated file is a comment; `#NYC B-LOC` is a word."""
    if not line.startswith("#"):
        return False
    cells = cells_of(line, blanks=True)
    is_tag = cells[-1] in KNOWN or ENTITY.fullmatch(cells[-1]) is not None
    return len(cells) != columns.layout.width or not is_tag


def columns_of(lines: Sequence[str], column: str | int | None, *, name: str) -> Columns | None:
    """Return the columns of a file from its first lines; None if they are not rows of words.

    Args:
        lines: the first lines of the file.
        column: column of the tags, a name or a number from 1; negative numbers count from the end.
        name: name of the file, for messages.

    Raises:
        FormatError: the column does not exist.
    """
    words, blanks = _rows_of_words(lines)
    if blanks and not words:
        return None
    others = [(number, line) for number, line in words if not is_source(line)]
    ids = [row.partition("\t")[0] for _, row in others]
    sources = len(others) < len(words) and _are_counts(ids)
    words = others if sources else words
    cells = [cells_of(line, blanks=blanks) for _, line in words]
    names = _names(lines)
    header = 0
    if not names and cells and _is_header(cells):
        names, header = [cell.strip().lower() for cell in cells[0]], words[0][0]
        cells = cells[1:]
    width = len(cells[0]) if cells else 2
    if not names and width == len(CONLL_NAMES) and blanks:
        names = list(CONLL_NAMES)
    word = next((names.index(each) for each in WORD_NAMES if each in names), None)
    if word is None:
        word = 1 if width > 2 and _are_counts([row[0] for row in cells]) else 0
    predicted, lost = None, ""
    tag = chosen_column(column, names, width, name)
    if tag is None and sources and width == len(GERMEVAL):
        tag = GERMEVAL.index("outer")
        lost = NESTED if any(row[-1] != OUTSIDE for row in cells) else ""
    elif tag is None and width == 2 and not header and _are_tags_first(cells):
        word, tag = 1, 0
    elif tag is None:
        own = any(line.startswith(EXPORTED) for line in lines)  # proposals precede the tags
        tag, predicted = _tag_columns(cells, names, word, own=own, header=header > 0)
        if tag > 0 and predicted is None and not _has_tags(names):
            lost = f"column {tag + 1} was read, the first with entities; choose others by number"
    layout = replace(COLUMNS, word=word, tag=tag)
    if blanks:
        in_blocks = not all(line.strip() for line in lines[words[0][0] : words[-1][0]])
        if not header and not are_tags([row[tag] for row in cells], in_blocks=in_blocks):
            return None
        layout = replace(layout, width=width, expected=f"{width} columns")
    return Columns(layout, blanks, header, predicted, sources, lost)


def _has_tags(names: Sequence[str]) -> bool:
    """Return whether a column has the name of tags."""
    return any(name in names for name in TAG_NAMES)


def _tag_columns(
    cells: Sequence[Sequence[str]], names: Sequence[str], word: int, *, own: bool, header: bool
) -> tuple[int, int | None]:
    """Return the columns of gold and of predicted tags, None without the latter.

    Args:
        cells: the rows.
        names: of the columns; empty if they are unknown.
        word: the column of the words.
        own: whether crfviz has written the file.
        header: whether the file names the columns.
    """
    known = [names.index(each) for each in TAG_NAMES if each in names]
    if known and (header or names != list(CONLL_NAMES)):
        return known[0], None
    if not own and _are_gold_and_predicted(cells):
        width = len(cells[0])
        return width - 2, width - 1
    return -1 if own or known else _entity_column(cells, word, header=header), None


def _rows_of_words(lines: Sequence[str]) -> tuple[list[tuple[int, str]], bool]:
    """Return the numbered rows of words, and whether blanks separate their columns."""
    rows = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith(DOCUMENT)
    ]
    words = [(number, line) for number, line in rows if not is_comment(line)]
    words = words or [(number, line) for number, line in rows if not line.startswith("# ")]
    marked = [line for _, line in words if "\t" in line]
    blanks = bool(words) and all(line.startswith("# ") for line in marked)
    return (_equally_wide(rows), True) if blanks else (words, False)


def chosen_column(
    column: str | int | None, names: Sequence[str], width: int, name: str
) -> int | None:
    """Return the index of the chosen column; None without a choice.

    Raises:
        FormatError: the column does not exist.
    """
    if column is None:
        return None
    if str(column).lower() in names:
        return names.index(str(column).lower())
    try:
        number = int(column)
    except ValueError:
        number = 0
    if not 1 <= abs(number) <= width:
        known = f" or one of {abbreviate_names(names)}" if names else ""
        raise FormatError(
            f"{name}: expected a column from 1 to {width}{known}, got {abbreviate(str(column))}"
        )
    return number - 1 if number > 0 else number


def are_tags(values: Sequence[str], *, in_blocks: bool = False) -> bool:
    """Return whether a second column looks like tags rather than words.

    `wear Z-strap` and `Dogs run .` are sentences. Unknown tags count only in files with blank lines
    between blocks, if they are upper case or a few are repeated often.
    """
    if not values:
        return False
    if all(ENTITY.fullmatch(value) for value in values):
        return len(values) > 1 or _FULL_ENTITY.fullmatch(values[0]) is not None
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


def _equally_wide(rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the rows of words, if most have the same width of at least 2.

    Most are nine of ten, or half if half of all rows end with an entity tag.
    """
    widths = [len(cells_of(line, blanks=True)) for _, line in rows if not line.startswith("# ")]
    if not widths:
        return []
    width = max(set(widths), key=widths.count)
    last = [cells_of(line, blanks=True)[-1] for _, line in rows if not line.startswith("# ")]
    tagged = sum(ENTITY.fullmatch(tag) is not None for tag in last)
    damaged = 2 * tagged >= len(last) and any(_FULL_ENTITY.fullmatch(tag) for tag in last)
    if width < 2 or widths.count(width) < (0.5 if damaged else 0.9) * len(widths):
        return []
    kept = [(n, line) for n, line in rows if len(cells_of(line, blanks=True)) == width]
    return [(n, line) for n, line in kept if not line.startswith("# ")]


def _are_gold_and_predicted(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether the last two columns share a tag set, as in conlleval."""
    if not cells or min(len(row) for row in cells) < 3:
        return False
    gold, predicted = ({row[at] for row in cells} - {"O", "_"} for at in (-2, -1))
    common = gold & predicted
    tags = are_tags([row[-2] for row in cells]) and are_tags([row[-1] for row in cells])
    return tags and bool(common) and 2 * len(common) >= min(len(gold), len(predicted))


def _entity_column(cells: Sequence[Sequence[str]], word: int, *, header: bool) -> int:
    """Return the first column of entity tags where the last one has none; else the last."""
    if not cells or min(map(len, cells)) < 3:
        return -1
    last = [row[-1].strip() for row in cells]
    is_outside = header and {*last} == {OUTSIDE}
    if not is_outside and 2 * sum(_NO_TAG.fullmatch(value) is not None for value in last) < len(
        last
    ):
        return -1
    for column in range(word + 1, min(map(len, cells)) - 1):
        values = [row[column].strip() for row in cells]
        full = any(_FULL_ENTITY.match(value) or value[:2] == "B-" for value in values)
        if full and all(ENTITY.fullmatch(value) for value in values):
            return column
    return -1


def _are_tags_first(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether rows are a tag and its word, as in the MIT corpora."""
    if not cells or min(map(len, cells)) < 2:
        return False
    first, second = ([row[at] for row in cells] for at in (0, 1))
    full = any(_FULL_ENTITY.match(tag) or tag[:2] in ("B-", "I-") for tag in first)
    return full and are_tags(first) and not are_tags(second)


def _names(lines: Sequence[str]) -> list[str]:
    named = next((line for line in lines if line.startswith(NAMED)), None)
    return named.removeprefix(NAMED).lower().split() if named else []


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names columns of words and tags."""
    names = [cell.strip().lower() for cell in rows[0]]
    has_word = any(name in WORD_NAMES for name in names)
    if has_word and any(name in TAG_NAMES for name in names):
        return True
    others = [cell.strip() for cell in rows[0][1:]]
    unlike = not any(cell in KNOWN or ENTITY.fullmatch(cell) for cell in others)
    tagged = any(_FULL_ENTITY.match(cell) or cell[:2] == "B-" for row in rows[1:] for cell in row)
    return names[0] in WORD_NAMES and unlike and tagged  # as in HIPE: TOKEN, NE-COARSE-LIT, ...


def _are_counts(values: Sequence[str]) -> bool:
    """Return whether a column numbers the words: each cell is 1, or one more than the previous."""
    if not values or not all(value.isdecimal() and len(value) < 6 for value in values):
        return False
    numbers = [int(value) for value in values]
    return numbers[0] in (0, 1) and all(b in (0, 1, a + 1) for a, b in pairwise(numbers))


def entities_of_brackets(tags: Sequence[str]) -> list[str]:
    """Return BIO tags of a bracketed column.

    >>> entities_of_brackets(["(PER*", "*)", "*", "(LOC)", "(ORG*)"])
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-ORG']
    """
    found, open_kind = [], ""
    for tag in tags:
        begun = _OPENED.match(tag)
        if begun:
            open_kind = begun[1]
            found.append(f"B-{open_kind}")
        else:
            found.append(f"I-{open_kind}" if open_kind else "O")
        if tag.endswith(")"):
            open_kind = ""
    return found


def are_brackets(tags: Iterable[str]) -> bool:
    """Return whether all tags of a file are brackets, such as `(PER*`, `*)` and `*`."""
    every = set(tags)
    return "*" in "".join(every) and all(_BRACKETED.fullmatch(tag) for tag in every)
