"""Scores of sentences out of JSON; docs/potentials.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.draft import STEPS, Draft, Part, names_of, steps_of
from crfviz.taggers.tagger import CRF, PERCEPTRON
from crfviz.text.schemes import BIO

OF_SENTENCE = ("tokens", "emissions", *STEPS, "gold")
OF_FILE = ("tags", *STEPS, "probabilities", "family", "scheme", "comment")
KIND = "Potentials as JSON"


def read_json(text: str) -> Draft:
    """What a JSON text says: one sentence, or many that share tags and transitions.

    Raises:
        FormatError: it is no JSON object, or a field is unknown or of the wrong kind.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"This looks like JSON but is none: {error}") from error
    if not isinstance(content, dict):
        raise FormatError(
            'The JSON must be an object such as {"tags": …, "transitions": …, "sentences": […]}.'
        )
    if "sentences" in content:
        _check_names("the file", content, (*OF_FILE, "sentences"))
        sentences = content["sentences"]
        if not isinstance(sentences, list) or not sentences:
            raise FormatError("“sentences” must be a list with at least one sentence in it.")
        parts = [_part(f"sentence {n}", part) for n, part in enumerate(sentences, start=1)]
    else:
        _check_names("the file", content, (*OF_FILE, *OF_SENTENCE))
        parts = [_part("the sentence", {k: v for k, v in content.items() if k in OF_SENTENCE})]
    return Draft(
        kind=KIND,
        parts=parts,
        tags=names_of("the file", content, "tags"),
        **steps_of(content),
        probabilities=_one_of(content, "probabilities", (False, True)),
        family=_one_of(content, "family", (CRF, PERCEPTRON)),
        scheme=_one_of(content, "scheme", (None, BIO)),
    )


def _part(where: str, content: object) -> Part:
    if not isinstance(content, dict):
        raise FormatError(f'{where}: must be an object such as {{"emissions": […]}}.')
    _check_names(where, content, OF_SENTENCE)
    if "emissions" not in content:
        raise FormatError(f"{where}: there are no “emissions”.")
    return Part(
        where=where,
        emissions=content["emissions"],
        tokens=names_of(where, content, "tokens"),
        gold=names_of(where, content, "gold"),
        **steps_of(content),
    )


def _check_names(where: str, content: Mapping[str, Any], known: Sequence[str]) -> None:
    """A misspelt field must not be taken for a missing one."""
    for name in content:
        if name not in known:
            raise FormatError(
                f"{where}: there is no field {name[:60]!r}; known: {', '.join(known)}."
            )


def _one_of(content: Mapping[str, Any], name: str, values: Sequence[Any]) -> Any:  # noqa: ANN401
    """A field with few values, the first where it is missing."""
    value = content.get(name, values[0])
    if not any(value is known or value == known for known in values):
        listed = " or ".join(json.dumps(known) for known in values)
        raise FormatError(f"“{name}” must be {listed}, got {json.dumps(value)[:60]}.")
    return value
