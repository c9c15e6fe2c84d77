"""The screen that a session sends to its followers: the picture and the question."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import segno
import streamlit as st

from crfviz.exceptions import StoreError
from crfviz.ui.live_room.room_backend import rooms
from crfviz.ui.live_room.rooms import Question, Room, question_id
from crfviz.ui.session.session_store import get_value, session_value, set_value
from crfviz.views.quiz.own import normalise

_ROOM, _SCREEN = "room", "followed screen"  # session keys: the room's code, the current screen
MAX_TEXTS, OTHERS = 5, "others"  # typed answers that are shown; the name of the rest
_ASKED = "times asked"  # session key
_NONE = ""  # instead of a key: this browser leads no room
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """A question and its answers, as the room shows them."""

    text: str
    choices: tuple[str, ...]  # empty if the answer is typed
    right: str  # the right answer; empty if there is none
    why: str = ""  # why it is right
    typed: str = ""  # the kind of a typed answer, see `crfviz.views.quiz.own`
    about: str = ""  # the sentence that the question is about


@dataclass(frozen=True)
class Tally:
    """The answers of the followers to a question."""

    texts: tuple[str, ...]  # the answers: the choices, or those typed most often
    counts: list[int]  # how often each was given
    before: list[int] | None  # how often when it was asked earlier; None without an earlier asking


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
    set_value(_ASKED, 0)
    if current_room() is None:
        yield
        return
    set_value(_SCREEN, _Screen({"title": title}))
    yield
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


def add_cue(title: str, text: str, asked: int) -> None:
    """Add the cue of a lecture and its text to the screen.

    `asked` is the number of earlier cues with the same question.
    """
    set_value(_ASKED, asked)
    if current_room() is not None:
        session_value(_SCREEN, _Screen).parts.update(title=title, say=text)


def times_asked() -> int:
    return int(get_value(_ASKED) or 0)


def add_question(shown: Shown, *, closed: bool) -> Tally | None:
    """Add a question to the screen.

    Args:
        shown: the question and its answers.
        closed: whether the answer is on the screen, so that further answers do not count.

    Returns:
        The answers if the question is closed; None before, without a room, or if the answers cannot
        be counted.
    """
    room = current_room()
    if room is None:
        return None
    screen = session_value(_SCREEN, _Screen)
    name, earlier = _ids(shown)
    tally = None
    if closed:
        try:
            tally = _tally(room, shown, name, earlier)
        except StoreError as error:
            _log.warning("answers cannot be counted: %s", error)
    choices = 1 if shown.typed else len(shown.choices)
    screen.question = Question(name, choices, open=not closed)
    texts = tally.texts if tally else shown.choices
    screen.parts["question"] = {
        "id": name,
        "text": shown.text,
        "choices": texts,
        "typed": shown.typed,
        "open": not closed,
        "right": texts.index(shown.right) if closed and shown.right in texts else None,
        "answer": shown.right if closed else "",
        "why": shown.why if closed else "",
        "tally": tally.counts if tally else None,
        "before": tally.before if tally else None,
    }
    return tally


def _ids(shown: Shown) -> tuple[str, str]:
    """Return the ids of a question and of its earlier asking; that is "" if there was none."""
    number, parts = times_asked(), (shown.text, shown.choices, shown.about)
    earlier = question_id(*parts, number - 1) if number else ""
    return question_id(*parts, number), earlier


def _tally(room: Room, shown: Shown, name: str, earlier: str) -> Tally:
    """Close a question and count its answers.

    Raises:
        StoreError: the database of the rooms is unavailable.
    """
    if not shown.typed:
        counts = room.reveal(name, len(shown.choices))
        before = room.count_answers(earlier, len(shown.choices))
        return Tally(shown.choices, counts, before if any(before) else None)
    room.reveal(name, 1)
    spellings = {shown.right.casefold(): shown.right}
    now, then = (
        _grouped(room.count_texts(each), shown.typed, spellings) for each in (name, earlier)
    )
    kept = sorted({*now, *then}, key=lambda text: (-now[text], -then[text], text))
    texts, rest = kept[:MAX_TEXTS], kept[MAX_TEXTS:]
    rows = [[counts[text] for text in texts] for counts in (now, then)]
    names = tuple(spellings[text] for text in texts)
    if rest:
        names += (OTHERS,)
        for row, grouped in zip(rows, (now, then), strict=True):
            row.append(sum(grouped[text] for text in rest))
    return Tally(names, rows[0], rows[1] if any(rows[1]) else None)


def _grouped(counts: Mapping[str, int], typed: str, spellings: dict[str, str]) -> Counter[str]:
    """Return the counts of typed answers in lower case; `spellings` has one spelling of each."""
    grouped = Counter[str]()
    for text, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        normal = normalise(text, typed)
        if normal:
            spellings.setdefault(normal.casefold(), normal)
            grouped[normal.casefold()] += number
    return grouped


def turnout(shown: Shown) -> Mapping[str, str] | None:
    """Return the path that tells how many followers have answered, and the question's id there."""
    room = current_room()
    if room is None:
        return None
    return {"path": _answers_path(room), "question": _ids(shown)[0]}


def join() -> Mapping[str, str] | None:
    """Return what the large display shows: code, address, QR code; None without a room."""
    room = current_room()
    if room is None:
        return None
    link = f"{join_address()}/{room.code}"
    return {
        "code": room.code,
        "address": join_address().partition("://")[2],
        "qr": segno.make(link, error="m").svg_data_uri(border=1, light="white"),
        "path": _answers_path(room),
    }


def _answers_path(room: Room) -> str:
    return f"{_base()}follow/{room.code}/answers"


def join_address() -> str:
    """Return the URL where followers type the code, with the host name that this browser uses."""
    address = urlsplit(st.context.url or "http://localhost:8501")
    return f"{address.scheme}://{address.netloc}{_base()}follow"


def _base() -> str:
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}/" if base else "/"
