"""Evidence for what ends a sentence in a file with one word per line.

Names of columns decide first, then blank lines, then an index of the words that begins anew, then a
number that rises with each sentence. They must agree. A file without any of them is one sentence
only if no end mark has words behind it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.readers.kinds import are_counts
from crfviz.text.readers.losses import END_HELP, question
from crfviz.text.readers.roles import Roles

DOCUMENT = "-DOCSTART-"
EXPORTED = "# crfviz ="
NAMED = "# global.columns ="
# lines of formats whose sentences end at blank lines
DEFINED = (DOCUMENT, EXPORTED, NAMED, "# text =", "# sent_id")
SENTENCE_NAMES = (
    *("sentence #", "sentence#", "sentence_id", "sentence id", "sent_id", "sentence_no", "sent"),
    *("sentence_number", "sentence_num", "sentence_idx", "sentence", "sentid", "sentence_index"),
)
DOCUMENT_NAMES = ("doc", "doc_id", "docid", "document", "document_id", "file", "filename")
INDEX_NAMES = ("id", "idx", "index", "no", "no.", "#", "token_id", "word_id", "token_index")
BLANK_LINES, RESTART = "blank", "restart"  # ends of sentences, besides a column
MOST_WORDS, MOST_OPEN = 100, 40  # of a sentence alone in a file, with an end mark and without
_UNKNOWN = "nothing shows what ends a sentence, as blank lines would"
_END = re.compile(r"[.!?。！？]+|[$]?\.")
_FIRST = re.compile("[0-9]+")
_NUMBERED = re.compile(r"(\D*)([0-9]+)")


@dataclass(frozen=True)
class Ends:
    """What ends a sentence: blank lines, an index that begins anew, or a new value in a column."""

    kind: str = BLANK_LINES  # or RESTART, or "column"
    column: int = 0  # of the index or of the number
    name: str = ""  # of the column, for messages
    sure: bool = False  # whether the caller names it, so that a number may return

    def __str__(self) -> str:
        where = self.name or f"column {self.column + 1}"
        if self.kind == BLANK_LINES:
            return "sentences end at blank lines"
        what = "begins anew" if self.kind == RESTART else "changes"
        return f"sentences end where {where} {what}"


@dataclass(frozen=True)
class Rows:
    """The rows of words at the beginning of a file."""

    lines: Sequence[str]  # of the file
    numbers: Sequence[int]  # of the lines of the rows
    cells: Sequence[Sequence[str]]  # of each row
    names: Sequence[str]  # of the columns; empty if they are unknown
    file: str  # name, for messages

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.cells[0]) if self.cells else 2

    def columns(self) -> list[list[str]]:
        """Return the values in each column, empty in short rows."""
        return [
            [row[n].strip() if n < len(row) else "" for row in self.cells]
            for n in range(self.width)
        ]

    def named(self, column: int) -> str:
        """Return the name of a column; empty without one."""
        return self.names[column] if column < min(self.width, len(self.names)) else ""

    def ask(self, problem: str) -> FormatError:
        """Return the question about the columns."""
        return question(self.file, problem, self.names, self.columns())


def find_ends(rows: Rows, roles: Roles, wanted: str | int | None) -> Ends:
    """Return what ends a sentence.

    Args:
        rows: of the words.
        roles: the columns of words and tags.
        wanted: `BLANK_LINES`, `RESTART`, or the index of a column; None looks for evidence.

    Raises:
        FormatError: the evidence is missing or contradicts itself; lists the columns.
    """
    if wanted == BLANK_LINES:
        return Ends()
    columns = rows.columns()
    others = [n for n in range(rows.width) if n != roles.word]
    index_names = [n for n in others if rows.named(n) in INDEX_NAMES]
    before = sorted({*range(min(roles.word, rows.width)), *index_names})
    counts = [n for n in before if are_counts(columns[n])]
    if wanted == RESTART:
        index = next((n for n in (*counts, *others) if are_counts(columns[n])), None)
        if index is None:
            raise rows.ask("no column numbers the words")
        return Ends(RESTART, index, rows.named(index))
    if wanted is not None:
        column = int(wanted) % rows.width
        return Ends("column", column, rows.named(column), sure=True)
    named = (rows.names.index(each) for each in SENTENCE_NAMES if each in rows.names)
    free = [n for n in named if n not in (roles.word, roles.tag % rows.width)]
    if free:
        return _named(rows, columns, free[0])
    return _shown(rows, columns, roles, counts)


def _named(rows: Rows, columns: Sequence[Sequence[str]], column: int) -> Ends:
    """Return the ends in a column with the name of one, unless the values speak against it."""
    numbers = columns[column] if column < rows.width else ()
    if numbers and not numbers[0]:
        raise rows.ask(f"the first row is empty in {rows.named(column)}")
    documents = [values for n, values in enumerate(columns) if rows.named(n) in DOCUMENT_NAMES]
    if any(_changes_alone(values, numbers) for values in documents):
        raise rows.ask("two columns may number the sentences")
    return Ends("column", column, rows.named(column))


def _shown(
    rows: Rows, columns: Sequence[Sequence[str]], roles: Roles, counts: Sequence[int]
) -> Ends:
    """Return what ends a sentence by the lines and values, without names."""
    words = columns[roles.word] if roles.word < len(columns) else []
    blocks = _blocks(rows)
    parts = [[words[at] for at in block] for block in blocks] if words else []
    if any(line.startswith(DEFINED) for line in rows.lines):
        documents = sum(line.startswith(DOCUMENT) for line in rows.lines)
        if len(blocks) <= documents and any(map(_has_inner_end, parts)):
            raise rows.ask(_UNKNOWN)
        return Ends()
    if len(blocks) > 1:
        if any(_restarts(columns[n], blocks) for n in counts):
            raise rows.ask("blank lines and a numbering that begins anew disagree")
        return Ends()
    restarts = [n for n in counts if _restarts(columns[n], blocks)]
    steps = [n for n, values in enumerate(columns) if n != roles.word and _are_steps(values)]
    if restarts and not (steps and steps != restarts):
        return Ends(RESTART, restarts[0], rows.named(restarts[0]))
    if len(steps) == 1 and not restarts:
        used = (roles.word, roles.tag % rows.width, *steps)
        rest = [values for n, values in enumerate(columns) if n not in used]
        if any(_are_inner_steps(values, columns[steps[0]]) for values in rest):
            raise rows.ask("two columns may number the sentences")
        return Ends("column", steps[0], rows.named(steps[0]))
    is_open = bool(words) and not _END.fullmatch(words[-1])
    too_long = len(words) > (MOST_OPEN if is_open else MOST_WORDS)
    if restarts or too_long or _has_inner_end(words):
        raise rows.ask(_UNKNOWN)
    return Ends()


def _restarts(values: Sequence[str], blocks: Sequence[Sequence[int]]) -> bool:
    """Return whether a numbering of words begins anew inside of a block."""
    numbers = [int(_FIRST.findall(value)[0]) if value[:1].isdecimal() else 0 for value in values]
    inner = (at for block in blocks for at in block[1:] if values[at].isdecimal())
    return any(numbers[at] <= numbers[at - 1] for at in inner)


def _blocks(rows: Rows) -> list[list[int]]:
    """Return the indices of the rows between lines that end a sentence."""
    found: list[list[int]] = []
    for at, number in enumerate(rows.numbers):
        between = rows.lines[rows.numbers[at - 1] : number - 1] if at else ()
        if not at or any(map(_ends_block, between)):
            found.append([])
        found[-1].append(at)
    return found


def _ends_block(line: str) -> bool:
    return not line.strip(" \t,;|\r") or line.startswith(DOCUMENT)


def _are_steps(values: Sequence[str]) -> bool:
    """Return whether a column numbers groups of rows: each value is as before, or one more."""
    parts = [_NUMBERED.fullmatch(value) for value in values]
    if not values or not all(parts) or len({part[1] for part in parts if part}) > 1:
        return False
    numbers = [int(part[2][:9]) for part in parts if part]
    steps = {b - a for a, b in pairwise(numbers)}
    return steps == {0, 1} and 2 * len({*numbers}) <= len(numbers)


def _are_inner_steps(values: Sequence[str], outer: Sequence[str]) -> bool:
    """Return whether a column numbers parts of the groups that another one numbers."""
    groups = groupby(zip(outer, values, strict=True), key=lambda pair: pair[0])
    inner = [[value for _, value in group] for _, group in groups]
    several = [group for group in inner if len({*group}) > 1]
    return bool(several) and all(map(_are_steps, several))


def _changes_alone(values: Sequence[str], numbers: Sequence[str]) -> bool:
    """Return whether a value changes in some row whose number is that of the row before."""
    rows = pairwise(zip(values, numbers, strict=True))
    return any(a[0] != b[0] and b[1] in (a[1], "") for a, b in rows)


def _has_inner_end(words: Sequence[str]) -> bool:
    """Return whether a mark that ends sentences has another word behind it."""
    last = max((n for n, word in enumerate(words) if any(map(str.isalnum, word))), default=-1)
    return any(_END.fullmatch(word) for word in words[:last])


def starts_of(ends: Ends, word: int, name: str) -> Callable[[Sequence[str], int], bool]:
    """Return a function that tells whether a row, with its line, begins a sentence.

    It is false for the first row. Where the column has the text of the sentence, the same text
    again begins a sentence after its last word. `word` is the column of the words. The function
    raises a FormatError if a number of sentences returns, or words of a text begin anew before
    its end.
    """
    last: str | None = None
    seen: set[str] = set()
    rest = ""  # of the text, without blanks, behind the words so far
    count = 0  # rows of the sentence
    is_text = True  # whether `last` may be a text; the number I before “I am” is not

    def begins(cells: Sequence[str], line: int) -> bool:
        nonlocal last, rest, count, is_text
        here = cells[ends.column].strip() if ends.column < len(cells) else ""
        if not here or (ends.kind == RESTART and not here.isdecimal()):
            return False
        before, last = last, here
        if ends.kind == RESTART:
            return before is not None and int(here) <= int(before)
        text, form = "".join(here.split()), cells[word].strip() if word < len(cells) else ""
        is_text = here != before or (is_text and (bool(rest) or text.startswith(form)))
        starts = is_text and not here.isdecimal() and form != "" and text.startswith(form)
        is_sure = ends.sure or (starts and not rest)
        if here != before and here in seen and not is_sure:
            raise FormatError(
                f"{name}, line {line}: the sentence number {abbreviate(here)} returns after "
                f"others; {END_HELP}"
            )
        seen.add(here)
        if starts and here == before and rest and count >= len(here.split()):
            raise FormatError(
                f"{name}, line {line}: the words of {abbreviate(here)} begin anew, as one sentence "
                f"or as two; {END_HELP}"
            )
        is_new = here != before or (starts and not rest)
        rest, count = (text, 0) if is_new else (rest, count)
        rest, count = rest.removeprefix(form), count + 1
        return is_new and before is not None

    return begins
