"""Lectures as files and as links: list, read and write them.

A lecture is a file `NAME.toml` in `lectures/` or in a folder of CRFVIZ_LECTURES. If several folders
have a name, the first folder of the variable wins, and `lectures/` comes last. A name that begins
with `LINK_PREFIX` contains the whole lecture.
"""

import base64
import binascii
import json
import logging
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import streamlit as st

from crfviz.exceptions import FormatError, warn_once
from crfviz.settings import settings
from crfviz.ui import cached
from crfviz.ui.lectures.lecture import IN_LINK, Cue, Lecture, read_lecture
from crfviz.ui.state.link import LONGEST_LINK, whole
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.link_text import OPTION
from crfviz.ui.state.scenario import covered, with_covered
from crfviz.ui.words import quote
from crfviz.views.contents import ENTRIES
from crfviz.views.formatting import count

SHIPPED = Path(__file__).resolve().parents[3] / "lectures"
LINK_PREFIX = "~"
MAX_LINK_NAME = LONGEST_LINK - 1_000  # characters; the others are for the rest of the URL
_MAX_UNPACKED = 200_000  # bytes of a decompressed lecture
_WORDS = {link: word for word, link in IN_LINK.items()}

_log = logging.getLogger(__name__)


def lectures() -> dict[str, Path]:
    """Return the lecture files by name; those of the project come first, in alphabetical order."""
    paths: dict[str, Path] = {}
    for folder in [SHIPPED, *reversed(settings().lectures)]:
        try:
            paths |= {path.stem: path for path in sorted(folder.glob("*.toml"))}
        except OSError as error:
            warn_once(_log, f"lectures of {folder} cannot be listed", error)
    return paths


def lecture(name: str) -> Lecture:
    """Return the lecture of a name, cached until any lecture file or the list of models changes.

    Raises:
        FormatError: there is no such lecture, or it cannot be read; the message says where.
    """
    files = lectures()
    if name.startswith(LINK_PREFIX):
        return read(from_link_name(name), "This link")
    try:
        changes = [path.stat().st_mtime_ns for path in files.values()]
    except OSError as error:
        raise FormatError(f"The lectures cannot be read ({error}).") from error
    return _read(name, str((files, changes, cached.models())))


def read(text: str, file: str) -> Lecture:
    """Parse the text of a lecture; `file` is its name in messages.

    Raises:
        FormatError: the text cannot be parsed; the message says where.
    """
    return _read_once(text, file, str(cached.models()))


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(name: str, state: str, *, own: bool = False) -> Lecture:
    """Read a lecture file; if `own`, reject cues that repeat those of another lecture."""
    files = lectures()
    if name not in files:
        known = ", ".join(files) or "none"
        raise FormatError(f"There is no lecture {quote(name)}; expected one of {known}.")

    def other(wanted: str) -> Lecture:
        if own:
            raise FormatError(f"expected a lecture whose cues are its own, not those of {wanted}")
        return _read(wanted, state, own=True)

    path = files[name]
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path.name} cannot be read as text in UTF-8 ({error})") from error
    return _read_text(text, path.name, other)


@st.cache_resource(max_entries=64, show_spinner=False)
def _read_once(text: str, file: str, state: str) -> Lecture:  # noqa: ARG001 - a part of the key
    return _read_text(text, file, lecture)


def _read_text(text: str, file: str, other: Callable[[str], Lecture]) -> Lecture:
    names = cached.models()
    models = Models(names, cached.default_model(names), cached.first_sentence)
    pages = [entry.path for entry in ENTRIES]
    return read_lecture(text, file, models, lambda model: cached.tagger(model).tags, pages, other)


def to_toml(lecture: Lecture) -> str:
    """Return the lecture as the text of a TOML file, without its `problems`."""
    head = [f"title = {_text(lecture.title)}", f"minutes = {lecture.minutes!r}"]
    cues = [["", "[[cue]]", *_lines(cue)] for cue in lecture.cues]
    return "\n".join(line for part in [head, *cues] for line in part) + "\n"


def to_link_name(lecture: Lecture) -> str:
    """Return a name for a link that contains the whole lecture, compressed.

    Raises:
        FormatError: the lecture is too long for a link.
    """
    name = LINK_PREFIX + _base64(zlib.compress(to_toml(lecture).encode(), 9))
    if len(name) > MAX_LINK_NAME:
        raise FormatError(
            f"The lecture is too long for a link: it has {count(len(name), 'character')}, and at "
            f"most {MAX_LINK_NAME:,} fit. Download its file instead."
        )
    return name


def from_link_name(name: str) -> str:
    """Return the TOML text of the lecture that a name of a link contains.

    Raises:
        FormatError: the link is damaged.
    """
    try:
        if len(name) > LONGEST_LINK:
            raise ValueError
        code = name.removeprefix(LINK_PREFIX)
        content = base64.b64decode(code + "=" * (-len(code) % 4), b"-_", validate=True)
        reader = zlib.decompressobj()
        text = reader.decompress(content, _MAX_UNPACKED)
        if not reader.eof:
            raise ValueError
        return text.decode()
    except (ValueError, binascii.Error, zlib.error) as error:
        raise FormatError(
            f"This link has no lecture: copy it again from the page Lectures. Got {quote(name)}"
        ) from error


def _lines(cue: Cue) -> Iterator[str]:
    """Yield the TOML lines of a cue, without empty keys other than the sentence."""
    state = cue.scenario
    shown = with_covered(state.view, ())
    texts = {
        "page": cue.page,
        **{_word(name): text for name, text in whole(replace(state, view=shown)).items()},
        "say": cue.say,
    }
    for name, text in texts.items():
        if text or name == "sentence":
            yield f"{name} = {_text(text)}"
    if cue.ask:
        yield f"ask = {_text(cue.ask) if isinstance(cue.ask, str) else cue.ask}"
    for name, list_ in (("cover", covered(state.view)), ("holds", cue.holds)):
        if list_:
            yield f"{name} = [{', '.join(map(_text, list_))}]"


def _word(name: str) -> str:
    """Return the key of a cue for a parameter of a link."""
    return _WORDS.get(name, f"view.{name.removeprefix(OPTION)}")  # some options have no prefix


def _text(text: str) -> str:
    """Return a TOML string: JSON, with the delete character escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
