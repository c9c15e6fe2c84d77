"""A tagger as a folder: config.json, vocabulary.json and model.safetensors.

Weights are stored as float16 and worked with as float32. Everything is checked before it is used,
and nothing is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from crfviz.exceptions import ModelError
from crfviz.taggers.config import CONFIG_FILE, Config, read_config, read_json_object, read_names
from crfviz.taggers.config import write_config as _write_config
from crfviz.taggers.neural.network import Network
from crfviz.taggers.neural.vocabulary import Vocabulary

VOCABULARY_FILE = "vocabulary.json"
WEIGHTS_FILE = "model.safetensors"
FILES = (CONFIG_FILE, VOCABULARY_FILE, WEIGHTS_FILE)


@dataclass(frozen=True, eq=False)
class Stored:
    """What a model folder holds."""

    config: Config
    vocabulary: Vocabulary
    network: Network  # float32, on the CPU


def save_model(folder: Path, stored: Stored) -> None:
    """Write the three files of a model folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {
        "words": list(stored.vocabulary.words),
        "characters": list(stored.vocabulary.characters),
    }
    text = json.dumps(words, ensure_ascii=False, indent=0)
    (folder / VOCABULARY_FILE).write_text(text + "\n", encoding="utf-8")
    tensors = {
        name: value.detach().cpu().to(torch.float16).contiguous()
        for name, value in stored.network.named_parameters()
    }
    save_file(tensors, folder / WEIGHTS_FILE)
    _write_config(folder, stored.config)


def load_model(folder: Path) -> Stored:
    """Read and check a model folder.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the others; says which and where.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such folder; a model is a folder")
    config = read_config(folder)
    path = folder / VOCABULARY_FILE
    content = read_json_object(path)
    vocabulary = Vocabulary(
        words=read_names(path, content, "words", least=0),
        characters=read_names(path, content, "characters", least=0),
    )
    tensors = _read_tensors(folder / WEIGHTS_FILE)
    with torch.random.fork_rng(devices=[]):  # the first weights are random, and thrown away
        network = Network(config.architecture, config.sizes, vocabulary, len(config.tags))
    _check_tensors(folder / WEIGHTS_FILE, network, tensors)
    network.load_state_dict({n: t.to(torch.float32) for n, t in tensors.items()}, assign=True)
    network.requires_grad_(requires_grad=False).eval()
    return Stored(config, vocabulary, network)


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: the file is missing") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"{path}: is damaged or no safetensors file ({error})") from error


def _check_tensors(path: Path, network: Network, tensors: Mapping[str, Tensor]) -> None:
    expected = {name: tuple(value.shape) for name, value in network.named_parameters()}
    for name in sorted(expected.keys() | tensors.keys()):
        if name not in tensors:
            raise ModelError(f"{path}: tensor {name!r} is missing")
        if name not in expected:
            raise ModelError(f"{path}: tensor {name!r} belongs to no part of this model")
        shape = tuple(tensors[name].shape)
        if shape != expected[name]:
            raise ModelError(
                f"{path}: tensor {name!r} must be {expected[name]} to match config.json and "
                f"vocabulary.json, got {shape}"
            )
        if not tensors[name].is_floating_point():
            raise ModelError(f"{path}: tensor {name!r} must be float, got {tensors[name].dtype}")
        if not bool(torch.isfinite(tensors[name].float()).all()):  # faster than as float16
            raise ModelError(f"{path}: tensor {name!r} holds numbers that are not finite")
