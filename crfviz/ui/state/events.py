"""What the live stage may ask for, checked field by field.

The stage lives in a browser, so nothing it sends is trusted: an event that is not exactly as
described is refused with a message for people, and the scenario stays as it was.

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
    {"kind": "whole"}  # nothing, but that all of the picture is to be told again

An "offset" says from which word on positions count, but for "from": of the browser's window.

Each may say of which "sentence" it speaks: what was under way when another one was typed is not
meant for that one's words. And which picture its browser has, see `crfviz.ui.session.answers`.

Undo, redo and reset concern the history, and {"kind": "page", "value": "next"}, or "previous", the
pages: they are handled where these are kept.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from crfviz.chain.edits import END, START
from crfviz.exceptions import CrfvizError
from crfviz.ui.state.covers import PARTS, with_covered
from crfviz.ui.state.link import is_option
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    MAX_CHARACTERS,
    MAX_SCORE,
    MAX_STEP,
    MAX_STRENGTH,
    OF_POSITIONS,
    Scenario,
)
from crfviz.ui.words import quote

Event = Mapping[object, object]


OF_WORDS = ("at", "cell", "chosen")  # page options that begin with the position of a word
CHOSEN = "chosen"  # page option: the cell that a side panel explains, which a step takes along
_LARGEST = 2**53  # whole numbers above are not exact in a browser


class RefusedError(CrfvizError):
    """An event that asks for something impossible; the message is for people."""


def new_events(events: object, *, after: int) -> list[tuple[int, Event]]:
    """The events with a higher number than `after`, with their numbers, in their order.

    The stage sends a list of mappings, each with a whole number `seq`. Whatever is something else
    is left out.
    """
    mappings = (
        [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    )
    fresh = {
        event["seq"]: event
        for event in mappings
        if _whole(event.get("seq"), _LARGEST) and event["seq"] > after
    }
    return sorted(fresh.items())


def is_of_another(event: Event, sentence: str) -> bool:
    """Whether an event is about places, and those are of another sentence than this one."""
    about_places = (
        event.get("kind") == "step" or "position" in event or event.get("name") in OF_POSITIONS
    )
    return about_places and event.get("sentence", sentence) != sentence


def apply_event(scenario: Scenario, event: Event, tags: Sequence[str]) -> Scenario:
    """The scenario after one event, which may be any mapping, under a model with K tags.

    Raises:
        RefusedError: the event is not one of the kinds above or a field is wrong.
    """
    kind = event.get("kind")
    handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
    if handler is None:
        raise RefusedError(f"Ignored an event of the kind {_shown(kind)}: there is no such kind.")
    return handler(scenario, _in_sentence(event), tags)


def _in_sentence(event: Event) -> Event:
    """The event with its positions counted from the first word of the sentence."""
    offset, position, value = (event.get(name) for name in ("offset", "position", "value"))
    if not offset:
        return event
    if not _whole(offset, MAX_CHARACTERS):
        raise RefusedError(f"Ignored an edit in the window at {_shown(offset)}: there is none.")
    if _whole(position, MAX_CHARACTERS):
        return {**event, "position": position + offset}
    if event.get("name") in OF_WORDS and isinstance(value, str):
        place, blank, tag = value.partition(" ")
        if place.isdecimal() and len(place) <= len(str(MAX_CHARACTERS)):
            return {**event, "value": f"{int(place) + offset}{blank}{tag}"}
    return event


def _transition(scenario: Scenario, event: Event, tags: Sequence[str]) -> Scenario:
    source, target = _cell(event, tags)
    score = _score(event, f"{source} → {target}")
    return replace(scenario, edits=scenario.edits.with_transition(source, target, score))


def _emission(scenario: Scenario, event: Event, tags: Sequence[str]) -> Scenario:
    position, tag = _place(event, tags)
    score = _score(event, f"{tag} at word {position + 1}")
    return replace(scenario, edits=scenario.edits.with_emission(position, tag, score))


def _restore(scenario: Scenario, event: Event, tags: Sequence[str]) -> Scenario:
    cell = _place(event, tags) if "position" in event else _cell(event, tags)
    return replace(scenario, edits=scenario.edits.without(cell))


def _strength(scenario: Scenario, event: Event, _tags: Sequence[str]) -> Scenario:
    value = _number(event.get("value"))
    if value is None or not 0 <= value <= MAX_STRENGTH:
        raise RefusedError(
            f"Ignored the strength {_shown(event.get('value'))}: "
            f"expected a number from 0 to {MAX_STRENGTH:g}."
        )
    return replace(scenario, edits=replace(scenario.edits, strength=value))


def _constrained(scenario: Scenario, event: Event, _tags: Sequence[str]) -> Scenario:
    value = event.get("value")
    if not isinstance(value, bool):
        raise RefusedError(f"Ignored the constraints {_shown(value)}: expected true or false.")
    return replace(scenario, edits=replace(scenario.edits, constrained=value))


def _right(scenario: Scenario, event: Event, tags: Sequence[str]) -> Scenario:
    position, tag = _place(event, tags)
    return replace(scenario, right={**scenario.right, position: tag})


def _step(scenario: Scenario, event: Event, _tags: Sequence[str]) -> Scenario:
    value = event.get("value")
    view = {name: option for name, option in scenario.view.items() if name != CHOSEN}
    if value == "start":
        return replace(scenario, step=BEFORE_FIRST, view=view)
    if not _whole(value, MAX_STEP + 1):
        expected = f"a whole number from 0 to {MAX_STEP}"
        raise RefusedError(f"Ignored the step {_shown(value)}: expected {expected}.")
    return replace(scenario, step=value, view=view)


def _cover(scenario: Scenario, event: Event, _tags: Sequence[str]) -> Scenario:
    parts = event.get("parts")
    if not (isinstance(parts, list) and all(part in PARTS for part in parts)):
        raise RefusedError(f"Ignored what to switch off: expected parts of {', '.join(PARTS)}.")
    return replace(scenario, view=with_covered(scenario.view, parts))


def _view(scenario: Scenario, event: Event, _tags: Sequence[str]) -> Scenario:
    name, value = event.get("name"), event.get("value")
    if not (isinstance(name, str) and isinstance(value, str) and is_option(name, value)):
        raise RefusedError(f"Ignored the page option {_shown(name)}: expected two short texts.")
    return replace(scenario, view={**scenario.view, name: value})


def _whole_again(scenario: Scenario, _event: Event, _tags: Sequence[str]) -> Scenario:
    return scenario


_HANDLERS: dict[str, Callable[[Scenario, Event, Sequence[str]], Scenario]] = {
    "transition": _transition,
    "emission": _emission,
    "restore": _restore,
    "strength": _strength,
    "constrained": _constrained,
    "right": _right,
    "step": _step,
    "cover": _cover,
    "view": _view,
    "whole": _whole_again,
}


def _cell(event: Event, tags: Sequence[str]) -> tuple[str, str]:
    source = _tag(event.get("from"), [*tags, START])
    target = _tag(event.get("to"), [*tags, END])
    if (source, target) == (START, END):
        raise RefusedError("Ignored the edit of START → END: a sentence has at least one word.")
    return source, target


def _place(event: Event, tags: Sequence[str]) -> tuple[int, str]:
    position = event.get("position")
    if not _whole(position, MAX_CHARACTERS):
        raise RefusedError(
            f"Ignored the edit of the word at position {_shown(position)}: "
            f"expected a whole number from 0 to {MAX_CHARACTERS - 1}."
        )
    return position, _tag(event.get("tag"), tags)


def _tag(value: object, tags: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in tags:
        raise RefusedError(
            f"Ignored the edit of the tag {_shown(value)}: the model has no such tag."
        )
    return value


def _score(event: Event, what: str) -> float:
    if "score" in event and event["score"] is None:
        return -math.inf
    value = _number(event.get("score"))
    if value is None or abs(value) > MAX_SCORE:
        raise RefusedError(
            f"Ignored the score {_shown(event.get('score'))} for {what}: "
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
