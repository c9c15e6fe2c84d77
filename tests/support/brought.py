"""Uploaded files for tests, written by the libraries that users would write them with."""

import io
import json
import zipfile

import numpy as np
import torch

from crfviz.taggers.brought.files import validate_files
from crfviz.taggers.brought.parsed_model import Reading
from crfviz.taggers.registry import load_tagger
from tests.support.tiny_tagger import save_tiny

TAGS = ["DET", "NOUN", "VERB"]
TRANSITIONS = [[-1.0, 2.0, -2.0], [0.5, -0.5, 1.5], [1.0, 0.25, -3.0]]
DOG = {
    "tokens": ["The", "dog", "barks"],
    "emissions": [[3.0, 0.5, -1.0], [-1.0, 2.5, 1.0], [-2.0, 1.25, 1.5]],
}
FALLS = {"tokens": ["Night", "falls"], "emissions": [[0.0, 1.0, 0.5], [-1.0, 1.0, 1.25]]}


def understand(*files, **reading):
    """Return the result of validating (name, content) pairs as uploaded files."""
    return validate_files(files, Reading(**reading), load_tagger)


def as_json(content=None, **fields):
    """Return a JSON file; without `content`, the two sentences above with `fields` replaced."""
    whole = {"tags": TAGS, "transitions": TRANSITIONS, "sentences": [DOG, FALLS], **fields}
    return "scores.json", json.dumps(whole if content is None else content).encode()


def as_npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return "scores.npz", file.getvalue()


def as_checkpoint(content, name="model.pt"):
    file = io.BytesIO()
    torch.save(content, file)
    return name, file.getvalue()


def as_zip(members, compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return "model.zip", file.getvalue()


def zipped_tiny(tmp_path, prefix="mine/", **options):
    folder = save_tiny(tmp_path / "tiny", **options)
    return as_zip({f"{prefix}{path.name}": path.read_bytes() for path in folder.iterdir()})
