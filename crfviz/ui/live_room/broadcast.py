"""The screen that a session sends to its followers: the picture and the question."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from crfviz.exceptions import StoreError
from crfviz.ui.live_room.room_backend import rooms
from crfviz.ui.live_room.rooms import Question, Room, question_id
from crfviz.ui.session.session_store import get_value, session_value, set_value
from crfviz.ui.streamlit_compat import StopException

_ROOM, _SCREEN = "room", "followed screen"  # session keys: the room's code, the current screen
_NONE = ""  # instead of a key: this browser leads no room
_log = logging.getLogger(__name__)


@dataclass
class _Screen:
    """The parts of the screen that the current run has drawn so far."""

    parts: dict[str, object] = field(default_factory=dict)
    question: Question | None = None


def open_room() -> None:
    """Open a room for this session.

    Raises:
        CrfvizError: there are too many rooms, or their database is unavailable.
    """
    set_value(_ROOM, rooms().open().code)


def close_room() -> None:
    """Close the room of this session.

    Raises:
        StoreError: the database of the rooms is unavailable.
    """
    rooms().close(get_value(_ROOM) or "")
    set_value(_ROOM, _NONE)


def resume_room(key: object) -> None:
    """Let this session lead the room with a browser's key, if the room still exists."""
    try:
        room = rooms().led_by(key) if isinstance(key, str) else None
    except StoreError as error:
        _log.warning("a room is not resumed: %s", error)
        return
    set_value(_ROOM, _NONE if room is None else room.code)


def room_key() -> str | None:
    """Return the room's key for the browser to store: empty to delete it, None for no change."""
    room = current_room()
    if room is not None:
        return room.key
    return _NONE if get_value(_ROOM) == _NONE else None


def current_room() -> Room | None:
    """Return the room of this session, if it has one."""
    code = get_value(_ROOM)
    if not code:
        return None
    try:
        room = rooms().find(code)
    except StoreError as error:
        _log.warning("a room cannot be looked up: %s", error)
        return None
    if room is None:
        set_value(_ROOM, _NONE)
    return room


@contextmanager
def broadcast(title: str) -> Iterator[None]:
    """Send what the body draws to the followers, if this session has a room."""
    if current_room() is None:
        yield
        return
    set_value(_SCREEN, _Screen({"title": title}))
    try:
        yield
    except StopException:  # `st.stop` completes a page; a rerun raises another exception
        _send()
        raise
    _send()


def send_nothing() -> None:
    """Do not send this run to the followers, as for the speaker view."""
    set_value(_SCREEN, None)


def _send() -> None:
    screen, room = get_value(_SCREEN), current_room()
    if room is not None and screen is not None:
        room.show(screen.parts, screen.question)


def add_picture(data: Mapping[str, object]) -> None:
    """Add a stage's payload to the screen, unless the screen already has a stage."""
    if current_room() is not None:
        # Another session must not acknowledge events of this session's stage.
        session_value(_SCREEN, _Screen).parts.setdefault("stage", {**data, "ack": 0})


def add_cue(title: str, text: str) -> None:
    """Add the cue of a lecture and its text to the screen."""
    if current_room() is not None:
        session_value(_SCREEN, _Screen).parts.update(title=title, say=text)


def add_question(
    text: str, choices: Sequence[Mapping[str, object]], right: int, sentence: str, *, closed: bool
) -> list[int] | None:
    """Add a question to the screen.

    Args:
        text: the question.
        choices: each with `text`, and with `why` the decoders chose it.
        right: index of the right choice.
        sentence: the sentence that the question is about.
        closed: whether the answer is on the screen, so that further answers do not count.

    Returns:
        The number of answers by choice if the question is closed; None before, without a room, or
        if the answers cannot be counted.
    """
    room = current_room()
    if room is None:
        return None
    names = [choice["text"] for choice in choices]
    name = question_id(text, names, sentence)
    counts = None
    if closed:
        try:
            counts = room.reveal(name, len(choices))
        except StoreError as error:
            _log.warning("answers cannot be counted: %s", error)
    screen = session_value(_SCREEN, _Screen)
    screen.question = Question(name, len(choices), open=not closed)
    screen.parts["question"] = {
        "id": name,
        "text": text,
        "choices": names,
        "right": right if closed else None,
        "why": choices[right]["why"] if closed else "",
        "tally": counts,
    }
    return counts
