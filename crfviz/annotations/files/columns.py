"""CoNLL-U and CoNLL columns with annotations, one word per line.

A comment `# crfviz = {...}` holds the fields of `fields`, and the text if `# text` cannot hold it.
CoNLL-U has the tag as UPOS, and in MISC the annotator, the model's proposal and the word's
character offsets; the columns are word, offsets, proposal, tag. Invalid contents raise a
FormatError that names the line.
"""

import json
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote, unquote

from crfviz.annotations.files.fields import (
    ROWS,
    FileSentence,
    annotated,
    check_length,
    fields_of,
)
from crfviz.annotations.records import Item, Pair
from crfviz.exceptions import FormatError
from crfviz.text import columns
from crfviz.text.files import abbreviate, check_utf_8
from crfviz.text.jsonl import parse_object
from crfviz.text.sentences import joined, located

MARK = "# crfviz ="
RANGE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
UNSAFE = re.compile(r"[%|\s]")  # characters to escape in MISC
TIGHT = "SpaceAfter=No"


def render_conllu(pair: Pair) -> str:
    """Return an annotated sentence in CoNLL-U."""
    item, annotation = pair
    name = f"{item.document}-{item.position + 1}-{annotation.annotator}"
    rows = []
    for number, (word, place, proposed, tag) in enumerate(_words(pair), start=1):
        end = int(place.partition(":")[2])
        tight = end < len(item.text) and not item.text[end].isspace()
        misc = [f"Annotator={_packed(annotation.annotator)}", f"Proposal={_packed(proposed)}"]
        misc += [TIGHT] * tight + [f"TokenRange={place}"]
        rows.append([str(number), word, "_", tag, "_", "_", "_", "_", "_", "|".join(misc)])
    return columns.rendered([f"# sent_id = {quote(name, safe='')}", *_comments(pair)], rows)


def render_columns(pair: Pair) -> str:
    """Return an annotated sentence in columns: word, start:end, proposal, tag."""
    return columns.rendered(_comments(pair), _words(pair))


def read_block(
    block: columns.Block, where: str, layout: columns.Layout, name: str
) -> FileSentence | None:
    """Read the sentence of a block; None without words.

    `where` (the position of the block) and `name` (of the file) are used in messages.
    """
    for number, line in block:
        check_utf_8(line, f"{name}, line {number}")
    check_length(columns.words_in(block, layout), where)
    rows = columns.word_rows(block, layout, name)
    marked = columns.comment(block, MARK)
    if marked is not None:
        fields = parse_object(marked, where)
        text = fields.get("text", columns.comment(block, columns.TEXT_COMMENT))
        if not isinstance(text, str):
            told = f"expected the sentence in {columns.TEXT_COMMENT!r}, got none"
            raise FormatError(f"{where}: {told}")
        known = {name: value for name, value in fields.items() if name not in ROWS}
        return annotated(known | _shown(rows, text, name), text, where)
    sentence = columns.sentence_of(block, layout, name)
    if not rows:
        return None
    lines = tuple(row.number for row in rows)
    if sentence.text is not None:
        places = located(sentence.tokens, sentence.text)
        if places is not None:
            return FileSentence(Item(sentence.text, places, sentence.tags), lines=lines)
    glued = [TIGHT in row.cells[-1].split("|") for row in rows] if layout.width == 10 else None
    note = "" if sentence.text is None else "the words are not those of # text: joined by blanks"
    text, places = joined(sentence.tokens, glued)
    return FileSentence(Item(text, places, sentence.tags), note=note, lines=lines)


def _comments(pair: Pair) -> Iterator[str]:
    text = pair[0].text
    fields = {name: value for name, value in fields_of(pair).items() if name not in ROWS}
    if text == text.strip() and not columns.BREAKS.search(text):
        yield f"{columns.TEXT_COMMENT} {text}"
    else:
        fields["text"] = text
    yield f"{MARK} {json.dumps(fields, ensure_ascii=False)}"


def _words(pair: Pair) -> Iterator[tuple[str, str, str, str]]:
    """Yield the cells of every word: word, offsets, proposed and final tag."""
    item, annotation = pair
    for (start, end), proposed, tag in zip(
        annotation.offsets, annotation.proposed, annotation.final, strict=True
    ):
        for value in (proposed, tag):
            if not columns.fits(value):
                raise FormatError(
                    f"columns cannot hold the tag {abbreviate(value)}: expected one without TAB, "
                    f"line break or blanks around it (JSONL can hold it)"
                )
        yield _cell(item.text[start:end]), f"{start}:{end}", proposed, tag


def _cell(word: str) -> str:
    """Return a word as a column can hold it; its offsets identify it."""
    return columns.BREAKS.sub(" ", word).strip() or "_"


def _packed(value: str) -> str:
    """Escape a value for MISC, where `|` separates."""
    return UNSAFE.sub(lambda wrong: quote(wrong[0]), value)


def _shown(rows: Sequence[columns.WordRow], text: str, name: str) -> dict[str, object]:
    """Return the fields of an annotated sentence that its rows hold, see `fields_of`."""
    parts = [_parts(row, name) for row in rows]
    places = [_place(part[0], row, text, name) for part, row in zip(parts, rows, strict=True)]
    return {
        "offsets": places,
        "proposed": [proposed for _, proposed, _ in parts],
        "tags": [tag for _, _, tag in parts],
    }


def _parts(row: columns.WordRow, name: str) -> tuple[str, str, str]:
    """Return offsets, proposal and tag of a word."""
    if len(row.cells) == 4:
        return row.cells[1], row.cells[2], row.cells[3]
    if len(row.cells) != columns.CONLLU.width:
        raise FormatError(
            f"{name}, line {row.number}: expected word, start:end, proposal and tag, "
            f"got {len(row.cells)} columns"
        )
    parts = dict(part.partition("=")[::2] for part in row.cells[-1].split("|"))
    if not parts.keys() >= {"TokenRange", "Proposal"}:
        raise FormatError(
            f"{name}, line {row.number}: expected Proposal= and TokenRange= in the last column, "
            f"got {abbreviate(row.cells[-1])}"
        )
    return parts["TokenRange"], unquote(parts["Proposal"]), row.cells[columns.CONLLU.tag]


def _place(cell: str, row: columns.WordRow, text: str, name: str) -> list[int]:
    """Return a word's offsets, checked against the word: offsets in an export must never shift."""
    match = RANGE.fullmatch(cell)
    if not match:
        raise FormatError(f"{name}, line {row.number}: expected start:end, got {abbreviate(cell)}")
    start, end = int(match[1]), int(match[2])
    if _cell(text[start:end]) != row.token:
        raise FormatError(
            f"{name}, line {row.number}: expected {abbreviate(_cell(text[start:end]))}, the "
            f"characters {start} to {end} of the text, got {abbreviate(row.token)}"
        )
    return [start, end]
