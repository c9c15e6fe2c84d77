"""spaCy's offsets JSON with annotations.

A list of objects, one a line: `annotations` is what spaCy's `Example.from_dict` takes, entities by
characters for BIO tags and words with tags for others; what else is known stands under `crfviz`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from crfviz.annotations.files.extras import Fields, Found, Pair, fields_of
from crfviz.annotations.files.jsonl import annotated, item_at, read_line, shown_fields
from crfviz.annotations.records import Item, Offsets, words_at
from crfviz.exceptions import FormatError
from crfviz.text.columns import shown
from crfviz.text.jsonl import strings
from crfviz.text.schemes import Span, repair, spans, split_tag, tags_of
from crfviz.text.tokenizer import tokenize


def render_spacy(pair: Pair) -> str:
    """One annotated sentence as an element of the list."""
    item, annotation = pair
    own = {
        name: value for name, value in shown_fields(pair).items() if name not in ("text", "tokens")
    }
    element = {
        "text": item.text,
        "annotations": _for_spacy(item.text, annotation.offsets, annotation.final),
        "crfviz": own | fields_of(item, annotation),
    }
    return json.dumps(element, ensure_ascii=False)


def read_element(element: object, where: str) -> Found | None:
    """The sentence of an element of spaCy's list; entities may begin and end inside of words.

    Raises:
        FormatError: it cannot be read; says why.
    """
    if isinstance(element, list) and len(element) == 2:
        element = {"text": element[0], "annotations": element[1]}
    if not isinstance(element, dict) or not isinstance(element.get("text"), str):
        raise FormatError(
            f'{where}: expected a sentence such as {{"text": "Kim left", "annotations": '
            f'{{"entities": [[0, 3, "PER"]]}}}}, got {shown(repr(element))}'
        )
    text, labels = element["text"], element.get("annotations", element)
    if not isinstance(labels, dict):
        raise FormatError(
            f'{where}: expected an object in "annotations", got {shown(repr(labels))}'
        )
    if isinstance(element.get("crfviz"), dict):
        read = annotated(element["crfviz"], text, where)
        _check_same(labels, read, where)
        return read
    if "entities" not in labels and "words" in labels:
        words, tags = strings(labels["words"], "words", where), labels.get("tags")
        fields = {"tokens": list(words), "tags": tags, "text": text}
        return read_line(json.dumps(fields), where)
    item = _with_entities(text, labels.get("entities", []), where)
    return Found(item) if item.offsets else None


def elements(text: str) -> Iterator[tuple[int, object]]:
    """The elements of a JSON list with their lines; the last is an error where the list is broken.

    What follows the list is such an error, too: a second list, or the text was no list at all.
    """
    decoder = json.JSONDecoder()
    index, line, counted = text.find("[") + 1, 1, 0
    if not index:
        yield line, FormatError("expected a JSON list")
        return
    while True:
        while index < len(text) and (text[index].isspace() or text[index] == ","):
            index += 1
        line += text.count("\n", counted, index)
        counted = index
        if text[index : index + 1] == "]":
            if text[index + 1 :].strip():
                yield line, FormatError("expected nothing after the list; the rest is not read")
            return
        try:
            element, index = decoder.raw_decode(text, index)
        except (ValueError, RecursionError) as error:
            yield line, FormatError(f"expected JSON, got {error}; the rest is not read")
            return
        yield line, element


def _check_same(labels: Mapping[str, object], read: Found, where: str) -> None:
    """Refuse an element that was changed by hand in one place and not in the other."""
    if read.annotation is None:
        return
    own = _for_spacy(read.item.text, read.annotation.offsets, read.annotation.final)
    if labels != own:
        raise FormatError(
            f'{where}: "annotations" and "crfviz" say different things; remove "crfviz" to read '
            f'"annotations" as gold tags'
        )


def _for_spacy(text: str, places: Offsets, tags: Sequence[str]) -> Fields:
    """What Example.from_dict takes; words wherever spaCy could rebuild the text from them."""
    words = list(words_at(text, places))
    spaces = [text[end : end + 1] == " " for _, end in places]
    fields: Fields = {"words": words, "spaces": spaces}
    if not all(split_tag(tag)[0] for tag in tags):
        return fields | {"tags": list(tags)}
    entities = [
        [places[span.start][0], places[span.end - 1][1], span.type] for span in spans(repair(tags))
    ]
    rebuilt = "".join(word + " " * space for word, space in zip(words, spaces, strict=True))
    return (fields if rebuilt == text else {}) | {"entities": entities}


def _with_entities(text: str, entities: object, where: str) -> Item:
    marked = _entities(text, entities, where)
    edges = sorted({edge for start, end, _ in marked for edge in (start, end)})
    places = [piece for token in tokenize(text) for piece in _cut(token.start, token.end, edges)]
    found_spans = []
    for start, end, kind in marked:
        inside = [t for t, place in enumerate(places) if start <= place[0] and place[1] <= end]
        if not inside:
            raise FormatError(f"{where}: expected words in the entity [{start}, {end}], got none")
        found_spans.append(Span(kind, inside[0], inside[-1] + 1))
    return item_at(text, tuple(places), tuple(tags_of(found_spans, len(places))), where)


def _entities(text: str, value: object, where: str) -> list[tuple[int, int, str]]:
    """Checked entities in order; none overlap."""
    fits = isinstance(value, list) and all(
        isinstance(row, list) and [type(cell) for cell in row[:3]] == [int, int, str] and row[2]
        for row in value
    )
    if not fits:
        raise FormatError(
            f'{where}: expected entities such as [[0, 3, "PER"]], got {shown(repr(value))}'
        )
    marked = sorted((row[0], row[1], row[2]) for row in value)  # type: ignore[attr-defined] # checked
    before = 0
    for start, end, _ in marked:
        if not before <= start < end <= len(text):
            raise FormatError(
                f"{where}: expected entities that do not overlap, inside of {len(text)} "
                f"characters, got [{start}, {end}]"
            )
        before = end
    return marked


def _cut(start: int, end: int, edges: Sequence[int]) -> list[tuple[int, int]]:
    """A word in pieces, cut where an entity begins or ends inside of it."""
    cuts = [start, *(edge for edge in edges if start < edge < end), end]
    return list(pairwise(cuts))
