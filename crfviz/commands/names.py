"""Names on the command line that may be misspelt: refused before anything is written."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from crfviz.exceptions import FormatError
from crfviz.text.lines import shown

MOST_SHOWN = 8  # names


def require_known(what: str, name: str | None, names: Iterable[str]) -> None:
    """Refuse a name that is not among those there are; None is no name.

    Raises:
        FormatError: says which names are near, or which there are.
    """
    known = sorted(set(names))
    if name is not None and name not in known:
        raise FormatError(
            f"{what}: expected one that there is, got {shown(name)}; {near(name, known)}"
        )


def near(name: str, known: list[str]) -> str:
    """The names that are most like one, or the first ones there are.

    >>> near("ana", ["anna", "bo"]), near("x", ["anna", "bo"]), near("x", [])
    ("near are 'anna'", "there are 'anna', 'bo'", 'there are none')
    """
    close = get_close_matches(name, known, MOST_SHOWN)
    if not known:
        return "there are none"
    listed = ", ".join(map(shown, (close or known)[:MOST_SHOWN]))
    more = "" if close or len(known) <= MOST_SHOWN else f" and {len(known) - MOST_SHOWN} more"
    return f"{'near' if close else 'there'} are {listed}{more}"


def require_folder(path: Path | None, what: str = "be written") -> None:
    """Refuse a file that cannot be there because its folder is missing; None is no file.

    Raises:
        FormatError: says which folders are near.
    """
    if path is None or path.parent.is_dir():
        return
    missing = path.parent
    while not missing.parent.is_dir():
        missing = missing.parent
    beside = [folder.name for folder in missing.parent.iterdir() if folder.is_dir()]
    raise FormatError(
        f"{path}: cannot {what}: No such file or folder: {missing.name}; "
        f"{near(missing.name, beside)}"
    )


def require_file(path: Path) -> None:
    """Refuse a file that is not there.

    Raises:
        FormatError: says which folders or files are near.
    """
    require_folder(path, "be read")
    if not path.exists():
        beside = sorted(file.name for file in path.parent.iterdir() if file.is_file())
        raise FormatError(f"{path}: there is no such file; {near(path.name, beside)}")
