"""The lectures there are: shipped in `lectures/`, and in the folders of CRFVIZ_LECTURES.

A lecture is a file `NAME.toml`. Of two with one name that in the variable's first folder counts.
"""

import logging
import os
from pathlib import Path

import streamlit as st

from crfviz.exceptions import FormatError
from crfviz.taggers.once import warn_once
from crfviz.ui import cached
from crfviz.ui.lectures.lecture import Lecture, read_lecture
from crfviz.ui.shell.contents import ENTRIES
from crfviz.ui.state.link import Models
from crfviz.ui.words import quote

SHIPPED = Path(__file__).resolve().parents[3] / "lectures"
VARIABLE = "CRFVIZ_LECTURES"  # more folders of lectures, separated as in PATH

_log = logging.getLogger(__name__)


def lectures() -> dict[str, Path]:
    """The files by name, those of the project first, in alphabetical order."""
    found: dict[str, Path] = {}
    folders = [Path(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    for folder in [SHIPPED, *reversed(folders)]:
        try:
            found |= {path.stem: path for path in sorted(folder.glob("*.toml"))}
        except OSError as error:
            warn_once(_log, f"lectures of {folder} cannot be listed", error)
    return found


def lecture(name: str) -> Lecture:
    """The lecture of a name.

    Raises:
        FormatError: there is none, or its file cannot be read; says where.
    """
    files = lectures()
    if name not in files:
        raise FormatError(
            f"There is no lecture {quote(name)}; expected one of {', '.join(files) or 'none'}."
        )
    try:
        return _read(files[name], files[name].stat().st_mtime_ns, tuple(cached.models()))
    except OSError as error:
        raise FormatError(f"{files[name].name} cannot be read ({error.strerror})") from error


@st.cache_data(max_entries=32, show_spinner=False)
def _read(path: Path, changed: int, names: tuple[str, ...]) -> Lecture:  # noqa: ARG001 - a key
    """Read again when the file has `changed`, or the list of models."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name} is no text in UTF-8") from error
    models = Models(names, cached.default_model(), cached.first_sentence)
    pages = [entry.path for entry in ENTRIES]
    return read_lecture(text, path.name, models, lambda name: cached.tagger(name).tags, pages)
