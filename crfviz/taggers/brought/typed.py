"""A small model typed or pasted as tables: names, (K, K) transitions, (T, K) emissions, two rows.

Labels beside the numbers name tags and words. A table of transitions may have a row START and a
column END, as the pages draw it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.edits import END, START
from crfviz.chain.potentials import Array
from crfviz.exceptions import FormatError, errors_at
from crfviz.taggers.brought.parsed_model import ParsedModel, SentenceScores, Steps
from crfviz.taggers.brought.score_arrays import logarithm
from crfviz.text.number_tables import NumberTable, parse_number_table

KIND = "Typed tables"
SCORES, PROBABILITIES, FACTORS = "scores", "probabilities", "factors"
UNITS = {SCORES: "scores (nats)", PROBABILITIES: "probabilities", FACTORS: "factors exp(score)"}
NEUTRAL = {SCORES: 0.0, PROBABILITIES: 1.0, FACTORS: 1.0}  # favours no tag
_ANSWERS = {SCORES: None, PROBABILITIES: True, FACTORS: False}  # of `ParsedModel.probabilities`
_COMMAS = re.compile(r"[,;\t\n]")


@dataclass(frozen=True, kw_only=True)
class TypedModel:
    """The texts of a typed model; only the emissions are required."""

    emissions: str  # a row a word, a column a tag; or the other way round with labels
    transitions: str = ""  # rows from, columns to; zeros if empty
    start: str = ""  # K numbers; zeros if empty
    end: str = ""
    tags: str = ""  # K names; labels of the tables, or ids, if empty
    words: str = ""  # T words
    unit: str = SCORES  # one of `UNITS`; factors are exp(score), of any size


def read_typed(typed: TypedModel) -> ParsedModel:
    """Return the model of some texts, unchecked but for their numbers.

    Raises:
        FormatError: a text is no table of numbers, or labels contradict names; says which.
    """
    tags, words = _names(typed.tags), typed.words.split()
    transitions = _table("transitions", typed.transitions, tags)
    emissions = _table("emissions", typed.emissions, tags, words)
    if emissions is None:
        raise FormatError("emissions: type a row of numbers for each word, a column for each tag")
    start, end = _row("start", typed.start), _row("end", typed.end)
    above = beside = None
    if transitions is not None:
        transitions, above, beside = _without_border(transitions)
        if not tags and transitions.header is not None:
            tags = list(transitions.header)
    if tags and emissions.labels is not None and set(emissions.labels) == set(tags):
        emissions = _turned(emissions)
    if not tags and emissions.header is not None:
        tags = list(emissions.header)
    if not words and emissions.labels is not None:
        words = list(emissions.labels)
    columns = _order("emissions", emissions.header, tags)
    tables = {"emissions": emissions.values[:, columns], "start": start, "end": end}
    if transitions is not None:
        columns = _order("transitions", transitions.header, tags)
        rows = _order("transitions", transitions.labels, tags)
        tables["transitions"] = transitions.values[rows][:, columns]
        if start is None and above is not None:
            tables["start"] = above[columns]
        if end is None and beside is not None:
            tables["end"] = beside[rows]
    if transitions is None and not (start is None and end is None):
        tables["transitions"] = np.full((emissions.values.shape[1],) * 2, NEUTRAL[typed.unit])
    scores = {name: _scores(name, table, typed.unit) for name, table in tables.items()}
    return ParsedModel(
        kind=KIND,
        parts=[SentenceScores("the sentence", scores.pop("emissions"), words or None)],
        tags=tags or None,
        steps=Steps(**scores),
        probabilities=_ANSWERS[typed.unit],
    )


def _names(text: str) -> list[str]:
    pieces = _COMMAS.split(text.strip()) if _COMMAS.search(text.strip()) else text.split()
    return [piece.strip() for piece in pieces if piece.strip()]


def _table(
    name: str, text: str, tags: Sequence[str], words: Sequence[str] = ()
) -> NumberTable | None:
    """Return a table without empty cells at its place; None for an empty text."""
    if not text.strip():
        return None
    with errors_at(name, FormatError):
        return parse_number_table(
            text, names=[*tags, START, END], words=words, prefer=name, ids=False
        )


def _row(name: str, text: str) -> Array | None:
    text = text.strip()
    whole = f"[{text}]" if text.startswith("[") and not text.startswith("[[") else text
    table = _table(name, whole, ())
    if table is None:
        return None
    if 1 not in table.values.shape:
        raise FormatError(f"{name}: expected one number a tag, got a table {table.values.shape}")
    return table.values.reshape(-1)


def _without_border(table: NumberTable) -> tuple[NumberTable, Array | None, Array | None]:
    """Return transitions without the row START and the column END, and these two."""
    rows, columns = list(table.labels or ()), list(table.header or ())
    above = beside = None
    values = table.values
    if END in columns:
        place = columns.index(END)
        kept = [i for i, label in enumerate(rows) if label != START] or range(len(values))
        beside = values[kept, place]
        values = np.delete(values, place, axis=1)
        columns.remove(END)
    if START in rows:
        place = rows.index(START)
        above = values[place]
        values = np.delete(values, place, axis=0)
        rows.remove(START)
    names = tuple(columns) or None, tuple(rows) or None
    return NumberTable(values, *names, table.source), above, beside


def _turned(table: NumberTable) -> NumberTable:
    return NumberTable(table.values.T, table.labels, table.header, table.source)


def _order(name: str, labels: Sequence[str] | None, tags: Sequence[str]) -> list[int] | slice:
    """Return the places of the tags among labels; all places in their order without labels.

    Raises:
        FormatError: the labels are other names than the tags.
    """
    if labels is None or not tags:
        return slice(None)
    if sorted(labels) != sorted(tags):
        raise FormatError(
            f"{name}: expected the tags {', '.join(tags)} as labels, got {', '.join(labels)}"
        )
    return [list(labels).index(tag) for tag in tags]


def _scores(name: str, table: Array | None, unit: str) -> Array | None:
    """Return numbers of a unit as scores; probabilities as they are."""
    if table is None:
        return None
    if np.isnan(table).any():
        raise FormatError(f"{name}: expected a number in each cell, got an empty one")
    if unit != FACTORS:
        return table
    if (table < 0).any():
        raise FormatError(f"{name}: factors exp(score) are 0 or more, got {table[table < 0][0]:g}")
    return logarithm(table)
