"""Reading and writing of model folders, with checks.

config.json has `format`, `family` (by default a CRF), `tags` and the fields of the family. Numbers
are stored as safetensors, so nothing is ever unpickled. A missing, damaged or invalid file raises a
ModelError, which names the file, the field or tensor, the expected and the actual value.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from crfviz.exceptions import FormatError, ModelError
from crfviz.taggers.tagger import CRF
from crfviz.text.jsonl import json_value
from crfviz.text.schemes import BIO
from crfviz.text.splitting import ENGLISH, splitter

LARGEST = 1e100  # limit of numbers in config.json, as of scores
FORMAT = 1  # increased when old readers would misread new files
CONFIG_FILE = "config.json"
VOCABULARY_FILE = "vocabulary.json"
WEIGHTS_FILE = "model.safetensors"
HISTORY_FILE = "training.json"  # record of the training

_HALF = re.compile("[\ud800-\udfff]")  # lone surrogates, which JSON allows and UTF-8 does not

Kind = TypeVar("Kind")  # type of tensors, torch's or NumPy's


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def write_header(folder: Path, family: str, fields: Mapping[str, Any]) -> None:
    """Write config.json, and create the folder if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {} if family == CRF else {"family": family}
    write_json(folder / CONFIG_FILE, {"format": FORMAT, **named, **fields})


def read_family(folder: Path) -> str:
    """Return the family in config.json, by default `tagger.CRF`."""
    return str(read_json_object(folder / CONFIG_FILE).get("family", CRF))


def read_tokenizer(folder: Path) -> str:
    """Return the name of the model's tokenizer: the field `tokenizer`, by default English."""
    path = folder / CONFIG_FILE
    name = read_json_object(path).get("tokenizer", ENGLISH)
    try:
        splitter(name if isinstance(name, str) else repr(name))
    except FormatError as error:
        raise ModelError(f"{path}: field 'tokenizer': {error}") from error
    return str(name)


def write_tokenizer(folder: Path, name: str) -> None:
    """Write the field `tokenizer` into a model's config.json; omit it for English."""
    path = folder / CONFIG_FILE
    content = {key: of for key, of in read_json_object(path).items() if key != "tokenizer"}
    write_json(path, content if name == ENGLISH else {**content, "tokenizer": name})


def read_header(folder: Path, family: str) -> tuple[Path, dict[str, Any], tuple[str, ...]]:
    """Return path, content and tags of config.json; check format and family."""
    path = folder / CONFIG_FILE
    content = read_json_object(path)
    if content.get("format") != FORMAT:
        raise wrong_field(path, "format", f"must be {FORMAT}", content.get("format"))
    if content.get("family", CRF) != family:
        raise wrong_field(path, "family", f"must be {family!r}", content.get("family"))
    return path, content, read_names(path, content, "tags", least=1)


def write_vocabulary(folder: Path, lists: Mapping[str, Sequence[str]]) -> None:
    """Write vocabulary.json with one word per line."""
    content = {name: list(words) for name, words in lists.items()}
    text = json.dumps(content, ensure_ascii=False, indent=0)
    (folder / VOCABULARY_FILE).write_text(text + "\n", encoding="utf-8")


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a model folder."""
    try:
        content = json_value(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path}: the file is missing") from error
    except (OSError, ValueError) as error:  # not readable; not UTF-8 or not JSON
        raise ModelError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: must hold a JSON object, got {type(content).__name__}")
    return content


def read_names(path: Path, content: Mapping[str, Any], name: str, least: int) -> tuple[str, ...]:
    """Return a field that is a list of distinct, non-empty strings, `least` or more of them."""
    names = content.get(name)
    if not are_texts(names):
        raise wrong_field(path, name, "must be a list of non-empty strings", names)
    if len(names) < least:
        raise wrong_field(path, name, f"must hold at least {least}", names)
    if len(set(names)) != len(names):
        twice = repr(Counter(names).most_common(1)[0][0])[:80]
        raise ModelError(f"{path}: field {name!r} must not repeat a name, got {twice} twice")
    return tuple(names)


def read_choice(
    path: Path, content: Mapping[str, Any], name: str, choices: Collection[Any], expected: str = ""
) -> Any:  # noqa: ANN401 - one of the choices
    """Return a field, which must be one of `choices`."""
    value = content.get(name)
    if not any(value == choice for choice in choices):
        expected = expected or f"one of {', '.join(choices)}"
        raise wrong_field(path, name, f"must be {expected}", value)
    return value


def read_scheme(path: Path, content: Mapping[str, Any]) -> str | None:
    """Return the field `scheme`: BIO, or None."""
    scheme: str | None = read_choice(path, content, "scheme", (None, BIO), 'null or "BIO"')
    return scheme


def require_positive(path: Path, name: str, value: Any) -> float:  # noqa: ANN401 - any JSON
    """Return a field that is a positive number."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < LARGEST:
        raise wrong_field(path, name, "must be a positive number", value)
    return float(value)


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Return whether a value is a list of non-empty strings that UTF-8 can encode."""
    return isinstance(value, list) and all(
        isinstance(text, str) and text and not _HALF.search(text) for text in value
    )


def wrong_field(path: Path, name: str, expected: str, value: object) -> ModelError:
    """Return the error of a field of a JSON file; a long value is cut off."""
    got = repr(value)
    return ModelError(
        f"{path}: field {name!r} {expected}, got {got[:80]}{'...' if len(got) > 80 else ''}"
    )


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    return read_safetensors(path, load_file)


def read_safetensors(path: Path, load: Callable[[Path], dict[str, Kind]]) -> dict[str, Kind]:
    """Return the tensors of a safetensors file, read by `load` of torch or NumPy."""
    try:
        return load(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: the file is missing") from error
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"{path}: is damaged or no safetensors file ({str(error)[:200]})"
        ) from error


def tensor_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all tensors of a safetensors file, without reading their numbers.

    Raises:
        ModelError: the file is missing or damaged.
    """
    return read_safetensors(path, _shapes)


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    with safe_open(path, "numpy") as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - no dict


def require_array(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    shape: tuple[int | None, ...],
    kind: str = "float32",
) -> NDArray[Any]:
    """Return one array of a file, of this shape (None: any length), all numbers finite.

    `kind` is the name of the dtype, or its beginning: "uint" accepts all unsigned integers.
    """
    if name not in arrays:
        raise ModelError(f"{path}: tensor {name!r} is missing")
    array = arrays[name]
    fits = len(shape) == array.ndim and all(
        wanted in (None, got) for wanted, got in zip(shape, array.shape, strict=True)
    )
    if not fits or not array.dtype.name.startswith(kind):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ModelError(
            f"{path}: tensor {name!r} must be {kind} ({wanted}), got {array.dtype} {array.shape}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelError(f"{path}: tensor {name!r} holds numbers that are not finite")
    return array
