"""ZIP archives, looked at before anything is unpacked; and a model folder as one.

Of a folder, as `python -m crfviz train` writes it, only files with the names that it has are taken,
wherever in the archive they stand, so that no member can be written elsewhere.
"""

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from crfviz.exceptions import FormatError, ModelError
from crfviz.taggers.brought.draft import MOST_MEMBERS, MOST_TAGS, MOST_UNPACKED
from crfviz.taggers.brought.understood import Understood
from crfviz.taggers.examples import EXAMPLES_FILE
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.storage import CONFIG_FILE, HISTORY_FILE, VOCABULARY_FILE, WEIGHTS_FILE
from crfviz.taggers.tagger import Tagger
from crfviz.text.number_tables import ZIP_ERRORS

FILES = (CONFIG_FILE, VOCABULARY_FILE, WEIGHTS_FILE, EXAMPLES_FILE, CARD_FILE, HISTORY_FILE)
MOST_SHOWN = 5  # examples
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
    files = _files(data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        folder.mkdir()
        _write(folder, files)
        try:
            tagger = load(folder)
            sentences = [example.tokens for example in tagger.examples()][:MOST_SHOWN]
            chains = tagger.potentials_batch(sentences or [FALLBACK])
            tagger.card()
        except ModelError as error:
            raise FormatError(str(error).replace(f"{folder}/", "")) from error
    if len(tagger.tags) > MOST_TAGS:
        raise FormatError(f"The model has {len(tagger.tags)} tags, up to {MOST_TAGS} can be drawn.")
    return Understood(
        kind=KIND,
        family=tagger.family,
        tags=tagger.tags,
        scheme=tagger.scheme,
        sentences=tuple(chains),
        notes=() if CARD_FILE in files else ("There is no card: the folder has no README.md.",),
        unnormalised=(),
        write=lambda target: _write(target, files),
    )


def check_archive(data: bytes) -> list[zipfile.ZipInfo]:
    """The members of an archive.

    Raises:
        FormatError: it is damaged, holds too many files, or unpacks to too many bytes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except ZIP_ERRORS as error:
        raise FormatError(f"The archive is damaged or cut off ({error}).") from error
    if len(members) > MOST_MEMBERS:
        raise FormatError(f"The archive holds {len(members):,} files, more than {MOST_MEMBERS:,}.")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MOST_UNPACKED:
        raise FormatError(
            f"The archive unpacks to {unpacked:,} bytes, at most {MOST_UNPACKED:,} are read."
        )
    return members


def _files(data: bytes) -> dict[str, bytes]:
    """The files of the folder in which config.json stands."""
    members = [member.filename for member in check_archive(data)]
    roots = [path.parent for path in map(PurePosixPath, members) if path.name == CONFIG_FILE]
    if len(roots) != 1:
        raise FormatError(
            f"The .zip must hold one model folder, with a {CONFIG_FILE} in it, as "
            f"`python -m crfviz train` writes it; got {len(roots)}."
        )
    wanted = {name: str(roots[0] / name) for name in FILES}
    files = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name, path in wanted.items():
            if path in members:
                try:
                    files[name] = archive.read(path)
                except ZIP_ERRORS as error:
                    message = f"The archive is damaged: {path[:60]!r} ({error})."
                    raise FormatError(message) from error
    return files


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
