"""The parser of the stage's events, which the browser sends as JSON.

The stage runs in a browser, so its messages are not trusted. `parse_event` checks every field and
returns one of `events`, or raises an error with a readable message.

    {"kind": "transition", "from": "DET", "to": "NOUN", "score": 1.2}  # also from START, to END
    {"kind": "emission", "position": 3, "tag": "NOUN", "score": null}  # null is -inf: forbidden
    {"kind": "restore", "from": ..., "to": ...}  # drop that one edit
    {"kind": "restore", "position": ..., "tag": ...}
    {"kind": "strength", "value": 0.5}  # 0 to 2
    {"kind": "constrained", "value": false}
    {"kind": "right", "position": 3, "tag": "NOUN"}  # the reader says that this tag is right
    {"kind": "step", "value": 4}  # 0: where the page opens; "start": before the first
    {"kind": "cover", "parts": ["viterbi", "note"]}  # these are switched off, no others
    {"kind": "view", "name": "...", "value": "..."}
    {"kind": "view", "name": "from", "value": "3000"}  # the first word of the window
    {"kind": "whole"}  # the browser needs the whole payload
    {"kind": "undo"}  # also "redo" and "reset"
    {"kind": "page", "value": "next"}  # or "previous"

With an "offset", positions count from that word on, the first one of the browser's window; only the
option "from" counts from the beginning. "sentence" is the text that positions belong to: an event
sent before the user typed another sentence does not apply to that one. "has" names the browser's
whole payload, see `crfviz.ui.session.components`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from crfviz.chain.edits import END, START
from crfviz.exceptions import CrfvizError
from crfviz.ui.state.events import (
    COMMANDS,
    TURNS,
    Command,
    Constrained,
    Cover,
    Emission,
    Event,
    Restore,
    Right,
    Step,
    Strength,
    Transition,
    View,
)
from crfviz.ui.state.link_text import is_option
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    MAX_CHARACTERS,
    MAX_SCORE,
    MAX_STEP,
    MAX_STRENGTH,
    PARTS,
    WORD,
)
from crfviz.ui.words import quote

Fields = Mapping[object, object]  # the fields of an event, as the browser sent them


OF_WORDS = ("at", "cell", "chosen", WORD)  # page options that begin with a word position
_LARGEST = 2**53  # larger integers are not exact in JavaScript


class RefusedError(CrfvizError):
    """An invalid event or request; the message is shown to the reader."""


def new_events(events: object, *, after: int) -> list[tuple[int, Fields]]:
    """Return the events with a higher number than `after`, each with its number, in order.

    A component sends a list of mappings, each with an integer `seq`. Other elements are ignored.
    """
    mappings = (
        [event for event in events if isinstance(event, Mapping)]
        if isinstance(events, list)
        else []
    )
    fresh = {
        event["seq"]: event
        for event in mappings
        if _whole(event.get("seq"), _LARGEST) and event["seq"] > after
    }
    return sorted(fresh.items())


def parse_event(fields: Fields, tags: Sequence[str]) -> Event:
    """Return the event that a browser sent, under a model with these K tags.

    Raises:
        RefusedError: the kind of the event is unknown, or a field is invalid.
    """
    kind = fields.get("kind")
    parse = _PARSERS.get(kind) if isinstance(kind, str) else None
    if parse is None:
        raise RefusedError(f"Ignored an event of the kind {_shown(kind)}: there is no such kind.")
    event = parse(_in_sentence(fields), tags)
    has = None if type(event) is Event else fields.get("has")
    return replace(event, sentence=fields.get("sentence"), has=has)


def _in_sentence(fields: Fields) -> Fields:
    """Return the fields with positions relative to the sentence instead of the window."""
    offset, position, value = (fields.get(name) for name in ("offset", "position", "value"))
    if not offset:
        return fields
    if not _whole(offset, MAX_CHARACTERS):
        raise RefusedError(f"Ignored an edit in the window at {_shown(offset)}: there is none.")
    if _whole(position, MAX_CHARACTERS):
        return {**fields, "position": position + offset}
    if fields.get("name") in OF_WORDS and isinstance(value, str):
        place, blank, tag = value.partition(" ")
        if place.isdecimal() and len(place) <= len(str(MAX_CHARACTERS)):
            return {**fields, "value": f"{int(place) + offset}{blank}{tag}"}
    return fields


def _transition(fields: Fields, tags: Sequence[str]) -> Event:
    source, target = _cell(fields, tags)
    return Transition(source, target, _score(fields, f"{source} → {target}"))


def _emission(fields: Fields, tags: Sequence[str]) -> Event:
    position, tag = _place(fields, tags)
    return Emission(position, tag, _score(fields, f"{tag} at word {position + 1}"))


def _restore(fields: Fields, tags: Sequence[str]) -> Event:
    return Restore(_place(fields, tags) if "position" in fields else _cell(fields, tags))


def _strength(fields: Fields, _tags: Sequence[str]) -> Event:
    value = _number(fields.get("value"))
    if value is None or not 0 <= value <= MAX_STRENGTH:
        raise RefusedError(
            f"Ignored the strength {_shown(fields.get('value'))}: "
            f"expected a number from 0 to {MAX_STRENGTH:g}."
        )
    return Strength(value)


def _constrained(fields: Fields, _tags: Sequence[str]) -> Event:
    value = fields.get("value")
    if not isinstance(value, bool):
        raise RefusedError(f"Ignored the constraints {_shown(value)}: expected true or false.")
    return Constrained(value)


def _right(fields: Fields, tags: Sequence[str]) -> Event:
    return Right(*_place(fields, tags))


def _step(fields: Fields, _tags: Sequence[str]) -> Event:
    value = fields.get("value")
    if value == "start":
        return Step(BEFORE_FIRST)
    if not _whole(value, MAX_STEP + 1):
        expected = f"a whole number from 0 to {MAX_STEP}"
        raise RefusedError(f"Ignored the step {_shown(value)}: expected {expected}.")
    return Step(value)


def _cover(fields: Fields, _tags: Sequence[str]) -> Event:
    parts = fields.get("parts")
    if not (isinstance(parts, list) and all(part in PARTS for part in parts)):
        raise RefusedError(f"Ignored what to switch off: expected parts of {', '.join(PARTS)}.")
    return Cover(parts)


def _view(fields: Fields, _tags: Sequence[str]) -> Event:
    name, value = fields.get("name"), fields.get("value")
    if not (isinstance(name, str) and isinstance(value, str) and is_option(name, value)):
        raise RefusedError(f"Ignored the page option {_shown(name)}: expected two short texts.")
    return View(name, value)


def _page(fields: Fields, _tags: Sequence[str]) -> Event:
    value = fields.get("value")
    if not (isinstance(value, str) and value in TURNS):
        raise RefusedError(f"Ignored the page {_shown(value)}: expected {' or '.join(TURNS)}.")
    return Command(value)


def _command(name: str) -> Callable[[Fields, Sequence[str]], Event]:
    return lambda _fields, _tags: Command(name)


_PARSERS: dict[str, Callable[[Fields, Sequence[str]], Event]] = {
    "transition": _transition,
    "emission": _emission,
    "restore": _restore,
    "strength": _strength,
    "constrained": _constrained,
    "right": _right,
    "step": _step,
    "cover": _cover,
    "view": _view,
    "whole": lambda _fields, _tags: Event(),
    "page": _page,
    **{name: _command(name) for name in COMMANDS},
}


def _cell(fields: Fields, tags: Sequence[str]) -> tuple[str, str]:
    source = _tag(fields.get("from"), [*tags, START])
    target = _tag(fields.get("to"), [*tags, END])
    if (source, target) == (START, END):
        raise RefusedError("Ignored the edit of START → END: a sentence has at least one word.")
    return source, target


def _place(fields: Fields, tags: Sequence[str]) -> tuple[int, str]:
    position = fields.get("position")
    if not _whole(position, MAX_CHARACTERS):
        raise RefusedError(
            f"Ignored the edit of the word at position {_shown(position)}: "
            f"expected a whole number from 0 to {MAX_CHARACTERS - 1}."
        )
    return position, _tag(fields.get("tag"), tags)


def _tag(value: object, tags: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in tags:
        raise RefusedError(
            f"Ignored the edit of the tag {_shown(value)}: the model has no such tag."
        )
    return value


def _score(fields: Fields, what: str) -> float:
    if "score" in fields and fields["score"] is None:
        return -math.inf
    value = _number(fields.get("score"))
    if value is None or abs(value) > MAX_SCORE:
        raise RefusedError(
            f"Ignored the score {_shown(fields.get('score'))} for {what}: "
            f"expected a number from -{MAX_SCORE:,.0f} to {MAX_SCORE:,.0f}, or -inf to forbid it."
        )
    return value


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _whole(value: object, below: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below


def _shown(value: object) -> str:
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | float):
        return repr(value)
    if isinstance(value, int) and value.bit_length() < 64:
        return repr(value)
    return f"of type {type(value).__name__}"
