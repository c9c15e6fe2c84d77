"""Models as people bring them, near the limits of what is taken: made up, for `loading.py`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crfviz.taggers.brought.files import validate_files
from crfviz.taggers.brought.parsed_model import Reading
from crfviz.taggers.registry import load_tagger

# label: sentences, words, tags, whether each step has its own matrix
SIZES = {
    "brought: 500 sentences": (500, 20, 17, False),
    "brought: 200 tags": (60, 20, 200, False),
    "brought: a matrix a step": (200, 30, 17, True),
}


def write_brought(parent: Path) -> Iterator[tuple[str, Path]]:
    """Write a folder for each; yields its label with it."""
    random = np.random.default_rng(0)
    for label, (sentences, words, tags, steps) in SIZES.items():
        arrays = {}
        for number in range(sentences):
            arrays[f"emissions_{number}"] = random.normal(size=(words, tags))
            arrays[f"tokens_{number}"] = np.array([f"{number}.{word}" for word in range(words)])
            if steps:
                arrays[f"transitions_{number}"] = random.normal(size=(words - 1, tags, tags))
        if not steps:
            arrays["transitions"] = random.normal(size=(tags, tags))
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        understood = validate_files([("scores.npz", file.getvalue())], Reading(), load_tagger)
        folder = parent / label.replace(" ", "-").replace(":", "")
        folder.mkdir()
        understood.write(folder)
        yield label, folder
