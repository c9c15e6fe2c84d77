"""Folder of uploaded models: safe names, atomic creation, limits on disk and memory.

All users of the app see all of these models, because the folder belongs to the server.
"""

import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from math import prod
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.settings import data_folder, settings
from crfviz.taggers.storage import (
    CONFIG_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    read_family,
    read_json_object,
    tensor_shapes,
)
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON
from crfviz.taggers.textbook import TEXTBOOK

_OF_TEXT = 8  # bytes of memory for each byte of the JSON files
_OF_NUMBER = {CRF: 4, HMM: 40, PERCEPTRON: 4}  # an HMM's counts become several tables of float64
_GIVEN = 8  # float64
_PACKED = {"features.counts": False, "words.counts": True}  # whether a row has K x K weights, not K
MAX_MODELS = 100  # anyone who can open the app can upload one
MAX_BYTES = 1_000_000_000  # of all models on disk, and of all in memory once loaded
MAX_NAMED = 3  # models that a message suggests to remove
LONGEST_NAME = 40  # characters; must fit into a picker and a link
HIDDEN = "."  # prefix of folders that are being written or removed
REMOVED = f"{HIDDEN}removed"  # a file with the names of removed models, one per line
OWNER_FILE = "owner.txt"  # in a model folder: the owner, who may replace the model
RESERVED = (TEXTBOOK,)  # folder names with another meaning
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def disk_bytes(folder: Path) -> int:
    """Return the bytes of the files of a model folder; 0 if it cannot be read."""
    try:
        return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    except OSError:
        return 0


def folder_bytes(folder: Path) -> int:
    """Estimate the memory of a loaded model from the headers of its files.

    Raises:
        ModelError: a file is missing or damaged.
    """
    family = read_family(folder)
    if family == TEXTBOOK:
        return disk_bytes(folder) * _OF_TEXT
    shapes = tensor_shapes(folder / WEIGHTS_FILE)
    numbers = sum(map(prod, shapes.values())) * _OF_NUMBER.get(family, _GIVEN)
    texts = (path for path in (folder / CONFIG_FILE, folder / VOCABULARY_FILE) if path.is_file())
    words = sum(path.stat().st_size for path in texts) * _OF_TEXT
    if family != PERCEPTRON:
        return numbers + words
    tags = read_json_object(folder / CONFIG_FILE).get("tags")
    K = len(tags) if isinstance(tags, list) else 0
    rows = {name: prod(shapes.get(name, (0,))) + 1 for name in _PACKED}
    tables = sum(4 * rows[name] * K * (K if square else 1) for name, square in _PACKED.items())
    return numbers + words + tables


