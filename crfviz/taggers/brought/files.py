"""Detection of uploaded files by content, and of files that belong together.

| files | content |
|---|---|
| .json, .npz, .safetensors or .parquet | scores of sentences, with or without transitions |
| .safetensors or .pt, with .json or .npz | the CRF layer of a state_dict, with the emissions |
| .crfsuite with .jsonl | a CRFsuite model, with the attributes of each word |
| .zip | a folder that `python -m crfviz train` wrote |
| .json | a textbook chain, as in `models/textbook` |

Only files with known names are unpacked from a model folder. The memory of the model is estimated
from its headers before it is loaded.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from crfviz.exceptions import CrfvizError, FormatError, errors_at
from crfviz.taggers.brought.crfsuite_file import MAGIC, crfsuite_draft, read_crfsuite
from crfviz.taggers.brought.features_file import FEATURES_FILE
from crfviz.taggers.brought.layer_file import KIND as LAYER_KIND
from crfviz.taggers.brought.layer_file import read_checkpoint, read_safetensors
from crfviz.taggers.brought.logits_file import (
    PARQUET_MAGIC,
    arrays_of_tensors,
    columns_of_parquet,
    has_scores,
    read_parquet,
    read_score_tensors,
)
from crfviz.taggers.brought.parsed_model import (
    MAX_BYTES,
    MAX_TAGS,
    ParsedModel,
    Reading,
    Steps,
    open_archive,
)
from crfviz.taggers.brought.scores_file import (
    arrays_in,
    keys_in,
    read_arrays_of,
    read_json,
)
from crfviz.taggers.brought.validated_model import ValidatedModel, validate
from crfviz.taggers.examples import EXAMPLES_FILE
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.storage import CONFIG_FILE, HISTORY_FILE, VOCABULARY_FILE, WEIGHTS_FILE
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.textbook import CHAIN_FIELDS, is_chain, write_chain
from crfviz.taggers.user_models import folder_bytes
from crfviz.text.archives import ZIP_MAGIC, Archive, npz_arrays
from crfviz.text.jsonl import MAX_JSON, json_value, require_json_bytes
from crfviz.text.number_tables import PICKLE_MAGIC

TEXTS = (CONFIG_FILE, VOCABULARY_FILE, EXAMPLES_FILE, CARD_FILE, HISTORY_FILE)
FILES = (*TEXTS, WEIGHTS_FILE, FEATURES_FILE)
MAX_TEXT = 10_000_000  # bytes of all `TEXTS`
MAX_MEMORY = 120_000_000  # bytes of the model once it is loaded
MAX_SHOWN = 5  # examples
MAX_SCORED = 120  # words of an example
FALLBACK_WORDS = ("These", "look", "fine", "to", "me", ".")  # scored if the model has no examples
KIND = "Model folder as .zip"
CHAIN_KIND = "Textbook chain as JSON"


def read_folder(data: bytes, load: Callable[[Path], Tagger]) -> ValidatedModel:
    """Return the model in an archive.

    Args:
        data: the .zip.
        load: loads a tagger from a folder.

    Raises:
        FormatError: the archive is damaged or too large, does not hold exactly one model folder, or
            the model is invalid; names the file and the field.
    """
    archive = open_archive(data)
    return _loaded(KIND, partial(_write, archive, _members(archive)), load)


def read_chain(content: Mapping[str, Any], load: Callable[[Path], Tagger]) -> ValidatedModel:
    """Return the model of a textbook chain; see `crfviz.taggers.textbook`.

    Raises:
        FormatError: a field is missing or wrong; names it.
    """
    return _loaded(CHAIN_KIND, partial(write_chain, content), load)


def _loaded(
    kind: str, write: Callable[[Path], None], load: Callable[[Path], Tagger]
) -> ValidatedModel:
    """Return the model that a function writes into a folder, with the scores of its examples."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        folder.mkdir()
        write(folder)
        try:
            _require_memory(folder)
            tagger = load(folder)
            examples = [example.tokens[:MAX_SCORED] for example in tagger.examples()[:MAX_SHOWN]]
            fallback = tagger.observations[:MAX_SCORED] if tagger.observations else FALLBACK_WORDS
            chains = tagger.potentials_batch(examples or [fallback])
            carded = kind == CHAIN_KIND or (folder / CARD_FILE).is_file()
            tagger.card()
        except CrfvizError as error:
            raise FormatError(str(error).replace(f"{folder}/", "")) from error
    if len(tagger.tags) > MAX_TAGS:
        raise FormatError(f"The model has {len(tagger.tags)} tags, up to {MAX_TAGS} can be drawn.")
    return ValidatedModel(
        kind=kind,
        family=tagger.family,
        tags=tagger.tags,
        scheme=tagger.scheme,
        sentences=tuple(chains),
        notes=() if carded else ("There is no card: the folder has no README.md.",),
        unnormalised=(),
        write=write,
    )


