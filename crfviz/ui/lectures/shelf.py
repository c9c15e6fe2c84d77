"""The lectures there are: shipped in `lectures/`, and in the folders of CRFVIZ_LECTURES.

A lecture is a file `NAME.toml`. Of two with one name that in the variable's first folder counts.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

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
    return _lecture(name, lecture_of_its_own)


def lecture_of_its_own(name: str) -> Lecture:
    """The same, if it has no cues of others."""

    def nothing(name: str) -> Lecture:
        raise FormatError(f"expected a lecture whose cues are its own, not those of {name}")

    return _lecture(name, nothing)


def _lecture(name: str, other: Callable[[str], Lecture]) -> Lecture:
    files = lectures()
    if name not in files:
        raise FormatError(
            f"There is no lecture {quote(name)}; expected one of {', '.join(files) or 'none'}."
        )
    try:
        text = files[name].read_text("utf-8")
    except OSError as error:
        raise FormatError(f"{files[name].name} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{files[name].name} is no text in UTF-8") from error
    models = Models(cached.models(), cached.default_model(), cached.first_sentence)
    pages = [entry.path for entry in ENTRIES]
    return read_lecture(
        text, files[name].name, models, lambda model: cached.tagger(model).tags, pages, other
    )
