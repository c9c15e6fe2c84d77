"""Checks of names and paths on the command line, before anything is written."""

import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.formats import SentenceFile
from crfviz.text.sentences import parse_types, requested_types, words_by_type

MAX_SHOWN = 8  # maximum number of names in a message


def require_known(what: str, name: str | None, names: Iterable[str]) -> None:
    """Reject an unknown name; None is accepted.

    Raises:
        FormatError: the name is unknown; the message lists similar names, or the known ones.
    """
    known = sorted(set(names))
    if name is not None and name not in known:
        raise FormatError(
            f"{what}: expected a known value, got {abbreviate(name)}; {suggest(name, known)}"
        )


def suggest(name: str, known: list[str]) -> str:
    """Return a phrase that lists the known names most similar to `name`, else the first ones.

    >>> suggest("Ana", ["anna", "bo"]), suggest("x", ["anna", "bo"]), suggest("x", [])
    ("near are 'anna'", "there are 'anna', 'bo'", 'there are none')
    """
    close = similar_names(name, known)
    if not known:
        return "there are none"
    listed = ", ".join(map(abbreviate, (close or known)[:MAX_SHOWN]))
    more = "" if close or len(known) <= MAX_SHOWN else f" and {len(known) - MAX_SHOWN} more"
    return f"{'near' if close else 'there'} are {listed}{more}"


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are similar to `name`, ignoring case, most similar first."""
    by_name: dict[str, list[str]] = {}
    for each in known:
        by_name.setdefault(each.casefold(), []).append(each)
    return [
        each
        for close in get_close_matches(name.casefold(), by_name, MAX_SHOWN)
        for each in by_name[close]
    ]


def mapped_types(
    pairs: Sequence[str] | None, files: Sequence[SentenceFile]
) -> dict[str, str] | None:
    """Return the entity types to keep, with their new names; None without `--map`.

    A type that no file has is printed, not rejected: one map may serve many files.

    Args:
        pairs: the values of the option, such as `OLD=NEW`.
        files: the files to map, with their original types.

    Raises:
        FormatError: no word of the files has a type of the map; or a missing type resembles a type
            that would be dropped.
    """
    if not pairs:
        return None
    types, asked = parse_types(pairs), requested_types(pairs)
    counts = words_by_type(chain.from_iterable(files))
    dropped = sorted(counts.keys() - types.keys())
    names = ", ".join(dict.fromkeys(str(file.path) for file in files[:MAX_SHOWN]))
    if not counts.keys() & types.keys():
        message = "; ".join(f"{abbreviate(old)}: {suggest(old, dropped)}" for old in asked)
        raise FormatError(f"--map: no word in {names} has one of its types ({message})")
    missing = [old for old in asked if old not in counts]
    for old in missing:
        if similar_names(old, dropped):
            raise FormatError(
                f"--map: no word in {names} has the type {abbreviate(old)}; "
                f"{suggest(old, dropped)}, which would become O"
            )
    if missing:
        became = f"; {', '.join(map(abbreviate, dropped[:MAX_SHOWN]))} become O" * bool(dropped)
        listed = ", ".join(map(abbreviate, missing[:MAX_SHOWN]))
        sys.stderr.write(f"--map: no word in {names} has the type {listed}{became}\n")
    return types


def require_folder(path: Path | None, what: str = "be written") -> None:
    """Reject a path whose folder is missing; None is accepted.

    Raises:
        FormatError: the folder is missing; the message lists folders with similar names.
    """
    if path is None or path.parent.is_dir():
        return
    missing = path.parent
    while not missing.parent.is_dir():
        missing = missing.parent
    siblings = [folder.name for folder in missing.parent.iterdir() if folder.is_dir()]
    raise FormatError(
        f"{path}: cannot {what}: No such file or folder: {missing.name}; "
        f"{suggest(missing.name, siblings)}"
    )


def require_file(path: Path) -> None:
    """Reject a missing file.

    Raises:
        FormatError: the file or its folder is missing; the message lists similar names.
    """
    require_folder(path, "be read")
    if not path.exists():
        siblings = sorted(file.name for file in path.parent.iterdir() if file.is_file())
        raise FormatError(f"{path}: there is no such file; {suggest(path.name, siblings)}")
