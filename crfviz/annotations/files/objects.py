"""JSONL and spaCy's offset JSON with annotations: one object per sentence.

JSONL holds the fields of `fields`. spaCy's JSON is a list: `annotations` is the argument of
`Example.from_dict`, with entities by characters for BIO tags, and words with tags for others; other
fields are under `crfviz`. Invalid contents raise a FormatError that names the line.
"""

import json
from collections.abc import Mapping, Sequence

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
from crfviz.annotations.records import Item, Pair
from crfviz.exceptions import FormatError, errors_at
from crfviz.text.jsonl import sentence_of
from crfviz.text.schemes import repair, spans, split_tag
from crfviz.text.sentences import Offsets, Sentence, joined, located, words_at


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


def read_own(value: object, where: str) -> FileSentence | None:
    """Read a sentence from `exporting`, or one with words and offsets; otherwise None."""
    if not isinstance(value, dict):
        return None
    text = value.get("text")
    if "annotator" in value:
        return annotated(value, text, where)
    if isinstance(value.get("crfviz"), dict):
        sentence = annotated(value["crfviz"], text, where)
        labels = value.get("annotations")
        _check_same(labels if isinstance(labels, dict) else {}, sentence, where)
        return sentence
    if "tokens" in value and "offsets" in value and isinstance(text, str):
        plain = sentence_of(value, where)
        check_length(len(plain.tokens), where)
        offsets = places_of(value["offsets"], where)
        check_words(text, offsets, plain.tokens, where)
        return FileSentence(_item(text, offsets, plain.tags, where))
    return None


def file_sentence(sentence: Sentence, where: str) -> FileSentence:
    """Return a sentence with its text and word offsets."""
    check_length(len(sentence.tokens), where)
    text, note = sentence.text, ""
    offsets = None if text is None else located(sentence.tokens, text)
    if text is None or offsets is None:
        note = "" if text is None else "the tokens are not those of the text: joined by blanks"
        text, offsets = joined(sentence.tokens)
    return FileSentence(_item(text, offsets, sentence.tags, where), note=note)


def _item(text: str, offsets: Offsets, tags: tuple[str, ...] | None, where: str) -> Item:
    with errors_at(where, FormatError):
        return Item(text, offsets, tags)


def _check_same(labels: Mapping[str, object], sentence: FileSentence, where: str) -> None:
    """Reject an element with contradicting copies of a field, after an edit by hand."""
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
