"""Taggers by name: the shipped folders, and those in the folders that CRFVIZ_MODELS names."""

from __future__ import annotations

import os
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.taggers.config import CONFIG_FILE
from crfviz.taggers.neural import NeuralTagger
from crfviz.taggers.tagger import Tagger

SHIPPED = Path(__file__).resolve().parents[2] / "models"
VARIABLE = "CRFVIZ_MODELS"  # more folders of model folders, separated as in PATH


def list_taggers() -> list[str]:
    """Names that `load_tagger` knows, in alphabetical order."""
    return sorted(name for name, path in _folders().items() if (path / CONFIG_FILE).is_file())


def load_tagger(name_or_folder: str | Path) -> Tagger:
    """The tagger of a name, or of a folder anywhere.

    Args:
        name_or_folder: one of `list_taggers()`, or the path of a model folder.

    Raises:
        ModelError: no such tagger, or its folder is no model; says which file and which field.
    """
    folders = _folders()
    if isinstance(name_or_folder, str) and name_or_folder in folders:
        return NeuralTagger(folders[name_or_folder])
    if str(name_or_folder).strip() and _is_folder(Path(name_or_folder)):
        return NeuralTagger(Path(name_or_folder))
    known = ", ".join(list_taggers()) or "none"
    raise ModelError(
        f"no tagger is called {str(name_or_folder)!r} and no model folder is there; known: {known}"
    )


def _folders() -> dict[str, Path]:
    """Folders by name, models or not; what is shipped goes before what was added."""
    added = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    folders: dict[str, Path] = {}
    for parent in (SHIPPED, *added):
        if _is_folder(parent):
            for folder in parent.iterdir():
                if _is_folder(folder):
                    folders.setdefault(folder.name, folder)
    return folders


def _is_folder(path: Path) -> bool:
    """Whether there is a folder; no error for a name that the system cannot hold."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # too long; a null character
        return False
