"""Reader of sentence scores in JSON or .npz.

docs/potentials.schema.json describes the JSON. An .npz has one sentence, numbered ones, or a padded
batch:

| name | one sentence, `emissions_N` numbered ones | padded batch |
|---|---|---|
| emissions or logits | (T, K) | (B, T, K) or (T, B, K) |
| transitions; zeros if there are none | (K, K) or (T-1, K, K) | (K, K) |
| start, end (or start_transitions, end_transitions) | (K,) | (K,) |
| tags or id2label | (K,) text | (K,) text |
| tokens, gold | (T,) text | as the first two axes of the emissions; "" is padding |
| word_ids | (T,) the word of each piece, -1 for none | as the first two axes |
| lengths | | (B,) |
| mask or attention_mask | | as the first two axes of the emissions, true at words, words first |

With word_ids, each word gets the emissions of its first piece.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.padded_batch import batch_is_first, is_true, sentences_of
from crfviz.taggers.brought.parsed_model import (
    STEPS,
    ParsedModel,
    Reading,
    SentenceScores,
    Steps,
    readable_sentences,
    require_fields,
    require_words,
    steps_of,
    text_list,
)
from crfviz.taggers.tagger import CRF, PERCEPTRON
from crfviz.text.jsonl import MAX_JSON, json_value
from crfviz.text.schemes import BIO

OF_SENTENCE = ("tokens", "emissions", *STEPS, "gold", "word_ids")
OF_FILE = ("tags", *STEPS, "probabilities", "family", "scheme", "comment")
OF_ARRAYS = (*OF_SENTENCE, "tags", "probabilities", "batch_first", "lengths", "mask")
ALIASES = {  # names in pytorch-crf and in taggers without a CRF
    "start_transitions": "start",
    "end_transitions": "end",
    "logits": "emissions",
    "attention_mask": "mask",
    "id2label": "tags",
}
JSON_KIND = "Potentials as JSON"
NPZ_KIND = "Potentials as .npz"
PIECE_MARKS = re.compile("^(##|▁|Ġ)")  # marks of WordPiece, SentencePiece, byte pairs
NO_KEYS: Mapping[str, str] = {}
Arrays = Mapping[str, NDArray[Any]]

_EMISSIONS = re.compile(r"emissions_(\d+)")
_NUMBERED = re.compile(r"(.+)_(\d+)")


def read_json(text: str, keys: Mapping[str, str] = NO_KEYS) -> ParsedModel:
    """Return the model in a JSON text: one sentence, or many with shared tags and transitions.

    Args:
        text: the JSON.
        keys: usual names of keys that the caller chooses, such as {"y": "tags"}.

    Raises:
        FormatError: it is not a JSON object, or a field is unknown or of the wrong type.
    """
    try:
        content = json_value(text, MAX_JSON)
    except FormatError as error:
        raise FormatError(f"The JSON is too large: {error}.") from error
    except ValueError as error:
        raise FormatError(f"This looks like JSON but is none: {error}") from error
    if not isinstance(content, dict):
        raise FormatError(
            'The JSON must be an object such as {"tags": …, "transitions": …, "sentences": […]}.'
        )
    return read_sentences_of(JSON_KIND, content, keys)


def keys_in(text: str) -> dict[str, list[str]]:
    """Return the keys of a JSON text that may have words, tags and sentences, by usual name."""
    try:
        content = json_value(text, MAX_JSON)
    except ValueError:  # a FormatError is one, too
        content = None
    if not isinstance(content, dict):
        return {}
    lists = [key for key, value in content.items() if _are_objects(value)]
    inner = content[lists[0]][0] if lists else content
    return {"tokens": [*inner], "tags": [*content], "sentences": lists}


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def read_sentences_of(
    kind: str, content: Mapping[str, Any], keys: Mapping[str, str] = NO_KEYS
) -> ParsedModel:
    """Return the model of an object with one sentence, or a list of them.

    Raises:
        FormatError: a field is unknown or of the wrong type.
    """
    content = _renamed(content, keys)
    if "sentences" in content:
        require_fields("the file", content, (*OF_FILE, "sentences"))
        sentences = content["sentences"]
        if not isinstance(sentences, list) or not sentences:
            raise FormatError("“sentences” must be a list with at least one sentence in it.")
        named = ((f"sentence {n}", part) for n, part in enumerate(sentences, start=1))
        parts, left_out = readable_sentences(named, lambda each: _sentence(*each, keys))
    else:
        require_fields("the file", content, (*OF_FILE, *OF_SENTENCE))
        own = {name: value for name, value in content.items() if name in OF_SENTENCE}
        parts, left_out = [replace(_sentence("the sentence", own), steps=Steps())], []
    return ParsedModel(
        kind=kind,
        parts=parts,
        tags=text_list("the file", content, "tags"),
        steps=steps_of(content),
        probabilities=_one_of(content, "probabilities", (False, True))
        if "probabilities" in content
        else None,
        family=_one_of(content, "family", (CRF, PERCEPTRON)),
        scheme=_one_of(content, "scheme", (None, BIO)),
        left_out=left_out,
    )


def _sentence(where: str, content: object, keys: Mapping[str, str] = NO_KEYS) -> SentenceScores:
    if not isinstance(content, dict):
        raise FormatError(f'{where}: must be an object such as {{"emissions": […]}}.')
    content = _renamed(content, keys)
    require_fields(where, content, OF_SENTENCE)
    if "emissions" not in content:
        raise FormatError(f"{where}: there are no “emissions”.")
    sentence = SentenceScores(
        where=where,
        emissions=content["emissions"],
        tokens=text_list(where, content, "tokens"),
        gold=text_list(where, content, "gold"),
        steps=steps_of(content),
    )
    ids = content.get("word_ids")
    return sentence if ids is None else _joined(sentence, list(ids))


def _renamed(content: Mapping[str, Any], keys: Mapping[str, str] = NO_KEYS) -> dict[str, Any]:
    """Return the fields, with aliases replaced by the names used here.

    Raises:
        FormatError: a field has two names, or id2label does not number the tags.
    """
    renamed: dict[str, Any] = {}
    for name, value in content.items():
        known = keys.get(name, ALIASES.get(name, name))
        if known in keys.values() and name not in keys:
            continue  # another field was chosen for it
        if known in renamed:
            raise FormatError(f"“{name[:60]}” and “{known}” are the same field: leave one out.")
        renamed[known] = in_order(value) if name == "id2label" else value
    return renamed


def in_order(id2label: object) -> object:
    """Return tag names in the order of their ids; a value without ids is returned unchanged.

    Raises:
        FormatError: an id is missing.
    """
    if not isinstance(id2label, Mapping):
        return id2label
    numbered = {str(number): label for number, label in id2label.items()}
    ids = list(map(str, range(len(numbered))))
    if set(numbered) != set(ids):
        raise FormatError("“id2label” must have the ids 0, 1, … of all tags.")
    return [numbered[each] for each in ids]


def _joined(sentence: SentenceScores, word_ids: Sequence[Any]) -> SentenceScores:
    """Merge the pieces of each word; a word has the scores of its first piece.

    Raises:
        FormatError: ids do not match the scores, decrease, or each step has its own matrix.
    """
    where, number = sentence.where, len(sentence.emissions)
    ids = [None if each is None or each < 0 else int(each) for each in word_ids]
    known = [each for each in ids if each is not None]
    if len(ids) != number or not known or known != sorted(known):
        raise FormatError(
            f"{where}: word_ids must have the word of each of {number} pieces, in order, and null "
            f"or -1 for none; got {len(ids)} with {len(known)} of words."
        )
    if np.ndim(sentence.steps.transitions) == 3:
        raise FormatError(f"{where}: pieces with a matrix for each step cannot be joined.")
    words = dict.fromkeys(known)
    places = {word: [t for t, each in enumerate(ids) if each == word] for word in words}

    def of_words(texts: Sequence[str] | None, *, whole: bool) -> Sequence[str] | None:
        if texts is None or len(texts) != number or len(texts) == len(words) == number:
            return texts
        pieces = [[texts[t] for t in place] for place in places.values()]
        return ["".join(PIECE_MARKS.sub("", p) for p in own) if whole else own[0] for own in pieces]

    return replace(
        sentence,
        emissions=[sentence.emissions[place[0]] for place in places.values()],
        tokens=of_words(sentence.tokens, whole=True),
        gold=of_words(sentence.gold, whole=False),
    )


# ANN401: any JSON
def _one_of(content: Mapping[str, Any], name: str, values: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return a field, which must be one of `values`; the first of them if it is missing."""
    value = content.get(name, values[0])
    if not any(value is known or value == known for known in values):
        listed = " or ".join(json.dumps(known) for known in values)
        raise FormatError(f"“{name}” must be {listed}, got {json.dumps(value)[:60]}.")
    return value


