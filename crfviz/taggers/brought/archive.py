"""A model folder as a ZIP archive, as `python -m crfviz train` writes it.

Only files with the names that such a folder has are taken, wherever in the archive they stand, so
that no member can be written elsewhere. What the model would take of memory is told from the
headers of its files, before it is loaded.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.brought.draft import MOST_MEMBERS, MOST_TAGS, MOST_UNPACKED
from crfviz.taggers.brought.understood import Understood
from crfviz.taggers.examples import EXAMPLES_FILE
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.memory import MOST_JSON, require_json_bytes
from crfviz.taggers.model_size import folder_bytes
from crfviz.taggers.storage import CONFIG_FILE, HISTORY_FILE, VOCABULARY_FILE, WEIGHTS_FILE
from crfviz.taggers.tagger import Tagger
from crfviz.text.archives import Archive

TEXTS = (CONFIG_FILE, VOCABULARY_FILE, EXAMPLES_FILE, CARD_FILE, HISTORY_FILE)
FILES = (*TEXTS, WEIGHTS_FILE)
MOST_TEXT = 10_000_000  # bytes of all of them
MOST_MEMORY = 120_000_000  # bytes of the model once it is loaded
MOST_SHOWN = 5  # examples
MOST_SCORED = 120  # words of an example
FALLBACK = ("These", "look", "fine", "to", "me", ".")  # scored where there is no example
KIND = "Model folder as .zip"


def read_folder(data: bytes, load: Callable[[Path], Tagger]) -> Understood:
    """The model in an archive.

    Args:
        data: the .zip.
        load: makes a tagger of a folder.

    Raises:
        FormatError: the archive is damaged or too large, or holds no model folder or several, or
            the model is of no use; says which file and which field.
    """
    archive = opened(data)
    root = _root(archive)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        folder.mkdir()
        _write(archive, root, folder)
        try:
            _require_memory(folder)
            tagger = load(folder)
            examples = [example.tokens[:MOST_SCORED] for example in tagger.examples()[:MOST_SHOWN]]
            chains = tagger.potentials_batch(examples or [FALLBACK])
            tagger.card()
        except CrfvizError as error:
            raise FormatError(str(error).replace(f"{folder}/", "")) from error
        carded = (folder / CARD_FILE).is_file()
    if len(tagger.tags) > MOST_TAGS:
        raise FormatError(f"The model has {len(tagger.tags)} tags, up to {MOST_TAGS} can be drawn.")
    return Understood(
        kind=KIND,
        family=tagger.family,
        tags=tagger.tags,
        scheme=tagger.scheme,
        sentences=tuple(chains),
        notes=() if carded else ("There is no card: the folder has no README.md.",),
        unnormalised=(),
        write=partial(_write, archive, root),
    )


def opened(data: bytes) -> Archive:
    """The archive, with the limits of what is brought.

    Raises:
        FormatError: it is damaged, holds too many files, or unpacks to too many bytes.
    """
    return Archive(data, most_members=MOST_MEMBERS, most_unpacked=MOST_UNPACKED)


def _root(archive: Archive) -> PurePosixPath:
    """The folder in which config.json stands."""
    paths = map(PurePosixPath, archive.names)
    roots = [path.parent for path in paths if path.name == CONFIG_FILE]
    if len(roots) != 1:
        raise FormatError(
            f"The .zip must hold one model folder, with a {CONFIG_FILE} in it, as "
            f"`python -m crfviz train` writes it; got {len(roots)}."
        )
    texts = sum(archive.size(name) for name in archive.names if _is_text(name, roots[0]))
    if texts > MOST_TEXT:
        raise FormatError(
            f"The texts of the model ({', '.join(TEXTS)}) have {texts:,} bytes, at most "
            f"{MOST_TEXT:,} are read."
        )
    return roots[0]


def _is_text(name: str, root: PurePosixPath) -> bool:
    path = PurePosixPath(name)
    return path.parent == root and path.name in TEXTS


def _write(archive: Archive, root: PurePosixPath, folder: Path) -> None:
    """The files of the model, one after another."""
    for name in FILES:
        path = str(root / name)
        if path in archive.names:
            (folder / name).write_bytes(archive.content(path))


def _require_memory(folder: Path) -> None:
    """Refuse a model that would take too much memory.

    Raises:
        FormatError: it would.
        ModelError: its headers cannot be read.
    """
    for name in (CONFIG_FILE, VOCABULARY_FILE, EXAMPLES_FILE):
        path = folder / name
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            try:
                require_json_bytes(text, MOST_JSON)
            except FormatError as error:
                raise FormatError(f"{name}: {error}") from error
    needed = folder_bytes(folder)
    if needed > MOST_MEMORY:
        raise FormatError(
            f"{WEIGHTS_FILE}: the model would take {needed / 1e6:,.0f} MB of memory, at most "
            f"{MOST_MEMORY / 1e6:,.0f} MB can be brought."
        )
