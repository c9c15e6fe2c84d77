"""What a session shows to those who follow it: the picture on its screen, and its question."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from streamlit.runtime.scriptrunner import StopException

from crfviz.ui.following.rooms import ROOMS, Question, Room, question_id
from crfviz.ui.session.kept import found, keep, of_session

_ROOM, _SCREEN = "room", "followed screen"
_LEFT = ""  # in place of a key: this browser leads no room any longer


@dataclass
class _Screen:
    """What the run that is going on has drawn so far."""

    parts: dict[str, object] = field(default_factory=dict)
    question: Question | None = None


def lead() -> Room:
    """Let others follow this session from now on.

    Raises:
        CrfvizError: the server has too many rooms.
    """
    opened = ROOMS.open()
    keep(_ROOM, opened.code)
    return opened


def leave() -> None:
    """Let nobody follow any longer."""
    ROOMS.close(found(_ROOM) or "")
    keep(_ROOM, _LEFT)


def go_on(key: object) -> None:
    """Lead the room again that another session of this browser led, if it is still there."""
    here = ROOMS.led_by(key) if isinstance(key, str) else None
    keep(_ROOM, _LEFT if here is None else here.code)


def key() -> str | None:
    """What the browser has to remember: the key of the room, empty for none; None: as it was."""
    here = room()
    return found(_ROOM) and _LEFT if here is None else here.key


def room() -> Room | None:
    """The room that follows this session, if there is one."""
    code = found(_ROOM)
    return ROOMS.find(code) if code else None


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
    tally = here.tally(name, len(choices)) if closed else None
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
