"""The draft of a lecture in the session, and the values of its fields that are invalid so far.

The session keeps the draft, and the browser keeps its text for the next session. After each change
the draft is written as TOML and parsed again, so it can always be saved.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.lectures.draft import Draft, with_cue
from crfviz.ui.lectures.lecture import Cue, Lecture
from crfviz.ui.lectures.lecture_store import (
    LINK_PREFIX,
    from_link_name,
    read,
    to_link_name,
    to_toml,
)
from crfviz.ui.session.session_store import (
    BROWSER_DRAFT,
    DRAFT,
    errors_as_messages,
    get_value,
    session_value,
    set_value,
)

FILE = "lecture.toml"
_DRAFT, _UNFINISHED = "lecture.draft", "lecture.unfinished"
_FIELDS = {"ask": "about"}  # where the form of a question shows the problems of its cue
_PLACE = re.compile(rf"^{re.escape(FILE)}:\d+: ")


def choose(place: int) -> None:
    """Choose the cue at an index."""
    set_value(_DRAFT, current_draft().after(current_draft().lecture, place))


def change_cue(change: Callable[[Cue], Cue]) -> None:
    """Change the chosen cue; an invalid change is a message."""
    now = current_draft()
    if now.cue is not None:
        change_lecture(with_cue(now.lecture, now.chosen, change(now.cue)))


def try_field(field: str, typed: object, change: Callable[[Cue], Cue]) -> None:
    """Apply what was typed to the chosen cue; if invalid, it stays in its field with a message.

    Args:
        field: name of the field.
        typed: its new value.
        change: returns the cue with this value.
    """
    before = current_draft()
    try:
        if before.cue is not None:
            settle(with_cue(before.lecture, before.chosen, change(before.cue)))
    except CrfvizError as error:
        message = _PLACE.sub("", str(error))
        keep_invalid(field, typed, {_FIELDS.get(field, field): message})
    else:
        _unfinished().pop((before.chosen, field), None)


def _unfinished() -> dict[tuple[int, str], tuple[Any, Mapping[str, str]]]:
    """Return the invalid values by cue and field, each with its problems."""
    return session_value(_UNFINISHED, dict[tuple[int, str], tuple[Any, Mapping[str, str]]])


def typed_value(field: str, saved: Any) -> Any:  # noqa: ANN401 - the value of any field
    """Return the invalid value of a field of the chosen cue; `saved` if it is valid."""
    return _unfinished().get((current_draft().chosen, field), (saved, {}))[0]


def keep_invalid(field: str, typed: object, problems: Mapping[str, str]) -> None:
    """Keep the value of a field of the chosen cue that is not saved, with its problems."""
    _unfinished()[current_draft().chosen, field] = typed, problems


def problems_of(field: str) -> Mapping[str, str]:
    """Return what is wrong with a field of the chosen cue, by its parts."""
    return _unfinished().get((current_draft().chosen, field), ("", {}))[1]


def renumber(places: Sequence[int]) -> None:
    """Move the invalid values to the new places of their cues; `places` has the former ones."""
    old = dict(_unfinished())
    set_value(
        _UNFINISHED,
        {
            (new, field): old[was, field]
            for new, was in enumerate(places)
            for field in ("say", "ask")
            if (was, field) in old
        },
    )


def change_lecture(lecture: Lecture, chosen: int | None = None) -> None:
    """Replace the lecture; an invalid one is a message. Undo returns to the former one."""
    with errors_as_messages():
        settle(lecture, chosen)


def settle(lecture: Lecture, chosen: int | None = None) -> None:
    """Store the lecture after writing and parsing it.

    Raises:
        FormatError: the written file is invalid; the message says where.
    """
    if lecture.cues:
        lecture = read(to_toml(lecture), FILE)
        if lecture.problems:
            raise FormatError(lecture.problems[0])
    _store(current_draft().after(lecture, chosen))


def travel(draft: Draft) -> None:
    """Store another state of the draft; invalid values of cues that it moves are dropped."""
    scenarios = [[cue.scenario for cue in each.lecture.cues] for each in (current_draft(), draft)]
    if scenarios[0] != scenarios[1]:
        renumber(())
    _store(draft)


def _store(draft: Draft) -> None:
    """Store the draft in the session and in the browser; without cues, delete the browser's."""
    set_value(_DRAFT, draft)
    if draft.cue is None:
        set_value(DRAFT, "")
        return
    try:
        set_value(DRAFT, to_link_name(draft.lecture))  # compressed: every redraw sends it
    except FormatError:  # too long for a link
        set_value(DRAFT, to_toml(draft.lecture))


def current_draft() -> Draft:
    """Return the draft of the session, at first that of the browser."""
    stored = get_value(BROWSER_DRAFT)
    if stored:
        set_value(BROWSER_DRAFT, None)
        if get_value(_DRAFT) in (None, Draft()):
            _take_up(stored)
    return session_value(_DRAFT, Draft)


def _take_up(text: str) -> None:
    """Restore the draft from the browser's text; report and delete an invalid one."""
    set_value(DRAFT, "")
    with errors_as_messages():
        lecture = read(from_link_name(text) if text.startswith(LINK_PREFIX) else text, FILE)
        _store(Draft(replace(lecture, problems=())))
