"""What somebody's files are, by their content, and which of them belong together.

| files | what they are |
|---|---|
| .json or .npz | scores of sentences, with the transitions |
| .safetensors or .pt, with .json or .npz | the CRF layer of a state_dict, with the emissions |
| .crfsuite with .jsonl | a CRFsuite model, with the attributes of each word |
| .zip | a folder that `python -m crfviz train` wrote |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.archive import opened, read_folder
from crfviz.taggers.brought.crfsuite_file import MAGIC, crfsuite_draft, read_crfsuite
from crfviz.taggers.brought.draft import MOST_BYTES, Draft, Reading, Steps
from crfviz.taggers.brought.layer_file import KIND as LAYER
from crfviz.taggers.brought.layer_file import read_checkpoint, read_safetensors
from crfviz.taggers.brought.scores_file import read_arrays_of, read_json
from crfviz.taggers.brought.understood import Understood, understand
from crfviz.taggers.tagger import Tagger
from crfviz.text.archives import ZIP_MAGIC, npz_arrays
from crfviz.text.number_tables import PICKLE_MAGIC

# What one file is
JSON, JSONL, NPZ, SAFETENSORS = "JSON", "JSONL", ".npz", ".safetensors"
CHECKPOINT, CRFSUITE, FOLDER = ".pt", "CRFsuite model", "model folder"

TOGETHER = (
    "Bring one .json or .npz with scores; or one of them with the .safetensors or .pt of a CRF "
    "layer; or a CRFsuite model with the attributes as .jsonl; or a model folder as .zip"
)
LAYER_ALONE = "A CRF layer says nothing without the emissions of some words."
ALONE = {
    CRFSUITE: "A CRFsuite model says nothing without the attributes of some words.",
    JSONL: "Attributes say nothing without their CRFsuite model.",
    SAFETENSORS: LAYER_ALONE,
    CHECKPOINT: LAYER_ALONE,
}


def understand_files(
    files: Sequence[tuple[str, bytes]], reading: Reading, load: Callable[[Path], Tagger]
) -> Understood:
    """The model in one file, or in two that belong together.

    Args:
        files: name and content of each; at least one.
        reading: what the files do not say of themselves.
        load: makes a tagger of a model folder.

    Raises:
        FormatError: they cannot be read, are too large, or do not belong together.
    """
    size = sum(len(content) for _, content in files)
    if size > MOST_BYTES:
        raise FormatError(f"The files have {size:,} bytes, at most {MOST_BYTES:,} are read.")
    by_kind: dict[str, bytes] = {}
    for name, content in files:
        kind = kind_of(name, content)
        if kind in by_kind:
            raise FormatError(f"Two files are {kind}. {TOGETHER}.")
        by_kind[kind] = content
    if set(by_kind) == {FOLDER}:
        return read_folder(by_kind[FOLDER], load)
    return understand(_draft(by_kind, reading), reading)


def kind_of(name: str, content: bytes) -> str:
    """What a file is.

    Raises:
        FormatError: it is empty, a pickle, damaged, or nothing known; says so.
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
        return SAFETENSORS
    first = text_of(name, content).lstrip()
    if not first.startswith("{"):
        raise FormatError(f"{name} is none of the files that can be read. {TOGETHER}.")
    end = first.find("\n")
    return JSONL if '"attributes"' in first[: end if end >= 0 else None] else JSON


def text_of(name: str, content: bytes) -> str:
    """The text of a file.

    Raises:
        FormatError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{name} is none of the files that can be read, nor UTF-8 text (byte "
            f"{error.start + 1} is no text). {TOGETHER}."
        ) from error


def _kind_of_archive(name: str, content: bytes) -> str:
    inside = {PurePosixPath(member).name for member in opened(content).names}
    if "data.pkl" in inside:
        return CHECKPOINT
    if "config.json" in inside:
        return FOLDER
    if inside and all(member.endswith(".npy") for member in inside):
        return NPZ
    raise FormatError(f"{name} is a .zip, but no .npz, .pt or model folder. {TOGETHER}.")


def _draft(files: Mapping[str, bytes], reading: Reading) -> Draft:
    kinds = set(files)
    scores, layer = kinds & {JSON, NPZ}, kinds & {SAFETENSORS, CHECKPOINT}
    if kinds == {CRFSUITE, JSONL}:
        return crfsuite_draft(read_crfsuite(files[CRFSUITE]), text_of("The JSONL", files[JSONL]))
    if len(scores) == 1 and len(layer) == len(kinds) - 1 <= 1:
        if JSON in scores:
            draft = read_json(text_of("The JSON", files[JSON]))
        else:
            draft = read_arrays_of(npz_arrays(opened(files[NPZ])), reading)
        for kind in layer:
            read = read_safetensors if kind == SAFETENSORS else read_checkpoint
            draft = _with_layer(draft, read(files[kind]))
        return draft
    many = f"{' and '.join(sorted(kinds))} do not belong together."
    raise FormatError(f"{ALONE[kinds.pop()] if len(kinds) == 1 else many} {TOGETHER}.")


def _with_layer(draft: Draft, layer: Steps) -> Draft:
    """The emissions of a file under the weights of another."""
    if draft.transitions is not None or any(p.transitions is not None for p in draft.parts):
        raise FormatError("Both files have transitions: bring the one with the emissions alone.")
    return replace(draft, kind=f"{LAYER}, with {draft.kind}", **vars(layer))
