"""Taggers by name: shipped, in the folders of CRFVIZ_MODELS, brought by people, or of plug-ins.

A model is a folder with a config.json, which says of what family it is; a textbook chain is a JSON
file in a folder called `textbook`, and its name is `textbook/NAME`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.taggers.brought.storage import IMPORTED
from crfviz.taggers.brought.tagger import ImportedTagger
from crfviz.taggers.hmm.tagger import HmmTagger
from crfviz.taggers.neural.tagger import NeuralTagger
from crfviz.taggers.perceptron.tagger import PerceptronTagger
from crfviz.taggers.plugins import PluginTagger, plugins
from crfviz.taggers.storage import CONFIG_FILE, read_family, wrong_field
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON, Tagger
from crfviz.taggers.textbook.tagger import TEXTBOOK, TextbookTagger
from crfviz.taggers.user_models import HIDDEN, user_models

SHIPPED = Path(__file__).resolve().parents[2] / "models"
VARIABLE = "CRFVIZ_MODELS"  # more folders of model folders, separated as in PATH

FAMILIES: Mapping[str, Callable[[Path], Tagger]] = {
    CRF: NeuralTagger,
    PERCEPTRON: PerceptronTagger,
    HMM: HmmTagger,
    IMPORTED: ImportedTagger,
}  # of model folders


def list_taggers() -> list[str]:
    """Names that `load_tagger` knows, in alphabetical order."""
    found = _places().items()
    folders = {n for n, path in found if path.is_file() or (path / CONFIG_FILE).is_file()}
    return sorted(folders | plugins().keys())


def load_tagger(name_or_folder: str | Path) -> Tagger:
    """The tagger of a name, or of a model folder or textbook file anywhere.

    Args:
        name_or_folder: one of `list_taggers()`, the path of a model folder, or that of a textbook
            chain's JSON file.

    Raises:
        ModelError: no such tagger, or it is no model; says which file and which field.
    """
    places = _places()
    if isinstance(name_or_folder, str) and name_or_folder in places:
        return _load(places[name_or_folder])
    if isinstance(name_or_folder, str) and name_or_folder in plugins():
        return PluginTagger(plugins()[name_or_folder])
    if str(name_or_folder).strip() and _is(Path.is_dir, Path(name_or_folder)):
        return _load(Path(name_or_folder))
    if str(name_or_folder).endswith(".json") and _is(Path.is_file, Path(name_or_folder)):
        return _load(Path(name_or_folder))
    known = ", ".join(list_taggers()) or "none"
    raise ModelError(
        f"no tagger is called {str(name_or_folder)!r} and no model folder is there; known: {known}"
    )


def _load(path: Path) -> Tagger:
    if path.suffix == ".json" and path.is_file():
        return TextbookTagger(path)
    family = read_family(path)
    if family not in FAMILIES:
        expected = f"must be one of {', '.join(FAMILIES)}"
        raise wrong_field(path / CONFIG_FILE, "family", expected, family)
    return FAMILIES[family](path)


def _places() -> dict[str, Path]:
    """Folders and textbook files by name, models or not; what is shipped goes before the rest."""
    places: dict[str, Path] = {}
    for parent in (SHIPPED, *_added()):
        if not _is(Path.is_dir, parent):
            continue
        for folder in parent.iterdir():
            if folder.name.startswith(HIDDEN):
                continue
            if folder.name == TEXTBOOK and _is(Path.is_dir, folder):
                for file in folder.glob("*.json"):
                    places.setdefault(f"{TEXTBOOK}/{file.stem}", file)
            elif _is(Path.is_dir, folder):
                places.setdefault(folder.name, folder)
    return places


def _added() -> list[Path]:
    """Folders of models beside the shipped ones."""
    added = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    with suppress(ModelError):  # no home
        added.append(user_models())
    return added


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """Whether there is such a thing; no error for a name that the system cannot hold."""
    try:
        return kind(path)
    except (OSError, ValueError):  # too long; a null character
        return False
