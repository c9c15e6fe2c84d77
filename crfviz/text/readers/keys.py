"""Names of the keys in JSON objects, and which values may have the tags.

A record or span whose verdict is `REFUSED` is left out. Only a value that looks like tags or spans
makes an object without tags a question.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate_value
from crfviz.text.readers.kinds import are_tags
from crfviz.text.readers.losses import LIST_HELP, key_question

WORDS = ("tokens", "words", "token", "word", "tokenized_text")
ENTITY_TAGS = ("tags", "ner_tags", "ner", "labels", "label", "entities", "tag", "bio", "iob")
POS_TAGS = ("upos", "upos_tags", "pos_tags", "pos", "xpos", "xpos_tags", "chunk_tags")
TAGS = ENTITY_TAGS + POS_TAGS
CLASSES = ("label", "labels")  # keys of a class of the whole text, if it is no list
TEXTS = ("text", "data", "sentence", "content", "raw", "textContent")
SPANS = (
    *("spans", "entities", "ents", "labels", "label", "ner", "annotations", "annotation", "result"),
    *("denotations", "textSegmentAnnotations"),
)
STARTS = ("start", "start_offset", "begin", "start_char", "startOffset", "offset")
ENDS = ("end", "end_offset", "stop", "end_char", "endOffset")
KINDS = (
    *("label", "labels", "type", "entity", "tag", "entity_group", "entity_type"),
    *("category", "displayName", "obj"),
)
# Label Studio's keys; completions is the old name
RESULTS = ("annotations", "completions", "predictions")
# keys of lists of sentences
LISTS = ("data", "sentences", "examples", "annotations", "documents", "train")
REFUSED = ("reject", "rejected", "ignore", "ignored", "discard", "discarded", "skip", "skipped")
VERDICTS = ("answer", "status", "state", "verdict", "decision", "review")  # ends of keys
NO = ("rejected", "discarded", "deleted", "cancelled", "skipped", "ignored", "excluded", "invalid")
YES = ("accepted", "accept", "approved", "valid", "correct")
META = ("meta", "metadata")
# keys that have tags only if they look like tags or spans
OTHERS = ("relations", "events", "sents", "cats", "classifications", "comments", *META)
INSIDE = ("text", "orth", "word", "form", "token")  # keys of a word in a token object
# keys of token objects that have no tags
BESIDE = (
    *("lemma", "norm", "lower", "shape", "ws", "whitespace", "whitespace_", "space_after", "misc"),
    *("dep", "deprel", "deps", "head", "morph", "feats", "id", "before", "after", "originalText"),
)


def first_key(value: Mapping[str, Any], keys: Sequence[str], kind: type) -> str | None:
    """Return the first of some keys with a value of a type."""
    return next((key for key in keys if isinstance(value.get(key), kind)), None)


def is_flat(value: object) -> bool:
    """Return whether a value is a list of texts and numbers."""
    return isinstance(value, list) and all(isinstance(tag, str | int) for tag in value)


def has_rows(value: object) -> bool:
    """Return whether a value is a list with lists or objects in it, such as spans."""
    return isinstance(value, list) and any(isinstance(row, dict | list) for row in value)


def ask_for_tags(
    value: Mapping[str, Any],
    words: Sequence[object],
    used: Sequence[str],
    where: str,
    *,
    sure: bool = False,
) -> None:
    """Refuse an object without tags if another key may have them.

    Args:
        value: the object.
        words: of the sentence; token objects may have tags themselves.
        used: keys that are words or text, not tags.
        where: place of the object, for the message.
        sure: whether only values count that look like tags or spans.

    Raises:
        FormatError: lists the keys.
    """
    likely = {
        key: each
        for key, each in value.items()
        if not (key in used or (sure and (key in WORDS or key.startswith("predict"))))
        and may_be_tags(each, len(words), sure=sure or key in OTHERS)
    }
    tokens = [word for word in words if isinstance(word, dict)]
    if tokens and len(tokens) == len(words) and not sure:
        likely |= {
            f"{used[0]}.{key}": tokens[0][key]
            for key in tokens[0]
            if key not in (*INSIDE, *BESIDE, *STARTS, *ENDS)
            and all(isinstance(token.get(key), str) for token in tokens)
        }
    if likely:
        problem = "nothing shows which key has the tags"
        raise key_question(where, problem, {**value, **likely})


def refuse_class(value: Mapping[str, Any], where: str) -> None:
    """Refuse an object without tags whose key of tags has a single text.

    Raises:
        FormatError: names the key.
    """
    texts = {key: value[key] for key in TAGS if isinstance(value.get(key), str)}
    if one := next((k for k in texts if k in CLASSES or are_tags([texts[k]] * 3)), None):
        raise FormatError(
            f"{where}: {one!r} is a class of the whole text; expected tags of words, or spans such "
            f'as [[0, 4, "PER"]]'
        )


def may_be_tags(value: object, words: int, *, sure: bool) -> bool:
    """Return whether a value may have the tags of some words; if `sure`, whether it looks so."""
    if isinstance(value, dict):
        return any(may_be_tags(each, words, sure=sure) for each in value.values() if each)
    if isinstance(value, str):
        parts = value.split()
        return len(parts) > 1 and words > 1 and are_tags(parts)
    if not isinstance(value, list) or not value:
        return False
    if not sure and (len(value) == words or any(isinstance(each, dict | list) for each in value)):
        return True
    if all(isinstance(each, str) for each in value):
        return are_tags(value)
    return all(map(_is_span, value))


def _is_span(row: object) -> bool:
    """Return whether a value has two numbers and a text, or a start and a type."""
    if not isinstance(row, dict | list):
        return False
    cells = [*row.values()] if isinstance(row, dict) else row
    numbers = sum(isinstance(cell, int) for cell in cells)
    if isinstance(row, dict) and any(key in row for key in (*STARTS, "token_start")):
        return numbers > 0 and any(key in row for key in KINDS)
    return numbers == 2 and any(isinstance(cell, str) for cell in cells)


def elements_of(
    value: dict[str, Any], named: str | int | None = None, name: str = ""
) -> list[Any] | None:
    """Return the list of sentences inside an object; None if it is a sentence itself.

    Raises:
        FormatError: several lists may have the sentences; lists the keys.
    """
    if named is not None:
        inner = value.get(str(named))
        return inner if isinstance(inner, list) else None
    if any(isinstance(value.get(key), list) for key in WORDS) or "paragraphs" in value:
        return None
    lists = {key: each for key, each in value.items() if isinstance(each, list)}
    known = [lists[key] for key in LISTS if key in lists]
    holds = [each for each in known if each and isinstance(each[0], dict | list)]
    if not holds or any(isinstance(value.get(key), str) for key in TEXTS):
        return None
    sentences = [each for each in lists.values() if _are_sentences(each)]
    if len(sentences) > 1:
        raise key_question(name, "several keys have sentences", value, LIST_HELP)
    return holds[0] if not isinstance(value.get("data"), dict) else None


def _are_sentences(values: Sequence[Any]) -> bool:
    rows = [each for each in values if isinstance(each, dict)]
    return bool(rows) and all(any(key in row for key in (*WORDS, *TEXTS)) for row in rows)


def verdict_of(value: Mapping[str, Any], where: str) -> str:
    """Return the verdict by which a record or span was rejected or discarded; empty for none.

    Raises:
        FormatError: it has several answers.
    """
    if isinstance(value.get("answer"), list):
        raise FormatError(
            f"{where}: expected one answer, got {abbreviate_value(value['answer'])}; write an "
            f'"answer" in each span'
        )
    return next(_verdicts(value), "")


def _verdicts(value: Mapping[str, Any]) -> Iterator[str]:
    for key, each in value.items():
        name = key.lower().replace("_", "").removeprefix("is").removeprefix("was")
        if isinstance(each, str) and each.lower() in REFUSED and name.endswith(VERDICTS):
            yield each
        elif isinstance(each, bool) and name in (NO if each else YES):
            yield f"{key}: {str(each).lower()}"
        elif key in META and isinstance(each, dict):
            yield from _verdicts(each)