def user_models() -> Path:
    """Return the folder of uploaded models; it may not exist yet.

    `CRFVIZ_USER_MODELS` names it; the default is `crfviz/models` in the user's data folder.

    Raises:
        ModelError: the variable is not set and this user has no home folder.
    """
    if folder := settings().user_models:
        return folder
    try:
        return data_folder() / "crfviz" / "models"
    except RuntimeError as error:
        raise ModelError(
            "This user has no home folder: set CRFVIZ_USER_MODELS to a folder."
        ) from error


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return the wanted name in safe characters, with a number if it is taken.

    Args:
        wanted: any text; all but letters, digits, - and _ becomes -.
        taken: names to avoid, ignoring case. Names of models that were ever uploaded are avoided,
            too, because links and caches identify a model by its name.

    Raises:
        ModelError: `wanted` has no letter or digit.
    """
    name = safe_name(wanted)
    others = {other.casefold() for other in (*taken, *RESERVED, *own_models(), *_removed())}
    names = (f"{name}-{number}" if number > 1 else name for number in count(1))
    return next(free for free in names if free.casefold() not in others)


def safe_name(wanted: str) -> str:
    """Return a text reduced to characters that the name of a model may have.

    Raises:
        ModelError: `wanted` has no letter or digit.
    """
    plain = unicodedata.normalize("NFKD", wanted).encode("ascii", "ignore").decode()
    name = _NO_NAME.sub("-", plain).strip("-_")[:LONGEST_NAME].strip("-_")
    if not name:
        raise ModelError(f"A model needs a name with a letter or digit in it, got {wanted[:60]!r}")
    return name


def require_own_name(name: str, owner: str, taken: Collection[str] = ()) -> None:
    """Reject a name that is taken, unless it is that of the owner's own model.

    Raises:
        ModelError: the name is taken or not safe.
    """
    mine = owner and owner_of(name) == owner
    if not mine and free_name(name, taken) != name:
        raise ModelError(f"{name!r} is taken, or no safe name for a model; choose another name")


def owner_of(name: str) -> str:
    """Return the owner of an uploaded model, who may replace it; empty if it has none."""
    try:
        return (user_models() / name / OWNER_FILE).read_text(encoding="utf-8").strip()
    except (OSError, ValueError, ModelError):
        return ""


@contextmanager
def new_model(
    name: str, owner: str = "", confirm: Callable[[], None] = lambda: None
) -> Iterator[Path]:
    """Create an empty folder that is renamed to `name` when the body succeeds.

    The name is a free one, or that of a model of the same owner, which is replaced. `confirm` is
    called after the renaming; if it or the body fails, nothing changes.

    Raises:
        ModelError: the name is not safe or taken, all models together would take too much disk or
            memory, or the folder cannot be written.
    """
    require_own_name(name, owner)
    if name not in own_models() and len(own_models()) >= MAX_MODELS:
        raise ModelError(f"There are {MAX_MODELS} models of this kind already: remove one first")
    parent = user_models()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{HIDDEN}new-", dir=parent))
    except OSError as error:
        raise ModelError(f"{parent}: no model can be written there ({error})") from error
    try:
        yield folder
        _require_room(folder)
        folder.chmod(0o755)  # mkdtemp makes it private
        if owner:
            (folder / OWNER_FILE).write_text(f"{owner}\n", encoding="utf-8")
        _publish(folder, parent / name, confirm, replaces=bool(owner))
    except OSError as error:
        raise ModelError(f"{parent / name}: cannot be written ({error})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_model(name: str) -> None:
    """Remove an uploaded model; it disappears from the list at once.

    Raises:
        ModelError: the model is not an uploaded one, or cannot be removed.
    """
    folder = user_models() / name
    if name not in own_models():
        raise ModelError(f"No model called {name!r} was brought")
    try:
        if not owner_of(name):
            with (folder.parent / REMOVED).open("a", encoding="utf-8") as names:
                names.write(f"{name}\n")
        shutil.rmtree(_put_aside(folder), ignore_errors=True)
    except OSError as error:
        raise ModelError(f"{folder}: cannot be removed ({error})") from error


def version_stamp(name: str) -> int:
    """Return a number that changes when a model is replaced by a new version."""
    try:
        return (user_models() / name / OWNER_FILE).stat().st_mtime_ns
    except (OSError, ValueError, ModelError):
        return 0


def _publish(folder: Path, target: Path, confirm: Callable[[], None], *, replaces: bool) -> None:
    """Rename a folder to `target`, replacing the model there; undo it if `confirm` fails."""
    with ExitStack() as undo:
        before = _put_aside(target) if replaces and target.is_dir() else None
        if before is not None:
            undo.callback(before.rename, target)
        folder.rename(target)  # fails if `target` is a folder that is not empty
        undo.callback(target.rename, folder)
        confirm()
        undo.pop_all()
    if before is not None:
        shutil.rmtree(before, ignore_errors=True)


def _put_aside(folder: Path) -> Path:
    hidden = Path(tempfile.mkdtemp(prefix=f"{HIDDEN}old-", dir=folder.parent))
    return folder.rename(hidden)


def own_models() -> list[str]:
    """Return the names of the uploaded models in alphabetical order."""
    try:
        return sorted(
            folder.name
            for folder in user_models().iterdir()
            if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(HIDDEN)
        )
    except (OSError, ModelError):
        return []


def _require_room(new: Path) -> None:
    """Reject a model with which all models would exceed the limits.

    Raises:
        ModelError: the limits are exceeded; says by how much, and names the largest models.
    """
    sizes: Mapping[str, Callable[[Path], int]] = {"disk": disk_bytes, "memory": _memory}
    for what, size in sizes.items():
        taken = {name: size(user_models() / name) for name in own_models()}
        own = size(new)
        if sum(taken.values()) + own > MAX_BYTES:
            largest = sorted(taken, key=lambda name: -taken[name])[:MAX_NAMED]
            named = ", ".join(f"{name} ({_in_mb(taken[name])})" for name in largest)
            raise ModelError(
                f"The model takes {_in_mb(own)} of {what}, and the {len(taken)} that were brought "
                f"take {_in_mb(sum(taken.values()))} of at most {_in_mb(MAX_BYTES)}. Remove some "
                f"first; the largest are {named or 'none'}."
            )


def _memory(folder: Path) -> int:
    try:
        return folder_bytes(folder)
    except ModelError:  # it cannot be loaded
        return 0


def _in_mb(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"


def _removed() -> list[str]:
    try:
        return (user_models() / REMOVED).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, ModelError):  # no model was removed yet
        return []
