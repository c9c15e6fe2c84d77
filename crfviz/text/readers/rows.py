"""Rows of words: the columns of a file, and its lines as columns separated by TAB.

TABs, blanks, commas, semicolons or bars separate the columns of a line. A blank is part of a word
if the file has TABs; a no-break space always is. `-DOCSTART-` ends a sentence, and a header is not
a word. `quoting` tells a quotation mark that is a word from one around a cell.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from crfviz.exceptions import FormatError
from crfviz.text.columns import COLUMNS, WORD_ID, Layout, is_comment
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.readers.ends import (
    BLANK_LINES,
    DOCUMENT,
    EXPORTED,
    NAMED,
    RESTART,
    Ends,
    Rows,
    find_ends,
    starts_of,
)
from crfviz.text.readers.keys import verdict_of
from crfviz.text.readers.kinds import ENTITY, FULL_ENTITY, KNOWN, are_counts, are_tags
from crfviz.text.readers.misc import with_entity
from crfviz.text.readers.quoting import BLANK, TABS, Dialect, cells_of, dialect_of
from crfviz.text.readers.roles import CONLL_NAMES, TAG_NAMES, WORD_NAMES, Header, Roles, find_roles
from crfviz.text.schemes import OUTSIDE

CONLLU_NAMES = (
    *("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"),
)
RELATED = "relations were left out"
NESTED = "nested entities in the last column were left out"
GERMEVAL = ("number", "word", "outer", "nested")
SAMPLE = 2000  # lines used for detection
_OPENED = re.compile(r"\(([\w-]+)")
_BRACKETED = re.compile(r"\([\w-]+\*?\)?|\*\)?|-")
_RELATION = re.compile(r"[0-9]+\t[0-9]+\t[A-Za-z]\w*")  # of two words, as in CoNLL-04
_RELATION_TABS = 2
BLANK_ENDS = Ends()


@dataclass(frozen=True)
class Columns:
    """The columns of a file with one word per line."""

    layout: Layout
    dialect: Dialect = TABS
    header: int = 0  # line number of the column names; 0 without a header
    names: tuple[str, ...] = ()  # of the columns, if they are known
    ends: Ends = BLANK_ENDS
    predicted: int | None = None  # column of predicted tags, after the gold tags
    sources: bool = False  # whether lines of `#` TAB name a source, as in GermEval
    relations: bool = False  # whether lines relate two words, as in CoNLL-04
    lost: str = ""  # what is not read, and which columns are
    entity_key: str = ""  # in MISC of CoNLL-U, read as UPOS; empty for the column itself
    by_comment: bool = False  # whether a comment names the columns, so that `# O` is a word

    def named(self, column: int) -> str:
        """Return the description of a column: its number, and its name if it has one."""
        if self.entity_key and column == self.layout.tag:
            return f"MISC ({self.entity_key})"
        number = column + 1 if column >= 0 else (self.layout.width or len(self.names)) + column + 1
        if column < 0 and number <= 0:
            return "the last column"
        has_name = 0 < number <= len(self.names)
        return f"column {number} ({self.names[number - 1]})" if has_name else f"column {number}"


@dataclass(frozen=True)
class Wanted:
    """The columns that the caller names; None leaves the choice to the evidence."""

    words: str | int | None = None
    tags: str | int | None = None
    sentences: str | int | None = None  # a column, "blank" or "restart"

    def __bool__(self) -> bool:
        return any(each is not None for each in (self.words, self.tags, self.sentences))


ANY = Wanted()  # the evidence decides


def tab_lines(lines: Iterable[str], columns: Columns, name: str = "file") -> Iterator[str]:
    """Yield the lines with TABs between columns, and an empty line after each sentence.

    Raises:
        FormatError: a number of sentences returns after others; names the line.
    """
    split, ends = columns.dialect, columns.ends
    if columns.sources:
        lines = (f"# {line[2:]}".replace("\t", " ") if is_source(line) else line for line in lines)
    if columns.relations:
        lines = ("" if _RELATION.fullmatch(line) else line for line in lines)
    if columns.entity_key:
        lines = (with_entity(line, columns.entity_key) for line in lines)
    tabs = split == TABS
    begins = None if ends.kind == BLANK_LINES else starts_of(ends, columns.layout.word, name)
    for number, line in enumerate(lines, start=1):
        if line.startswith(DOCUMENT) or number == columns.header:
            yield ""
            continue
        if not line.strip():
            yield line if begins is None else ""
            continue
        if (is_comment(line) and split.separator != BLANK) or _is_remark(line, columns):
            yield line.replace("\t", " ")
            continue
        cells = line.split("\t") if tabs else cells_of(line, split)
        if not any(cell.strip() for cell in cells):
            yield ""
            continue
        if begins is not None and begins(cells, number):
            yield ""
        if not tabs and any("\t" in cell for cell in cells):
            raise FormatError(f"{name}, line {number}: expected cells without TAB, got one")
        yield line if tabs else "\t".join(cells)


def is_source(line: str) -> bool:
    """Return whether a line names the source of a sentence, as in GermEval 2014."""
    return line.startswith("#\t")


def _is_remark(line: str, columns: Columns) -> bool:
    """Return whether a line of a blank-separated file is a comment; `#NYC B-LOC` is a word."""
    if columns.dialect.separator != BLANK or not line.startswith("#"):
        return False
    cells = cells_of(line, columns.dialect)
    if columns.by_comment:
        return len(cells) != columns.layout.width
    is_tag = cells[-1] in KNOWN or ENTITY.fullmatch(cells[-1]) is not None
    return len(cells) != columns.layout.width or not is_tag


def columns_of(lines: Sequence[str], wanted: Wanted, *, name: str) -> Columns | None:
    """Return the columns of a file from its first lines; None if they are not rows of words.

    Args:
        lines: the first lines of the file.
        wanted: the columns that the caller names: by name, or by number from 1; -1 is the last.
        name: name of the file, for messages.

    Raises:
        FormatError: a column does not exist, or the evidence leaves the roles of columns open.
    """
    words, dialect = _rows_of_words(lines, name, forced=bool(wanted))
    blanks = dialect.separator == BLANK
    if blanks and not words:
        return None
    others = [(number, line) for number, line in words if not is_source(line)]
    ids = [row.partition("\t")[0] for _, row in others]
    sources = len(others) < len(words) and are_counts(ids) and others[0][1].count("\t") > 1
    words = others if sources else words
    related = [row for row in words if _RELATION.fullmatch(row[1])]
    relations = bool(related) and words[0][1].count("\t") > _RELATION_TABS
    words = [row for row in words if not (relations and _RELATION.fullmatch(row[1]))]
    cells = [cells_of(line, dialect) for _, line in words]
    names = _names(lines)
    header = 0
    if not names and cells and _is_header(cells):
        names, header = [cell.strip().lower() for cell in cells[0]], words[0][0]
        cells, words = cells[1:], words[1:]
    for (number, _), row in zip(words, cells, strict=True) if names else ():
        if verdict := verdict_of(dict(zip(names, row, strict=False)), name):
            raise FormatError(
                f"{name}, line {number}: is answered “{verdict}”; leave out such rows, or name the "
                f"columns in a file without the answers"
            )
    filled = [n for n, row in enumerate(cells) if any(cell.strip() for cell in row)]
    numbers, cells = [words[n][0] for n in filled], [cells[n] for n in filled]
    width = len(cells[0]) if cells else max(2, len(names))
    first = [row[0].strip() for row in cells]
    if not names and width == len(CONLLU_NAMES) and all(map(WORD_ID.fullmatch, first)):
        names = list(CONLLU_NAMES)
    own = any(line.startswith(EXPORTED) for line in lines)  # proposals precede the tags
    assumed = CONLL_NAMES if not names and width == len(CONLL_NAMES) and blanks else names
    chosen = [chosen_column(each, assumed, width, name) for each in (wanted.words, wanted.tags)]
    word, tag = (None if each is None else each % width for each in chosen)
    ranged = all(map(WORD_ID.fullmatch, first)) and are_counts(first)
    ranged = ranged and (names[:1] == ["id"] or any("-" in row[0] for row in cells))
    if ranged:
        plain = [n for n, row in enumerate(cells) if row[0].strip().isdecimal()]
        cells, numbers = [cells[n] for n in plain], [numbers[n] for n in plain]
    if sources and width == len(GERMEVAL) and tag is None:
        nested = any(row[-1] != OUTSIDE for row in cells)
        outer = GERMEVAL.index("outer")
        roles: Roles | None = Roles(1, outer, note=NESTED if nested else "")
    else:
        about = Header(names, header > 0, own, dialect.separator != BLANK or bool(wanted))
        roles = find_roles(cells, about, (word, tag), name)
    if roles is None:
        return None
    number = -1 if not names and roles.tag == width - 1 else roles.tag
    layout = replace(COLUMNS, word=roles.word, tag=number, ids=ranged)
    if blanks:
        rows = lines[numbers[0] - 1 : numbers[-1]] if numbers else ()
        in_blocks = not all(line.strip() for line in rows)
        tags = [row[roles.tag] for row in cells if len(row) > roles.tag]
        if not (header or names or wanted) and not are_tags(tags, in_blocks=in_blocks):
            return None
        layout = replace(layout, width=width, expected=f"{width} columns")
    chosen_end = wanted.sentences
    if chosen_end not in (None, BLANK_LINES, RESTART):
        chosen_end = chosen_column(chosen_end, names, width, name)
    ends = find_ends(Rows(lines, numbers, cells, names, name), roles, chosen_end)
    numbered = ends.kind != BLANK_LINES and ends.column == 0 and roles.word == 1
    notes = ("" if numbered else roles.note, RELATED if relations else "")
    lost = "; ".join(filter(None, notes))
    return Columns(
        layout,
        dialect,
        header,
        tuple(names),
        ends,
        roles.predicted,
        sources,
        relations,
        lost,
        by_comment=bool(names) and not header,
    )


def _rows_of_words(
    lines: Sequence[str], name: str, *, forced: bool
) -> tuple[list[tuple[int, str]], Dialect]:
    """Return the numbered rows of words, and how their cells are separated."""
    rows = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith(DOCUMENT)
    ]
    words = [(number, line) for number, line in rows if not is_comment(line)]
    words = words or [(number, line) for number, line in rows if not line.startswith("# ")]
    dialect = dialect_of([line for _, line in words], name)
    if dialect.separator == BLANK:
        return (words if forced else _equally_wide(rows)), dialect
    return words, dialect


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
    cells = [cells_of(line, Dialect(BLANK)) for _, line in rows if not line.startswith("# ")]
    widths = [len(each) for each in cells]
    if not widths:
        return []
    width = max(set(widths), key=widths.count)
    tagged = sum(ENTITY.fullmatch(each[-1]) is not None for each in cells)
    damaged = 2 * tagged >= len(cells) and any(FULL_ENTITY.fullmatch(each[-1]) for each in cells)
    if width < 2 or widths.count(width) < (0.5 if damaged else 0.9) * len(widths):
        return []
    kept = [(n, line) for n, line in rows if len(cells_of(line, Dialect(BLANK))) == width]
    return [(n, line) for n, line in kept if not line.startswith("# ")]


def names_words(lines: Sequence[str]) -> bool:
    """Return whether a comment names other columns than those of CoNLL-U."""
    names = _names(lines)
    return any(name in WORD_NAMES for name in names) and tuple(names) != CONLLU_NAMES


def _names(lines: Sequence[str]) -> list[str]:
    named = next((line for line in lines if line.startswith(NAMED)), None)
    return named.removeprefix(NAMED).lower().split() if named else []


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names columns of words and tags."""
    names = [cell.strip().lower() for cell in rows[0]]
    has_word = any(name in WORD_NAMES for name in names)
    if has_word and any(name in TAG_NAMES for name in names):
        return True
    others = [cell.strip() for cell in rows[0] if cell.strip().lower() not in WORD_NAMES]
    unlike = not any(cell in KNOWN or ENTITY.fullmatch(cell) for cell in others)
    rest = rows[1:]
    tagged = any(FULL_ENTITY.match(cell) or cell[:2] == "B-" for row in rest for cell in row)
    if has_word and unlike and tagged:  # as in HIPE: TOKEN, NE-COARSE-LIT, ...
        return True
    last = [row[-1].strip() for row in rest]  # other names, over a column of known tags
    return len(last) > 1 and unlike and tagged and are_tags(last) and rows[0][-1] not in last


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
