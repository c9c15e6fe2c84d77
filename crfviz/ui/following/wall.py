"""What a session shows to those who follow it: the picture on its screen, and its question."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from crfviz.exceptions import StoreError
from crfviz.ui.following.homes import rooms
from crfviz.ui.following.rooms import Question, Room, question_id
from crfviz.ui.session.kept import found, keep, of_session
from crfviz.ui.streamlit_compat import StopException

_ROOM, _SCREEN = "room", "followed screen"
_LEFT = ""  # in place of a key: this browser leads no room any longer
_log = logging.getLogger(__name__)


@dataclass
class _Screen:
    """What the run that is going on has drawn so far."""

    parts: dict[str, object] = field(default_factory=dict)
    question: Question | None = None


def lead() -> Room:
    """Let others follow this session from now on.

    Raises:
        CrfvizError: the server has too many rooms, or cannot reach where they are kept.
    """
    opened = rooms().open()
    keep(_ROOM, opened.code)
    return opened


def leave() -> None:
    """Let nobody follow any longer.

    Raises:
        StoreError: where rooms are kept cannot be reached.
    """
    rooms().close(found(_ROOM) or "")
    keep(_ROOM, _LEFT)


def go_on(key: object) -> None:
    """Lead the room again that another session of this browser led, if it is still there."""
    try:
        here = rooms().led_by(key) if isinstance(key, str) else None
    except StoreError as error:
        _log.warning("a room is not led on: %s", error)
        return
    keep(_ROOM, _LEFT if here is None else here.code)


def key() -> str | None:
    """What the browser has to remember: the key of the room, empty for none; None: as it was."""
    here = room()
    if here is not None:
        return here.key
    return _LEFT if found(_ROOM) == _LEFT else None


def room() -> Room | None:
    """The room that follows this session, if there is one."""
    code = found(_ROOM)
    if not code:
        return None
    try:
        here = rooms().find(code)
    except StoreError as error:
        _log.warning("a room cannot be looked for: %s", error)
        return None
    if here is None:
        keep(_ROOM, _LEFT)
    return here


@contextmanager
def followed(title: str) -> Iterator[None]:
    """Shows what is drawn inside to those who follow; without them it costs a look."""
    if room() is None:
        yield
        return
    keep(_SCREEN, _Screen({"title": title}))
    try:
        yield
    except StopException:  # nothing comes below; a run that begins anew is not on the screen
        _show()
        raise
    _show()


def show_nothing() -> None:
    """What this run draws is for nobody else, as the speaker's notes are."""
    keep(_SCREEN, None)


def _show() -> None:
    screen, here = found(_SCREEN), room()
    if here is not None and screen is not None:
        here.show(screen.parts, screen.question)


def show_picture(data: Mapping[str, object]) -> None:
    """A stage's payload is on the screen; of several the first counts."""
    if room() is not None:
        # Events of this session's stage are nothing to another's.
        of_session(_SCREEN, _Screen).parts.setdefault("stage", {**data, "ack": 0})


def show_words(title: str, text: str) -> None:
    """A cue of a lecture is on the screen, with the one thing that it says."""
    if room() is not None:
        of_session(_SCREEN, _Screen).parts.update(title=title, say=text)


def show_question(
    text: str, choices: Sequence[Mapping[str, object]], right: int, sentence: str, *, closed: bool
) -> list[int] | None:
    """A question is on the screen.

    Args:
        text: what is asked.
        choices: each with its `text`, and `why` it comes about.
        right: the place of the right one.
        sentence: that it is about.
        closed: whether it is answered on the screen, so that no answer counts any longer.

    Returns:
        How many gave each answer, once it is closed; None before, and where nobody follows.
    """
    here = room()
    if here is None:
        return None
    names = [choice["text"] for choice in choices]
    name = question_id(text, names, sentence)
    tally = _revealed(here, name, len(choices)) if closed else None
    screen = of_session(_SCREEN, _Screen)
    screen.question = Question(name, len(choices), open=not closed)
    screen.parts["question"] = {
        "id": name,
        "text": text,
        "choices": names,
        "right": right if closed else None,
        "why": choices[right]["why"] if closed else "",
        "tally": tally,
    }
    return tally


def _revealed(room: Room, question: str, choices: int) -> list[int] | None:
    try:
        return room.reveal(question, choices)
    except StoreError as error:
        _log.warning("answers cannot be counted: %s", error)
        return None
