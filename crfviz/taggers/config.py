"""config.json of a model folder: read, checked field by field, and written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from crfviz.exceptions import ModelError
from crfviz.taggers.neural.network import ARCHITECTURES, Architecture, Sizes
from crfviz.taggers.tagger import CRF

FORMAT = 1  # grows when a reader of the old files would misread the new ones
CONFIG_FILE = "config.json"
LARGEST_SIZE = 4096  # of any one layer: a typing error must not ask for all the memory


@dataclass(frozen=True)
class Config:
    """What the weights of a folder mean."""

    architecture: Architecture
    tags: tuple[str, ...]  # in id order
    scheme: str | None  # "BIO": the rules of BIO act in decoding; None: any tag may follow any
    temperature: float  # every trained score is divided by it when the folder is loaded
    sizes: Sizes


def write_config(folder: Path, config: Config) -> None:
    """Write config.json."""
    content = {"format": FORMAT, **asdict(config)}
    (folder / CONFIG_FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_config(folder: Path) -> Config:
    """Read and check config.json.

    Raises:
        ModelError: the file is missing or no JSON object, or a field is missing or of no use.
    """
    path, content = read_header(folder, CRF)
    architecture = content.get("architecture")
    if architecture not in ARCHITECTURES:
        expected = f"must be one of {', '.join(ARCHITECTURES)}"
        raise _wrong(path, "architecture", expected, architecture)
    scheme = content.get("scheme")
    if scheme not in (None, "BIO"):
        raise _wrong(path, "scheme", 'must be null or "BIO"', scheme)
    return Config(
        architecture=cast(Architecture, architecture),
        tags=read_names(path, content, "tags", least=1),
        scheme=scheme,
        temperature=_temperature(path, content.get("temperature")),
        sizes=_sizes(path, content.get("sizes")),
    )


def read_family(folder: Path) -> str:
    """The family that config.json names: `tagger.CRF` where it names none.

    Raises:
        ModelError: the file is missing or no JSON object.
    """
    return str(read_json_object(folder / CONFIG_FILE).get("family", CRF))


def read_header(folder: Path, family: str) -> tuple[Path, dict[str, Any]]:
    """Path and content of config.json, with its format and family checked.

    Raises:
        ModelError: the file is missing or no JSON object, or of another format or family.
    """
    path = folder / CONFIG_FILE
    content = read_json_object(path)
    if content.get("format") != FORMAT:
        raise _wrong(path, "format", f"must be {FORMAT}", content.get("format"))
    if content.get("family", CRF) != family:
        raise _wrong(path, "family", f"must be {family!r}", content.get("family"))
    return path, content


def write_header(folder: Path, family: str, fields: Mapping[str, Any]) -> None:
    """Write config.json of a model of another family than CRF; the folder is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"format": FORMAT, "family": family, **fields}
    (folder / CONFIG_FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model folder.

    Raises:
        ModelError: there is no such file, or what it holds is no JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path}: the file is missing") from error
    except (OSError, ValueError) as error:  # no permission; no UTF-8 or no JSON
        raise ModelError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: must hold a JSON object, got {type(content).__name__}")
    return content


def read_names(path: Path, content: Mapping[str, Any], name: str, least: int) -> tuple[str, ...]:
    """A field that is a list of distinct, non-empty strings.

    Raises:
        ModelError: the field is something else, or shorter than `least`.
    """
    names = content.get(name)
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
        raise _wrong(path, name, "must be a list of non-empty strings", names)
    if len(names) < least:
        raise _wrong(path, name, f"must hold at least {least}", names)
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise ModelError(f"{path}: field {name!r} must not repeat a name, got {twice!r} twice")
    return tuple(names)


def _temperature(path: Path, value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(cast(float, value)) or cast(float, value) <= 0:
        raise _wrong(path, "temperature", "must be a positive number", value)
    return float(cast(float, value))


def _sizes(path: Path, value: object) -> Sizes:
    if not isinstance(value, dict):
        raise _wrong(path, "sizes", "must be an object", value)
    names = [field.name for field in fields(Sizes)]
    if set(value) != set(names):
        raise _wrong(path, "sizes", f"must have the keys {', '.join(names)}", sorted(value))
    for name in names:
        numbers = value[name] if name == "widths" else [value[name]]
        if not _are_sizes(numbers):
            expected = f"must be 1 to {LARGEST_SIZE}" + (", a list" if name == "widths" else "")
            raise _wrong(path, f"sizes.{name}", expected, value[name])
    return Sizes(**{**value, "widths": tuple(value["widths"])})


def _are_sizes(numbers: object) -> bool:
    return (
        isinstance(numbers, Sequence)
        and len(numbers) > 0
        and all(type(n) is int and 1 <= n <= LARGEST_SIZE for n in numbers)
    )


def _wrong(path: Path, name: str, expected: str, value: object) -> ModelError:
    got = repr(value)
    return ModelError(
        f"{path}: field {name!r} {expected}, got {got[:80]}{'...' if len(got) > 80 else ''}"
    )