def arrays_in(shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> dict[str, list[str]]:
    """Return the arrays that may have scores, words and tags, by usual name.

    Args:
        shapes: kind (as in NumPy) and shape of each array.

    Returns:
        Nothing if each array has a usual name of its own, so that there is no choice.
    """
    stems: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, each in shapes.items():
        stems.setdefault(_stem(name), each)
    usual = [ALIASES.get(stem, stem) for stem in stems]
    if len({*usual} & {*OF_ARRAYS}) == len(usual):
        return {}
    numbers = {stem: shape for stem, (kind, shape) in stems.items() if kind in "fiu"}
    texts = {stem: shape for stem, (kind, shape) in stems.items() if kind in "US"}
    found = {
        "emissions": [name for name, shape in numbers.items() if len(shape) in (2, 3)],
        "transitions": [n for n, s in numbers.items() if len(s) in (2, 3) and s[-1] == s[-2]],
        "tokens": [name for name, shape in texts.items() if len(shape) in (1, 2)],
        "tags": [name for name, shape in texts.items() if len(shape) == 1],
    }
    return {name: each for name, each in found.items() if each}


def _stem(name: str) -> str:
    """Return the name of an array without the number of its sentence."""
    numbered = _NUMBERED.fullmatch(name)
    return numbered[1] if numbered and name not in (*OF_ARRAYS, *ALIASES) else name


def _named_arrays(arrays: Arrays, keys: Mapping[str, str]) -> tuple[dict[str, NDArray[Any]], str]:
    """Return the arrays by usual name, and a note about those that the choice leaves out.

    Raises:
        FormatError: an array is unknown, or two are the same, and `keys` chooses none.
    """
    named: dict[str, NDArray[Any]] = {}
    left: list[str] = []
    for name, array in arrays.items():
        stem = _stem(name)
        usual = keys.get(stem, ALIASES.get(stem, stem))
        known = usual in (OF_ARRAYS if stem == name else OF_SENTENCE)
        if keys and (not known or (usual in keys.values() and stem not in keys)):
            left.append(name[:60])
            continue
        if not known:
            raise FormatError(
                f"There is no array {name[:60]!r} in such a file; known: {', '.join(OF_ARRAYS)}."
            )
        full = usual + name.removeprefix(stem)
        if full in named:
            raise FormatError(f"“{name[:60]}” and “{full}” are the same field: leave one out.")
        named[full] = array
    return named, f"Other arrays were chosen in place of {', '.join(left[:8])}." if left else ""


def read_arrays_of(arrays: Arrays, reading: Reading) -> ParsedModel:
    """Return the model in the arrays of a file.

    Raises:
        FormatError: an array is unknown or missing, or the batch cannot be split.
    """
    arrays, left_out = _named_arrays(arrays, dict(reading.keys))
    flat = (array for array in arrays.values() if array.ndim == 1)
    require_words(sum(array.size for array in flat if array.dtype.kind in "US") // 2)  # gold too
    content: dict[str, Any] = {n: arrays[n] for n in ("tags", *STEPS) if n in arrays}
    if "probabilities" in arrays:
        content["probabilities"] = is_true(arrays, "probabilities")
    notes: list[str] = []
    said = [left_out] * bool(left_out)
    assumed: bool | None = None
    if "emissions" not in arrays:
        content["sentences"] = _numbered(arrays)
    elif arrays["emissions"].ndim == 3:
        first, notes = batch_is_first(arrays, reading)
        content["sentences"], assumed = (
            sentences_of(arrays, batch_first=first),
            first if notes else None,
        )
    else:
        content |= {name: arrays[name] for name in OF_SENTENCE if name in arrays}
    draft = read_sentences_of(NPZ_KIND, content)
    return replace(draft, notes=[*said, *notes], batch_first=assumed)


def _numbered(arrays: Arrays) -> list[Arrays]:
    """Return the arrays of each sentence, by their names without the number."""
    matches = (_EMISSIONS.fullmatch(name) for name in arrays)
    numbers = sorted((match[1] for match in matches if match), key=int)
    if not numbers:
        held = ", ".join(arrays) or "nothing"
        raise FormatError(f"There is no array “emissions”; the file holds {held[:200]}.")
    return [
        {name: own for name in OF_SENTENCE if (own := arrays.get(f"{name}_{n}")) is not None}
        for n in numbers
    ]