def _members(archive: Archive) -> dict[str, str]:
    paths = map(PurePosixPath, archive.names)
    roots = [path.parent for path in paths if path.name == CONFIG_FILE]
    if len(roots) != 1:
        raise FormatError(
            f"The .zip must hold one model folder, with a {CONFIG_FILE} in it, as "
            f"`python -m crfviz train` writes it; got {len(roots)}."
        )
    places = {name: str(roots[0] / name) for name in FILES}
    members = {name: place for name, place in places.items() if place in archive.names}
    texts = sum(archive.size(place) for name, place in members.items() if name in TEXTS)
    if texts > MAX_TEXT:
        raise FormatError(
            f"The texts of the model ({', '.join(TEXTS)}) have {texts:,} bytes, at most "
            f"{MAX_TEXT:,} are read."
        )
    return members


def _write(archive: Archive, members: Mapping[str, str], folder: Path) -> None:
    for name, place in members.items():
        (folder / name).write_bytes(archive.content(place))


def _require_memory(folder: Path) -> None:
    """Reject a model that would take too much memory.

    Raises:
        FormatError: the model is too large.
        ModelError: its headers cannot be read.
    """
    for name in (CONFIG_FILE, VOCABULARY_FILE, EXAMPLES_FILE):
        path = folder / name
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            with errors_at(name):
                require_json_bytes(text, MAX_JSON)
    needed = folder_bytes(folder)
    if needed > MAX_MEMORY:
        raise FormatError(
            f"{WEIGHTS_FILE}: the model would take {needed / 1e6:,.0f} MB of memory, at most "
            f"{MAX_MEMORY / 1e6:,.0f} MB can be brought."
        )


# Kinds of files
JSON, JSONL, NPZ, PARQUET = "JSON", "JSONL", ".npz", ".parquet"
SAFETENSORS, TENSORS = ".safetensors", ".safetensors with scores"
CHECKPOINT, CRFSUITE, FOLDER, CHAIN = ".pt", "CRFsuite model", "model folder", "textbook chain"

EXPECTED_FILES = (
    "Bring one .json, .npz, .safetensors or .parquet with scores; or a .json or .npz with the "
    ".safetensors or .pt of a CRF layer; or a CRFsuite model with the attributes as .jsonl; or a "
    "model folder as .zip; or a textbook chain as .json"
)
LAYER_ALONE = "A CRF layer says nothing without the emissions of some words."
MISSING_PARTNER = {
    CRFSUITE: "A CRFsuite model says nothing without the attributes of some words.",
    JSONL: "Attributes say nothing without their CRFsuite model.",
    SAFETENSORS: LAYER_ALONE,
    CHECKPOINT: LAYER_ALONE,
}


def validate_files(
    files: Sequence[tuple[str, bytes]], reading: Reading, load: Callable[[Path], Tagger]
) -> ValidatedModel:
    """Return the model in one file, or in two that belong together.

    Args:
        files: name and content of each; at least one.
        reading: facts that the files lack.
        load: loads a tagger from a model folder.

    Raises:
        FormatError: the files cannot be read, are too large, or do not belong together.
    """
    size = sum(len(content) for _, content in files)
    if size > MAX_BYTES:
        raise FormatError(f"The files have {size:,} bytes, at most {MAX_BYTES:,} are read.")
    by_kind: dict[str, bytes] = {}
    for name, content in files:
        kind = kind_of(name, content)
        if kind in by_kind:
            raise FormatError(f"Two files are {kind}. {EXPECTED_FILES}.")
        by_kind[kind] = content
    if set(by_kind) == {FOLDER}:
        return read_folder(by_kind[FOLDER], load)
    if set(by_kind) == {CHAIN}:
        return read_chain(_json_of(text_of("The JSON", by_kind[CHAIN])), load)
    return validate(_draft(by_kind, reading), reading)


