"""Rows of words: the columns of a file, and its lines as columns separated by TAB.

A line with a TAB is separated by TABs, so that a word may contain a blank; other lines are
separated by blanks, except no-break spaces. `-DOCSTART-` ends a sentence, and a header is not a
word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from crfviz.exceptions import FormatError
from crfviz.text.columns import COLUMNS, Layout, is_comment
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.readers.roles import (
    CONLL_NAMES,
    ENTITY,
    FULL_ENTITY,
    KNOWN,
    TAG_NAMES,
    WORD_NAMES,
    Header,
    Roles,
    are_counts,
    are_tags,
    find_roles,
)
from crfviz.text.schemes import OUTSIDE

DOCUMENT = "-DOCSTART-"
EXPORTED = "# crfviz ="
NAMED = "# global.columns ="
CONLLU_NAMES = (
    *("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"),
)
RELATED = "relations were left out"
NESTED = "nested entities in the last column were left out"
GERMEVAL = ("number", "word", "outer", "nested")
SAMPLE = 2000  # lines used for detection
_BLANKS = re.compile("[ ]+")
_OPENED = re.compile(r"\(([\w-]+)")
_BRACKETED = re.compile(r"\([\w-]+\*?\)?|\*\)?|-")
_RELATION = re.compile(r"[0-9]+\t[0-9]+\t[A-Za-z]\w*")  # of two words, as in CoNLL-04
_RELATION_TABS = 2


@dataclass(frozen=True)
class Columns:
    """The columns of a file with one word per line."""

    layout: Layout
    blanks: bool = False  # whether blanks separate the columns, instead of TABs
    header: int = 0  # line number of the column names; 0 without a header
    predicted: int | None = None  # column of predicted tags, after the gold tags
    sources: bool = False  # whether lines of `#` TAB name a source, as in GermEval
    relations: bool = False  # whether lines relate two words, as in CoNLL-04
    lost: str = ""  # what is not read, and which columns are
    named: bool = False  # whether a comment names the columns, so that `# O` is a word


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
    if columns.relations:
        lines = ("" if _RELATION.fullmatch(line) else line for line in lines)
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
    if columns.named:
        return len(cells) != columns.layout.width
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
    sources = len(others) < len(words) and are_counts(ids)
    words = others if sources else words
    related = [row for row in words if _RELATION.fullmatch(row[1])]
    relations = bool(related) and words[0][1].count("\t") > _RELATION_TABS
    words = [row for row in words if not (relations and _RELATION.fullmatch(row[1]))]
    cells = [cells_of(line, blanks=blanks) for _, line in words]
    names = _names(lines)
    header = 0
    if not names and cells and _is_header(cells):
        names, header = [cell.strip().lower() for cell in cells[0]], words[0][0]
        cells = cells[1:]
    width = len(cells[0]) if cells else 2
    own = any(line.startswith(EXPORTED) for line in lines)  # proposals precede the tags
    assumed = CONLL_NAMES if not names and width == len(CONLL_NAMES) and blanks else names
    chosen = chosen_column(column, assumed, width, name)
    if sources and width == len(GERMEVAL) and chosen is None:
        nested = any(row[-1] != OUTSIDE for row in cells)
        outer = GERMEVAL.index("outer")
        roles: Roles | None = Roles(1, outer, note=NESTED if nested else "")
    else:
        roles = find_roles(cells, Header(names, header > 0, own, not blanks), chosen, name)
    if roles is None:
        return None
    layout = replace(COLUMNS, word=roles.word, tag=roles.tag)
    if blanks:
        in_blocks = not all(line.strip() for line in lines[words[0][0] : words[-1][0]])
        if not (header or names) and not are_tags(
            [row[roles.tag] for row in cells], in_blocks=in_blocks
        ):
            return None
        layout = replace(layout, width=width, expected=f"{width} columns")
    lost = "; ".join(filter(None, (roles.note, RELATED if relations else "")))
    return Columns(
        layout,
        blanks,
        header,
        roles.predicted,
        sources,
        relations,
        lost,
        bool(names) and not header,
    )


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
    damaged = 2 * tagged >= len(last) and any(FULL_ENTITY.fullmatch(tag) for tag in last)
    if width < 2 or widths.count(width) < (0.5 if damaged else 0.9) * len(widths):
        return []
    kept = [(n, line) for n, line in rows if len(cells_of(line, blanks=True)) == width]
    return [(n, line) for n, line in kept if not line.startswith("# ")]


def names_words(lines: Sequence[str]) -> bool:
    """Return whether a comment names the columns of words and tags, without ids."""
    names = _names(lines)
    return any(name in WORD_NAMES for name in names) and "id" not in names


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
    tagged = any(FULL_ENTITY.match(cell) or cell[:2] == "B-" for row in rows[1:] for cell in row)
    return names[0] in WORD_NAMES and unlike and tagged  # as in HIPE: TOKEN, NE-COARSE-LIT, ...


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
