"""Files of other programs into the list of models, in one step."""

from __future__ import annotations

from pathlib import Path

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.draft import MOST_BYTES, Reading
from crfviz.taggers.brought.files import understand_files
from crfviz.taggers.brought.understood import Understood
from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import free_name, new_model


def bring(*files: str | Path, name: str = "", reading: Reading | None = None) -> Tagger:
    """The model in one file, or in two that belong together; it is in `list_taggers` from now on.

    Args:
        files: paths; docs/bring-your-own.md says which kinds there are.
        name: for the list; that of the first file where it is empty. A number is added to one that
            is taken.
        reading: what the files do not say of themselves.

    Raises:
        FormatError: the files cannot be read or understood; says which and why.
        ModelError: nothing can be written.
    """
    if not files:
        raise FormatError("Expected one file, or two that belong together, got none.")
    contents = [(Path(file).name, _content(Path(file))) for file in files]
    found = understand_files(contents, reading or Reading(), load_tagger)
    return load_tagger(keep(found, name or Path(files[0]).stem))


def keep(found: Understood, name: str) -> str:
    """Put what was understood into the list of models.

    Args:
        found: the model.
        name: the one wanted.

    Returns:
        The name it got.

    Raises:
        ModelError: there is no letter in the name, or nothing can be written.
    """
    free = free_name(name, list_taggers())
    with new_model(free) as folder:
        found.write(folder)
    return free


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)  # one more, so that too many are noticed
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})") from error