def keys_of(files: Sequence[tuple[str, bytes]]) -> dict[str, list[str]]:
    """Return the keys of a JSON file, or the arrays, that may have scores, words or tags.

    They are by usual name; nothing without a choice.

    Raises:
        FormatError: as `kind_of`, or an archive is damaged.
    """
    for name, content in files:
        kind, found = kind_of(name, content), dict[str, list[str]]()
        if kind == JSON:
            found = keys_in(text_of(name, content))
        elif kind == NPZ:
            arrays = npz_arrays(open_archive(content))
            found = arrays_in({n: (each.dtype.kind, each.shape) for n, each in arrays.items()})
        elif kind == TENSORS:
            found = arrays_of_tensors(content)
        elif kind == PARQUET:
            found = columns_of_parquet(content)
        if found:
            return found
    return {}


def kind_of(name: str, content: bytes) -> str:
    """Return the kind of a file, by its content.

    Raises:
        FormatError: the file is empty, a pickle, damaged, or of an unknown kind.
    """
    if not content.strip():
        raise FormatError(f"{name} is empty.")
    if content.startswith(MAGIC):
        return CRFSUITE
    if content.startswith(ZIP_MAGIC):
        return _kind_of_archive(name, content)
    if content.startswith(PICKLE_MAGIC):
        raise FormatError(
            f"{name} is a pickle, which may hold programs: it was not opened. Save a state_dict as "
            ".safetensors or with torch.save of PyTorch 1.6 or newer, scores as JSON or .npz."
        )
    if content[8:9] == b"{" and int.from_bytes(content[:8], "little") <= len(content):
        return TENSORS if has_scores(content) else SAFETENSORS
    if content.startswith(PARQUET_MAGIC):
        return PARQUET
    first = text_of(name, content).lstrip()
    if not first.startswith("{"):
        raise FormatError(f"{name} is none of the files that can be read. {EXPECTED_FILES}.")
    if all(f'"{field}"' in first for field in CHAIN_FIELDS) and is_chain(_json_of(first)):
        return CHAIN
    end = first.find("\n")
    return JSONL if '"attributes"' in first[: end if end >= 0 else None] else JSON


def _json_of(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a JSON text; None for a damaged one, which its reader reports."""
    try:
        return json_value(text, MAX_JSON)
    except ValueError:
        return None


def text_of(name: str, content: bytes) -> str:
    """Return the text of a file.

    Raises:
        FormatError: the content is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{name} is none of the files that can be read, nor UTF-8 text (byte "
            f"{error.start + 1} is no text). {EXPECTED_FILES}."
        ) from error


def _kind_of_archive(name: str, content: bytes) -> str:
    inside = {PurePosixPath(member).name for member in open_archive(content).names}
    if "data.pkl" in inside:
        return CHECKPOINT
    if "config.json" in inside:
        return FOLDER
    if inside and all(member.endswith(".npy") for member in inside):
        return NPZ
    raise FormatError(f"{name} is a .zip, but no .npz, .pt or model folder. {EXPECTED_FILES}.")


def _draft(files: Mapping[str, bytes], reading: Reading) -> ParsedModel:
    kinds = set(files)
    scores, layer = kinds & {JSON, NPZ}, kinds & {SAFETENSORS, CHECKPOINT}
    if kinds == {CRFSUITE, JSONL}:
        return crfsuite_draft(read_crfsuite(files[CRFSUITE]), text_of("The JSONL", files[JSONL]))
    if kinds == {TENSORS}:
        return read_score_tensors(files[TENSORS], reading)
    if kinds == {PARQUET}:
        return read_parquet(files[PARQUET], dict(reading.keys))
    if len(scores) == 1 and len(layer) == len(kinds) - 1 <= 1:
        if JSON in scores:
            draft = read_json(text_of("The JSON", files[JSON]), dict(reading.keys))
        else:
            draft = read_arrays_of(npz_arrays(open_archive(files[NPZ])), reading)
        for kind in layer:
            read = read_safetensors if kind == SAFETENSORS else read_checkpoint
            draft = _with_layer(draft, *read(files[kind]))
        return draft
    many = f"{' and '.join(sorted(kinds))} do not belong together."
    raise FormatError(
        f"{MISSING_PARTNER[kinds.pop()] if len(kinds) == 1 else many} {EXPECTED_FILES}."
    )


def _with_layer(draft: ParsedModel, layer: Steps, notes: Sequence[str]) -> ParsedModel:
    if any(
        steps.transitions is not None for steps in (draft.steps, *(p.steps for p in draft.parts))
    ):
        raise FormatError("Both files have transitions: bring the one with the emissions alone.")
    kind = f"{LAYER_KIND}, with {draft.kind}"
    return replace(draft, kind=kind, steps=layer, notes=[*draft.notes, *notes])
