"""JSONL with annotations.

One object a line: text, tokens, tags, offsets, the model's proposal, and the fields of
`file_records`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crfviz.annotations.files.alignment import joined, located
from crfviz.annotations.files.extras import (
    Fields,
    Found,
    Labels,
    Pair,
    fields_of,
    offsets,
    restored,
)
from crfviz.annotations.records import Item, Offsets, words_at
from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.columns import shown
from crfviz.text.jsonl import parse_object, sentence_of, strings


def render_jsonl(pair: Pair) -> str:
    """One annotated sentence as a line of JSONL."""
    return f"{json.dumps(shown_fields(pair) | fields_of(*pair), ensure_ascii=False)}\n"


def read_line(line: str, where: str) -> Found | None:
    """The sentence of a line of JSONL; None without words.

    Raises:
        FormatError: it cannot be read; says why.
    """
    fields = parse_object(line, where)
    if "annotator" in fields:
        return annotated(fields, fields.get("text"), where)
    sentence = sentence_of(fields, where)
    if not sentence.tokens:
        return None
    text, note = sentence.text, ""
    places = None if text is None else located(sentence.tokens, text)
    if text is not None and "offsets" in fields:
        places = offsets(fields["offsets"], where)
        _check_words(text, places, sentence.tokens, where)
    if text is None or places is None:
        note = "" if text is None else "the tokens are not those of the text: joined by blanks"
        text, places = joined(sentence.tokens)
    return Found(item_at(text, places, sentence.tags, where), note=note)


def shown_fields(pair: Pair) -> Fields:
    """Text, words and tags of an annotated sentence, with the words' places."""
    item, annotation = pair
    return {
        "text": item.text,
        "tokens": words_at(item.text, annotation.offsets),
        "tags": annotation.final,
        "offsets": annotation.offsets,
        "proposed": annotation.proposed,
    }


def annotated(fields: Mapping[str, Any], text: object, where: str) -> Found:
    """The sentence and the annotation that `shown_fields` and `fields_of` describe.

    Raises:
        FormatError: a field has another type, or does not fit the text; says which.
    """
    if not isinstance(text, str):
        raise FormatError(f'{where}: expected a string in "text", got {shown(repr(text))}')
    final = strings(fields.get("tags"), "tags", where)
    proposed = strings(fields["proposed"], "proposed", where) if "proposed" in fields else final
    places = offsets(fields.get("offsets"), where)
    if "tokens" in fields:
        _check_words(text, places, strings(fields["tokens"], "tokens", where), where)
    return restored(fields, Labels(text, places, proposed, final), where)


def item_at(text: str, places: Offsets, tags: tuple[str, ...] | None, where: str) -> Item:
    """A sentence out of a file.

    Raises:
        FormatError: the words are not in the text, or there is not one tag per word.
    """
    try:
        return Item(text, places, tags)
    except ShapeError as error:
        raise FormatError(f"{where}: {error}") from error


def _check_words(text: str, places: Offsets, tokens: Sequence[str], where: str) -> None:
    there = words_at(text, places)
    if there != tuple(tokens):
        raise FormatError(
            f"{where}: expected offsets that point at the tokens {shown(repr(list(tokens)))}, got "
            f"those of {shown(repr(list(there)))}"
        )
