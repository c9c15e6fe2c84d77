"""Which weights a tagger has, as a short digest: a name alone does not say, for folders change."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.taggers.tagger import CARD_FILE, EVALUATION_FILE, Tagger

LENGTH = 12  # hexadecimal digits
ABOUT = (CARD_FILE, EVALUATION_FILE, LEXICON_FILE)  # they tell of a model, and may be written later


def version_of(tagger: Tagger) -> str:
    """A digest of everything in the tagger's folder but what tells of it; reads all of it.

    Raises:
        ModelError: a file cannot be read.
    """
    place = tagger.folder
    content = sha256()
    try:
        for path in sorted(place.iterdir()) if place.is_dir() else [place]:
            if path.is_file() and path.name not in ABOUT:
                content.update(path.name.encode())
                content.update(_digest(path))
    except OSError as error:
        raise ModelError(f"{place}: cannot be read ({error})") from error
    return content.hexdigest()[:LENGTH]


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        found = sha256()
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.digest()
