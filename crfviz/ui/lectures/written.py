"""A lecture as the text of a file, and as a name that carries it whole: what a link holds.

Both are read back as they were: `crfviz.ui.lectures.lecture` reads the text.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace

from crfviz.exceptions import FormatError
from crfviz.ui.lectures.lecture import IN_LINK, Cue, Lecture
from crfviz.ui.state.link import LONGEST_LINK, OPTION, whole
from crfviz.ui.state.scenario import covered, with_covered
from crfviz.ui.words import quote
from crfviz.views.formatting import count

CARRIED = "~"  # before what is packed, where else stands the name of a lecture
LONGEST_CARRIED = LONGEST_LINK - 1_000  # characters, so that an address around it has room
_MOST_UNPACKED = 200_000  # bytes
_WORDS = {link: word for word, link in IN_LINK.items()}


def written(lecture: Lecture) -> str:
    """The text of the lecture's file; what is wrong with it, its `problems`, is left out."""
    head = [f"title = {_text(lecture.title)}", f"minutes = {lecture.minutes!r}"]
    cues = [["", "[[cue]]", *_lines(cue)] for cue in lecture.cues]
    return "\n".join(line for part in [head, *cues] for line in part) + "\n"


def packed(lecture: Lecture) -> str:
    """The lecture as a name that carries it.

    Raises:
        FormatError: it is too long for a link.
    """
    name = CARRIED + _base64(zlib.compress(written(lecture).encode(), 9))
    if len(name) > LONGEST_CARRIED:
        raise FormatError(
            f"The lecture is too long for a link: it has {count(len(name), 'character')}, and at "
            f"most {LONGEST_CARRIED:,} fit. Its file holds all of it."
        )
    return name


def unpacked(name: str) -> str:
    """The text that such a name carries; anything at all may stand there.

    Raises:
        FormatError: it carries none.
    """
    try:
        if len(name) > LONGEST_LINK:
            raise ValueError
        code = name.removeprefix(CARRIED)
        content = base64.b64decode(code + "=" * (-len(code) % 4), b"-_", validate=True)
        reader = zlib.decompressobj()
        text = reader.decompress(content, _MOST_UNPACKED)
        if not reader.eof:
            raise ValueError
        return text.decode()
    except (ValueError, binascii.Error, zlib.error) as error:
        raise FormatError(
            "This link carries no lecture: expected what the page Lectures makes, got "
            f"{quote(name)}"
        ) from error


def _lines(cue: Cue) -> Iterator[str]:
    """The keys of a cue."""
    state = cue.scenario
    shown = with_covered(state.view, ())
    texts = {
        "page": cue.page,
        **{_word(name): text for name, text in whole(replace(state, view=shown)).items()},
        "say": cue.say,
        "ask": cue.ask,
    }
    for name, text in texts.items():
        if text or name == "sentence":
            yield f"{name} = {_text(text)}"
    for name, list_ in (("cover", covered(state.view)), ("holds", cue.holds)):
        if list_:
            yield f"{name} = [{', '.join(map(_text, list_))}]"


def _word(name: str) -> str:
    """The word of a cue for a name in a link."""
    return f"view.{name.removeprefix(OPTION)}" if name.startswith(OPTION) else _WORDS[name]


def _text(text: str) -> str:
    """A string of TOML: one of JSON, which has no word for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
