"""JSONL and spaCy's offsets JSON with annotations: a sentence an object, an object a line.

JSONL holds the fields of `fields`. spaCy's JSON is a list: `annotations` is what its
`Example.from_dict` takes, entities by characters for BIO tags and words with tags for others; what
else is known stands under `crfviz`. What cannot be read is a FormatError that says where.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise

from crfviz.annotations.files.fields import (
    Fields,
    FileSentence,
    annotated,
    check_length,
    check_words,
    fields_of,
    places_of,
    row_of,
)
from crfviz.annotations.records import LARGEST, MAX_WORDS, Item, Pair
from crfviz.exceptions import FormatError, errors_at
from crfviz.text.files import abbreviate_value, check_utf_8
from crfviz.text.jsonl import parse_object, sentence_of, strings
from crfviz.text.schemes import Span, repair, spans, split_tag, tags_of
from crfviz.text.sentences import Offsets, joined, located, words_at
from crfviz.text.tokenizer import tokens


def render_jsonl(pair: Pair) -> str:
    """Return an annotated sentence as a line of JSONL."""
    return f"{json.dumps(row_of(pair), ensure_ascii=False)}\n"


def render_spacy(pair: Pair) -> str:
    """Return an annotated sentence as an element of spaCy's list."""
    item, annotation = pair
    known = fields_of(pair)
    element = {
        "text": item.text,
        "annotations": _for_spacy(item.text, annotation.offsets, annotation.final),
        "crfviz": {name: known[name] for name in known if name not in ("text", "tokens")},
    }
    return json.dumps(element, ensure_ascii=False)


def read_line(line: str, where: str) -> FileSentence | None:
    """Read the sentence of a line of JSONL; None without words."""
    check_utf_8(line, where)
    fields = parse_object(line, where)
    if "annotator" in fields:
        return annotated(fields, fields.get("text"), where)
    return _with_tags(fields, where)


def read_element(element: object, where: str) -> FileSentence | None:
    """Read the sentence of an element of spaCy's list; entities may begin and end inside words."""
    if isinstance(element, list) and len(element) == 2:
        element = {"text": element[0], "annotations": element[1]}
    if not isinstance(element, dict) or not isinstance(element.get("text"), str):
        raise FormatError(
            f'{where}: expected a sentence such as {{"text": "Kim left", "annotations": '
            f'{{"entities": [[0, 3, "PER"]]}}}}, got {abbreviate_value(element)}'
        )
    text, labels = element["text"], element.get("annotations", element)
    if not isinstance(labels, dict):
        raise FormatError(
            f'{where}: expected an object in "annotations", got {abbreviate_value(labels)}'
        )
    if isinstance(element.get("crfviz"), dict):
        sentence = annotated(element["crfviz"], text, where)
        _check_same(labels, sentence, where)
        return sentence
    if "entities" not in labels and "words" in labels:
        strings(labels["words"], "words", where)
        fields = {"tokens": labels["words"], "tags": labels.get("tags"), "text": text}
        return _with_tags(fields, where)
    item = _with_entities(text, labels.get("entities", []), where)
    return FileSentence(item) if item.offsets else None


def _with_tags(fields: Mapping[str, object], where: str) -> FileSentence | None:
    """Read a sentence without annotation, with the file's tags if any; None without words."""
    sentence = sentence_of(fields, where)
    if not sentence.tokens:
        return None
    check_length(len(sentence.tokens), where)
    text, note = sentence.text, ""
    offsets = None if text is None else located(sentence.tokens, text)
    if text is not None and "offsets" in fields:
        offsets = places_of(fields["offsets"], where)
        check_words(text, offsets, sentence.tokens, where)
    if text is None or offsets is None:
        note = "" if text is None else "the tokens are not those of the text: joined by blanks"
        text, offsets = joined(sentence.tokens)
    return FileSentence(_item(text, offsets, sentence.tags, where), note=note)


def _item(text: str, offsets: Offsets, tags: tuple[str, ...] | None, where: str) -> Item:
    with errors_at(where, FormatError):
        return Item(text, offsets, tags)


def _check_same(labels: Mapping[str, object], sentence: FileSentence, where: str) -> None:
    """Refuse an element that was changed by hand in one place and not in the other."""
    annotation = sentence.annotation
    if annotation and labels != _for_spacy(
        sentence.item.text, annotation.offsets, annotation.final
    ):
        raise FormatError(
            f'{where}: "annotations" and "crfviz" say different things; remove "crfviz" to read '
            f'"annotations" as gold tags'
        )


def _for_spacy(text: str, offsets: Offsets, tags: Sequence[str]) -> Fields:
    """Return the dict for Example.from_dict, with words if spaCy can rebuild the text from them."""
    words = list(words_at(text, offsets))
    spaces = [text[end : end + 1] == " " for _, end in offsets]
    fields: Fields = {"words": words, "spaces": spaces}
    if not all(split_tag(tag)[0] for tag in tags):
        return fields | {"tags": list(tags)}
    entities = [
        [offsets[span.start][0], offsets[span.end - 1][1], span.type]
        for span in spans(repair(tags))
    ]
    rebuilt = "".join(word + " " * space for word, space in zip(words, spaces, strict=True))
    return (fields if rebuilt == text else {}) | {"entities": entities}


def _with_entities(text: str, entities: object, where: str) -> Item:
    """Split a text into words, also where an entity begins or ends inside a word."""
    marked = _entities(text, entities, where)
    check_length(len(marked), where)  # each has a word
    edges = sorted({edge for start, end, _ in marked for edge in (start, end)})
    places: list[tuple[int, int]] = []
    for token in islice(tokens(text), MAX_WORDS + 1):
        inside = edges[bisect_right(edges, token.start) : bisect_left(edges, token.end)]
        places += pairwise([token.start, *inside, token.end])
    check_length(len(places), where)
    named = []
    for start, end, kind in marked:
        words = [t for t, place in enumerate(places) if start <= place[0] and place[1] <= end]
        if not words:
            raise FormatError(f"{where}: expected words in the entity [{start}, {end}], got none")
        named.append(Span(kind, words[0], words[-1] + 1))
    return _item(text, tuple(places), tuple(tags_of(named, len(places))), where)


def _entities(text: str, value: object, where: str) -> list[tuple[int, int, str]]:
    """Return checked entities in order; none overlap."""
    fits = isinstance(value, list) and all(
        isinstance(row, list)
        and [type(cell) for cell in row[:3]] == [int, int, str]
        and max(abs(row[0]), abs(row[1])) < LARGEST
        and row[2]
        for row in value
    )
    if not fits:
        raise FormatError(
            f'{where}: expected entities such as [[0, 3, "PER"]], got {abbreviate_value(value)}'
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
