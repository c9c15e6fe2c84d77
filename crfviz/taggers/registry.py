"""Registry of taggers: shipped, in CRFVIZ_MODELS, uploaded, or from plug-ins; shipped excerpts.

A model is a folder with a config.json, which names its family. A textbook chain is a JSON file in a
folder called `textbook`, and its name is `textbook/NAME`. `bring` adds files of other programs.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from crfviz.exceptions import FormatError, ModelError
from crfviz.settings import settings
from crfviz.taggers.brought.files import validate_files
from crfviz.taggers.brought.parsed_model import MAX_BYTES, Reading
from crfviz.taggers.brought.tagger import IMPORTED, ImportedTagger
from crfviz.taggers.brought.validated_model import ANSWERS, ValidatedModel
from crfviz.taggers.brought.watch import Watch
from crfviz.taggers.exercises import PREFIX, ExerciseTagger
from crfviz.taggers.folder import FolderTagger
from crfviz.taggers.hmm import HmmTagger
from crfviz.taggers.neural.tagger import NeuralTagger
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.taggers.plugins import load_plugin, plugins, register_plugin
from crfviz.taggers.storage import CONFIG_FILE, read_family, read_tokenizer, wrong_field
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON, Tagger
from crfviz.taggers.textbook import TEXTBOOK, TextbookTagger
from crfviz.taggers.user_models import HIDDEN, free_name, new_model, user_models
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import ENGLISH

SHIPPED = Path(__file__).resolve().parents[2] / "models"

FAMILIES: Mapping[str, Callable[[Path], Tagger]] = {
    CRF: NeuralTagger,
    PERCEPTRON: PerceptronTagger,
    HMM: HmmTagger,
    IMPORTED: ImportedTagger,
    TEXTBOOK: TextbookTagger,
}  # loaders of model folders, by family
EXCERPTS: Mapping[str, str] = {  # file and description
    "excerpts/ewt-dev.conllu": "150 sentences of UD English EWT dev (CC BY-SA 4.0)",
    "excerpts/btc-dev.conll": "150 tweets of the Broad Twitter Corpus dev (CC BY 4.0)",
}


def list_taggers() -> list[str]:
    """Return names that `load_tagger` knows, in alphabetical order."""
    places = _model_paths().items()
    folders = {n for n, path in places if path.is_file() or (path / CONFIG_FILE).is_file()}
    return sorted(folders | plugins().keys())


def brought_models() -> dict[str, Path]:
    """Return the folders of uploaded models by name, without loading them."""
    with suppress(ModelError):  # no home folder
        parent = user_models()
        return {name: path for name, path in _model_paths().items() if path.parent == parent}
    return {}


def load_tagger(name_or_folder: str | Path) -> Tagger:
    """Load a tagger: a name in `list_taggers()`, a model folder or a textbook file.

    `exercise/KIND.SEED` is the chain of `crfviz.exercise(KIND, SEED)`.

    Raises:
        ModelError: there is no such tagger, or its files are invalid; names the file and the field.
    """
    if isinstance(name_or_folder, str) and name_or_folder.startswith(PREFIX):
        return ExerciseTagger(name_or_folder)
    if (place := model_path(name_or_folder)) is not None:
        return _load(place)
    if isinstance(name_or_folder, str) and name_or_folder in plugins():
        return load_plugin(plugins()[name_or_folder])
    known = ", ".join(list_taggers()) or "none"
    raise ModelError(
        f"no tagger is called {str(name_or_folder)!r} and no model folder is there; known: {known}"
    )


def model_path(name_or_folder: str | Path) -> Path | None:
    """Return the folder or textbook file that `load_tagger` would read; None if there is none.

    Names of models and plug-ins take precedence over paths; a plug-in has no path.
    """
    places = _model_paths()
    if isinstance(name_or_folder, str) and name_or_folder in places:
        return places[name_or_folder]
    if isinstance(name_or_folder, str) and name_or_folder in plugins():
        return None
    if str(name_or_folder).strip() and _path_is(Path.is_dir, Path(name_or_folder)):
        return Path(name_or_folder)
    if str(name_or_folder).endswith(".json") and _path_is(Path.is_file, Path(name_or_folder)):
        return Path(name_or_folder)
    return None


def register(tagger: object, name: str | None = None) -> Tagger:
    """Add a tagger to `list_taggers` as long as this process runs, and return it.

    A later one of the same name replaces it, on the pages too.

    Args:
        tagger: of `crfviz.from_crfsuite`, `crfviz.from_hmm` or `load_tagger`; or any object with
            `tags` and `potentials(tokens)`, or a class that makes one without arguments.
        name: for the list; the `name` of the tagger, or that of its class, if None.

    Raises:
        ModelError: it is not a tagger, or another model has the name.
    """
    return register_plugin(tagger, name, _model_paths())


def bring(*files: str | Path, name: str = "", reading: Reading | None = None) -> Tagger:
    """Add the model in one file, or in two that belong together, to `list_taggers`.

    Args:
        files: paths; docs/bring-your-own.md says which kinds there are.
        name: name in the list; by default that of the first file. A number is appended if it is
            taken.
        reading: facts that the files lack. A warning lists an assumed order of axes, rows that do
            not sum to one, and skipped sentences.

    Raises:
        FormatError: the files cannot be read or are invalid, or look like probabilities and do not
            say that they are; says which, why, and what answers it.
        ModelError: the model cannot be written.
    """
    model = read_model(*files, reading=reading)
    assumed = model.notes[:1] if model.batch_first is not None else ()
    if doubts := [*assumed, *model.unnormalised, *model.left_out]:
        warnings.warn("\n".join(doubts), stacklevel=2)
    return load_tagger(store_model(model, name or Path(files[0]).stem))


def read_model(*files: str | Path, reading: Reading | None = None) -> ValidatedModel:
    """Return the model that `bring` would store."""
    if not files:
        raise FormatError("Expected one file, or two that belong together, got none.")
    contents = [(Path(file).name, _content(Path(file))) for file in files]
    return validate_files(contents, reading or Reading(), load_tagger)


def store_model(understood: ValidatedModel, name: str) -> str:
    """Add a model to the list and return the free name that it got.

    Raises:
        FormatError: the numbers may be scores or probabilities, and nothing says which.
        ModelError: the name has no letter or digit, or the model cannot be written.
    """
    if understood.question:
        raise FormatError(f"{understood.question} {ANSWERS}")
    free = free_name(name, list_taggers())
    with new_model(free) as folder:
        understood.write(folder)
    return free


def watch(
    model_or_layer: object,
    tags: Sequence[str] | None = None,
    words: Sequence[Any] | None = None,
) -> Watch:
    """Record the scores that pass through the CRF layers of a running model.

    The result is a context manager. After the block it has `potentials`, one chain a sentence;
    `theirs`, the library's own paths; `notes` on both; and `bring(name)`. The layers' methods are
    wrapped only inside the block, even if it fails. No library is imported and no model is loaded.

    A token classifier without a CRF layer, whose output has `logits` (B, T, K) and whose
    `config.id2label` names K tags, gives chains with transitions of 0. Set `word_ids`, a list for
    each sentence, so that a word has the scores of its first piece.

    Args:
        model_or_layer: a `torch.nn.Module`: a CRF layer, a model around one, or a classifier.
        tags: K names, where the library has none.
        words: a list of words for each sentence, or the words of one, where the library has none.

    Raises:
        FormatError: there is no known CRF layer, and no parameter that may be transitions.
        ShapeError: tags do not fit the layer.

    Example:
        >>> import torch
        >>> from crfviz import CRF
        >>> layer = CRF(2).eval()
        >>> with watch(layer, tags=["N", "V"]) as seen:
        ...     _ = layer.decode(torch.zeros(1, 3, 2))
        >>> seen.potentials[0].tags
        ('N', 'V')
    """
    return Watch(
        model_or_layer, tags, words, lambda model, name: load_tagger(store_model(model, name))
    )


def _load(path: Path) -> Tagger:
    if path.suffix == ".json" and path.is_file():
        return TextbookTagger(path)
    family = read_family(path)
    if family not in FAMILIES:
        expected = f"must be one of {', '.join(FAMILIES)}"
        raise wrong_field(path / CONFIG_FILE, "family", expected, family)
    tagger = FAMILIES[family](path)
    if isinstance(tagger, FolderTagger) and tagger.tokenizer == ENGLISH:
        tagger.tokenizer = read_tokenizer(path)
    return tagger


def _model_paths() -> dict[str, Path]:
    """Return all folders and textbook files by name; shipped ones win, others may be no models."""
    places: dict[str, Path] = {}
    for parent in (SHIPPED, *_extra_folders()):
        if not _path_is(Path.is_dir, parent):
            continue
        for folder in parent.iterdir():
            if folder.name.startswith(HIDDEN):
                continue
            if folder.name == TEXTBOOK and _path_is(Path.is_dir, folder):
                for file in folder.glob("*.json"):
                    places.setdefault(f"{TEXTBOOK}/{file.stem}", file)
            elif _path_is(Path.is_dir, folder):
                places.setdefault(folder.name, folder)
    return places


def _extra_folders() -> list[Path]:
    """Return the folders that hold models other than the shipped ones."""
    added = [*settings().models]
    with suppress(ModelError):  # no home folder
        added.append(user_models())
    return added


def _path_is(kind: Callable[[Path], bool], path: Path) -> bool:
    """Return whether a path is of a kind; False for a name that the system does not allow."""
    try:
        return kind(path)
    except (OSError, ValueError):  # too long; a null character
        return False


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # one more, to detect larger files
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})") from error


@cache
def read_excerpt(path: str) -> tuple[Sentence, ...]:
    """Return the sentences of one of `EXCERPTS`."""
    return tuple(read_sentences(SHIPPED / path))


def excerpt_for(tags: Sequence[str]) -> str | None:
    """Return the first of `EXCERPTS` that has no other tags than these; None if there is none."""
    known = set(tags)
    for path in EXCERPTS:
        if {tag for sentence in read_excerpt(path) for tag in sentence.tags or ()} <= known:
            return path
    return None
