"""NumPy arrays in a safetensors file, written, and read with checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from crfviz.exceptions import ModelError


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file."""
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of a file.

    Raises:
        ModelError: the file is missing or damaged.
    """
    try:
        return dict(load_file(path))
    except FileNotFoundError as error:
        raise ModelError(f"{path}: the file is missing") from error
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise ModelError(f"{path}: is damaged or no safetensors file ({error})") from error


def require_array(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    shape: tuple[int | None, ...],
    kind: type[np.generic] = np.float32,
) -> NDArray[Any]:
    """One array of a file, of this shape (None: any length) and kind, all numbers finite.

    Raises:
        ModelError: the array is missing or something else; says which.
    """
    if name not in arrays:
        raise ModelError(f"{path}: tensor {name!r} is missing")
    array = arrays[name]
    fits = len(shape) == array.ndim and all(
        wanted in (None, got) for wanted, got in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != kind:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ModelError(
            f"{path}: tensor {name!r} must be {np.dtype(kind).name} ({wanted}), "
            f"got {array.dtype} {array.shape}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelError(f"{path}: tensor {name!r} holds numbers that are not finite")
    return array
