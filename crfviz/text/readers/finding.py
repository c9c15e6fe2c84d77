"""Detection of the format of a file from its content; its name is only a hint.

Other files are rejected here, with one line that names their likely type and the action.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crfviz.exceptions import FormatError
from crfviz.text import fasta
from crfviz.text.columns import COLUMNS, CONLLU, CONLLU_XPOS, IOB2, WORD_ID, Layout, is_comment
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.readers import brat, corpora, inline, misc, rows, tables
from crfviz.text.readers.ends import DOCUMENT
from crfviz.text.readers.keys import TEXTS, elements_of
from crfviz.text.readers.kinds import are_lemmas, are_tags
from crfviz.text.readers.losses import question
from crfviz.text.readers.rows import ANY, CONLLU_NAMES, Columns, Wanted
from crfviz.text.schemes import OUTSIDE, scheme_of_file

# Signatures of binary files: type, and action.
BINARY = {
    b"PK\x03\x04": ("an Office document or ZIP archive", "save it as plain text (.txt)"),
    b"\xd0\xcf\x11\xe0": ("an old Office document", "save it as plain text (.txt)"),
    b"%PDF-": ("a PDF", "save it as plain text (.txt)"),
    b"\x89PNG": ("a picture", "save it as plain text (.txt)"),
    b"\xff\xd8\xff": ("a picture", "save it as plain text (.txt)"),
    b"\x80": ("a pickle", "export the sentences as JSONL"),
}
GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
JSON_START = re.compile(r'\s*\{(\s*"|[^\t]*$)')
JSON_LIST = re.compile(r"\s*\[\s*([\[{\]\"]|$)")
_FASTA_NAME = re.compile(fasta.NAME)
_TEMPLATE = re.compile(r"[UB][0-9]*:.*%x\[")
_PUBTATOR = re.compile(r"[0-9]+\|[ta]\|")
_MARKUP = re.compile(r"\s*<(!DOCTYPE|\?xml|html|[A-Za-z]+[ >])", re.IGNORECASE)
_PARTS = {  # words, tags and ends of sentences in formats that leave no choice but of the tags
    "docbin": ("words of each document", "no tags", "a sentence a part"),
    "brat": ("words of the text", "entities of the .ann", "a sentence a line"),
    "inline": ("the word before the last mark", "the tag behind it", "a sentence a line"),
    "parallel": ("words before the TAB", "tags behind it", "a sentence a line"),
    "table": ("words of a cell", "tags of a cell", "a sentence a row"),
    "webanno": ("words in column 3", "the first feature", "sentences end at blank lines"),
    "conll2012": ("words in column 4", "bracketed entities", "sentences end at blank lines"),
    "fasta": ("letters", "no tags", "a sentence a record"),
    "text": ("words of the text", "no tags", "a sentence a line"),
}
LAYOUTS = {"conllu": CONLLU, "conllu-xpos": CONLLU_XPOS, "iob2": IOB2}


@dataclass(frozen=True)
class Found:
    """A format with the parameters of its reader."""

    format: str
    columns: Columns | None = None  # of formats with one word per line
    separator: str = ""  # separator of table cells, or of words and tags in a line

    def __str__(self) -> str:
        what = self.columns.dialect.separator if self.columns else self.separator
        between = {"\t": "TAB", " ": "blanks"}.get(what, repr(what) if what else "")
        return f"{self.format} with {between}" if between else self.format


def summary_of(
    found: Found,
    keys: tuple[Collection[str], Collection[str]],
    unit: str,
    tags: Collection[str],
    count: int,
    untagged: int = 0,
) -> str:
    """Return format, words, tags, ends of sentences, scheme and number in one line.

    Args:
        found: the format.
        keys: of words and of tags in JSON.
        unit: what spans count; empty without spans.
        tags: of all sentences.
        count: number of sentences.
        untagged: those among them without tags.
    """
    columns = found.columns
    if columns is not None:
        parts = [
            f"words in {columns.named(columns.layout.word)}",
            f"tags in {columns.named(columns.layout.tag)}",
            str(columns.ends),
        ]
    elif found.format in ("json", "jsonl", "parquet"):
        words, own = (", ".join(sorted(each)) for each in keys)
        parts = [f"words in {words or 'each list'}"]
        parts += [f"tags in {own or 'each list'}"] * bool(own or tags)
        parts += [f"spans count {unit}"] * bool(unit) + ["a sentence an object"]
    else:
        parts = [*_PARTS.get(found.format, ("words", "tags", "a sentence a line"))]
        parts[1] = f"tags in {', '.join(keys[1])}" if keys[1] else parts[1]
    scheme = scheme_of_file(tags) if {*tags} - {OUTSIDE} else None
    shown = scheme or (f"{len(tags):,} tag{'s' * (len(tags) > 1)}" if tags else "no tags")
    number = f"{count:,} sentence{'s' * (count != 1)}"
    number += f", {untagged:,} without tags" if tags and untagged else ""
    return "; ".join([str(found), *parts, shown, number])


def find_format(lines: Sequence[str], wanted: Wanted = ANY, *, name: str = "text") -> Found:
    """Return the format of a text from its first lines; `text` is plain text without tags.

    A file without words has no sentences in any format, and counts as columns.

    Args:
        lines: the first `rows.SAMPLE` of the file, without line ends.
        wanted: the columns that the caller names, see `rows.columns_of`.
        name: of the file, for messages.

    Raises:
        FormatError: the file is not a corpus, or lacks the column.
    """
    if any(line.startswith(corpora.WEBANNO) for line in lines[:5]):
        return Found("webanno")
    filled = [line for line in lines if line.strip() and not is_comment(line)]
    begins = any(line.startswith(corpora.CONLL_2012) for line in lines[:5])
    if corpora.are_conll_2012(filled, begins=begins):
        return Found("conll2012")
    data = [line for line in filled if not line.startswith(DOCUMENT)] or filled
    if not data:
        known = rows.columns_of(lines, wanted, name=name)
        return Found("columns", known or Columns(COLUMNS))
    if rows.names_words(lines[:5]):
        return _columns(lines, wanted, name)
    _refuse_others(data, name)
    if JSON_START.match(data[0]) or JSON_LIST.match(data[0]):
        return Found("json" if wanted.sentences is not None else _json_kind(data, name))
    row = data[0].split("\t")
    named = data[0].startswith(fasta.COMMENT) and any(map(_FASTA_NAME.match, data))
    if (named or data[0].startswith(fasta.NAME)) and len(row) == 1:
        return Found("fasta")
    others = wanted.words is not None or wanted.sentences is not None
    if len(row) == CONLLU.width and WORD_ID.fullmatch(row[0]) and not others:
        return Found("conllu", _conllu(data, wanted.tags, name))
    if len(row) == IOB2.width and WORD_ID.fullmatch(row[0]) and not wanted:
        rest = [line.split("\t") for line in data[:100] if line.count("\t") == IOB2.width - 1]
        words, tags = ([cells[at] for cells in rest] for at in (IOB2.word, IOB2.tag))
        if not (all(map(str.isdecimal, tags)) or are_lemmas(words, tags)):  # offsets or lemmas
            return Found("iob2", Columns(IOB2))
    other = _table_or_lines(data, wanted, name, has_tabs=len(row) > 1)
    return other or _columns(lines, wanted, name)


def _columns(lines: Sequence[str], wanted: Wanted, name: str) -> Found:
    columns = rows.columns_of(lines, wanted, name=name)
    return Found("text") if columns is None else Found("columns", columns)


def _table_or_lines(
    data: Sequence[str], wanted: Wanted, name: str, *, has_tabs: bool
) -> Found | None:
    """Return the format of a table of texts, or of lines that are sentences; None for others.

    Raises:
        FormatError: it is a table of other data, or may have texts without a header.
    """
    header = tables.header_of(data[0])
    if header and tables.is_table(data, header):
        return Found("table", separator=header[0])
    if header or wanted:
        return None
    if other := tables.untagged_table(data[: tables.MANY]):
        if any(each in (*TEXTS, "sentence") for each in other[1]):
            return Found("table", separator=other[0])
        if not has_tabs:
            raise FormatError(
                f"{name}: seems to be a table without texts or tagged words, got the columns "
                f"{abbreviate_names(other[1])}; name a column text, or two columns word and tag"
            )
    if has_tabs:
        if inline.is_parallel(data):
            return Found("parallel")
        if len(data) > 1 and inline.is_parallel(data[1:]):
            return Found("table", separator="\t")
        if inline.has_parallel(data):
            raise question(
                name,
                "a sentence a row without names of its columns; write a first line such as "
                "text TAB labels",
                (),
                list(zip(*(line.split("\t") for line in data[:1]), strict=True)),
            )
        return None
    if separator := inline.separator_of(data, name):
        return Found("inline", separator=separator)
    return None


def _conllu(lines: Sequence[str], column: str | int | None, name: str) -> Columns:
    key, note = misc.find_entities(lines, column)
    index = None if key else rows.chosen_column(column, CONLLU_NAMES, len(CONLLU_NAMES), name)
    layout = {None: CONLLU, 3: CONLLU, 4: CONLLU_XPOS}.get(
        index, Layout(CONLLU.name, CONLLU.expected, 1, index or 0, CONLLU.width, ids=True)
    )
    return Columns(layout, names=CONLLU_NAMES, lost=note, entity_key=key)


def _json_kind(lines: Sequence[str], name: str) -> str:
    """Return `jsonl` if each line is a JSON value, else `json`."""
    first = lines[0].strip()
    if first in ("{", "["):
        return "json"
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        alike = len({line.lstrip()[:1] for line in lines[:2]}) == 1
        return "jsonl" if first.startswith("{") and alike else "json"
    if len(lines) > 1:
        return "jsonl"
    return "jsonl" if first.startswith("{") and not _wraps(first, name) else "json"


def _wraps(line: str, name: str) -> bool:
    """Return whether the only line of a file is an object that contains a list of sentences."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and elements_of(value, name=name) is not None


