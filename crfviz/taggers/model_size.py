"""What the models of a folder take of disk and memory, told from their headers."""

from math import prod
from pathlib import Path

from crfviz.taggers.storage import (
    CONFIG_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    read_family,
    read_json_object,
    tensor_shapes,
)
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON

_OF_TEXT = 8  # bytes of memory for each of a vocabulary: short words, each with a number
_OF_NUMBER = {CRF: 4, HMM: 40, PERCEPTRON: 4}  # an HMM's counts become several tables of float64
_GIVEN = 8  # float64
_PACKED = {"features.counts": False, "words.counts": True}  # rows of K or of K x K weights


def disk_bytes(folder: Path) -> int:
    """Bytes of the files of a model folder; 0 where it cannot be read."""
    try:
        return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    except OSError:
        return 0


def folder_bytes(folder: Path) -> int:
    """About how many bytes of memory a model takes once it is loaded; its numbers are not read.

    Raises:
        ModelError: a file is missing or damaged.
    """
    family = read_family(folder)
    shapes = tensor_shapes(folder / WEIGHTS_FILE)
    numbers = sum(map(prod, shapes.values())) * _OF_NUMBER.get(family, _GIVEN)
    texts = (path for path in (folder / CONFIG_FILE, folder / VOCABULARY_FILE) if path.is_file())
    words = sum(path.stat().st_size for path in texts) * _OF_TEXT
    if family != PERCEPTRON:
        return numbers + words
    tags = read_json_object(folder / CONFIG_FILE).get("tags")
    K = len(tags) if isinstance(tags, list) else 0
    rows = {name: prod(shapes.get(name, (0,))) + 1 for name in _PACKED}
    tables = sum(4 * rows[name] * K * (K if square else 1) for name, square in _PACKED.items())
    return numbers + words + tables
