"""The lectures there are: shipped in `lectures/`, and in the folders of CRFVIZ_LECTURES.

A lecture is a file `NAME.toml`. Of two with one name that in the variable's first folder counts.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from crfviz.exceptions import FormatError
from crfviz.settings import settings
from crfviz.taggers.log_once import warn_once
from crfviz.ui import cached
from crfviz.ui.lectures.lecture import Lecture, read_lecture
from crfviz.ui.lectures.written import CARRIED, unpacked
from crfviz.ui.state.link import Models
from crfviz.ui.words import quote
from crfviz.views.contents import ENTRIES

SHIPPED = Path(__file__).resolve().parents[3] / "lectures"

_log = logging.getLogger(__name__)


def lectures() -> dict[str, Path]:
    """The files by name, those of the project first, in alphabetical order."""
    found: dict[str, Path] = {}
    for folder in [SHIPPED, *reversed(settings().lectures)]:
        try:
            found |= {path.stem: path for path in sorted(folder.glob("*.toml"))}
        except OSError as error:
            warn_once(_log, f"lectures of {folder} cannot be listed", error)
    return found


def lecture(name: str) -> Lecture:
    """The lecture of a name; a file is read again when any of them has changed.

    A name may carry the lecture whole, as `crfviz.ui.lectures.written` makes it.

    Raises:
        FormatError: there is none, or its file cannot be read; says where.
    """
    files = lectures()
    if name.startswith(CARRIED):
        return read(unpacked(name), "This link")
    try:
        changes = [path.stat().st_mtime_ns for path in files.values()]
    except OSError as error:
        raise FormatError(f"The lectures cannot be read ({error}).") from error
    return _read(name, str((files, changes, cached.models())))


def read(text: str, file: str) -> Lecture:
    """The lecture that a text holds; `file` names it in messages.

    Raises:
        FormatError: it cannot be read; says where.
    """
    return _read_once(text, file, str(cached.models()))


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(name: str, state: str, *, own: bool = False) -> Lecture:
    """A lecture; if its cues have to be its `own`, it may have none of others."""
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