def _refuse_others(lines: Sequence[str], name: str) -> None:
    """Reject texts that are not corpora.

    Raises:
        FormatError: names the likely type and the action.
    """
    if all(brat.BRAT_LINE.match(line) for line in lines):
        raise FormatError(
            f"{name}: seems to be brat's annotations without their text; put the .txt of the same "
            f"name beside it, or bring both in one .zip"
        )
    if any(_PUBTATOR.match(line) for line in lines[:20]) or _are_marks(lines):
        raise FormatError(
            f"{name}: seems to be PubTator, texts with offsets of entities; convert it to brat "
            f"(.txt and .ann) or to JSONL with a text and its spans a line"
        )
    if any(_TEMPLATE.match(line) for line in lines[:20]):
        raise FormatError(
            f"{name}: seems to be a template of CRF++, which describes features; bring the file "
            f"with the words and their tags"
        )
    if 3 * lines[0].count("\0") > len(lines[0]):
        raise FormatError(
            f"{name}: has NUL characters, as UTF-16 without a byte order mark; save it as UTF-8"
        )
    if lines[0].startswith(r"{\rtf"):
        raise FormatError(f"{name}: seems to be a document in RTF; save it as plain text (.txt)")
    if _MARKUP.match(lines[0]):
        raise FormatError(
            f"{name}: seems to be HTML or XML, got {abbreviate(lines[0])}; save it as plain text, "
            f"or export the annotations as JSONL"
        )


def _are_marks(lines: Sequence[str]) -> bool:
    """Return whether rows are an id, start, end, the text between them, and its type."""
    rows = [line.split("\t") for line in lines[:100]]
    if not all(len(row) in (5, 6) and all(map(str.isdecimal, row[:3])) for row in rows):
        return False
    quoted = all(
        max(map(len, row[1:3])) < 10 and int(row[2]) - int(row[1]) == len(row[3]) for row in rows
    )
    return quoted and len(rows) > 1 and not are_tags([row[4] for row in rows])
