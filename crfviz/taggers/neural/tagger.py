"""Neural taggers: a network computes the emissions, a CRF decodes.

    potentials = (emissions, transitions, start, end) / temperature

The temperature was fitted on dev sentences. It changes no path and calibrates the marginals.

The folder has config.json, vocabulary.json and model.safetensors. Weights are stored as float16 and
used as float32.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.settings import settings
from crfviz.taggers.folder import FolderTagger
from crfviz.taggers.neural.network import ARCHITECTURES, Architecture, Network, Sizes, Vocabulary
from crfviz.taggers.storage import (
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    read_choice,
    read_header,
    read_json_object,
    read_names,
    read_safetensors,
    read_scheme,
    require_positive,
    write_header,
    write_vocabulary,
    wrong_field,
)
from crfviz.taggers.tagger import CRF, Words, sentences_of

SENTENCES_AT_ONCE = 32  # more means more padding, fewer smaller matrices
LARGEST_SIZE = 4096  # of one layer; a typing error must not allocate all memory
MAX_WIDTHS = 16


class NeuralTagger(FolderTagger):
    """A tagger from a model folder, on a device, by default that of `choose_device`."""

    family = CRF
    probabilistic = True

    def __init__(self, folder: Path, device: torch.device | None = None) -> None:
        self.model = stored = load_model(folder)
        super().__init__(folder, stored.config.tags, stored.config.scheme)
        self._device = device or choose_device()
        self._temperature = stored.config.temperature
        self._vocabulary = stored.vocabulary
        self._network = stored.network.to(self._device)
        crf = stored.network.crf
        self._transitions, self._start, self._end = (
            weights.detach().double().cpu() / self._temperature
            for weights in (crf.transitions, crf.start_transitions, crf.end_transitions)
        )

    @property
    def device(self) -> str:
        return self._device.type

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        return self.potentials_batch([tokens], constrained=constrained)[0]

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """Return the potentials of many sentences; see `Tagger.potentials_batch`."""
        words = sentences_of(sentences)
        by_index: dict[int, Potentials] = {}
        order = sorted(range(len(words)), key=lambda index: len(words[index]))
        for start in range(0, len(order), SENTENCES_AT_ONCE):
            group = order[start : start + SENTENCES_AT_ONCE]
            scored = self._score([words[index] for index in group], constrained=constrained)
            by_index |= dict(zip(group, scored, strict=True))
        return [by_index[index] for index in range(len(words))]

    def _score(self, sentences: list[tuple[str, ...]], *, constrained: bool) -> list[Potentials]:
        batch = self._vocabulary.encode(sentences).to(self._device)
        with torch.inference_mode():
            emissions = self._network.emissions(batch).double().cpu() / self._temperature
        chains = [
            Potentials(
                emissions[row, : len(words)],
                self._transitions,
                self._start,
                self._end,
                tags=self.tags,
                tokens=words,
            )
            for row, words in enumerate(sentences)
        ]
        if constrained and self.scheme:
            return [constrain(chain) for chain in chains]
        return chains


def choose_device() -> torch.device:
    """Return CUDA if available, else the CPU; the environment variable CRFVIZ_DEVICE overrides.

    Raises:
        CrfvizError: CRFVIZ_DEVICE asks for a GPU that is not available.
    """
    wanted = settings().device
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise CrfvizError("CRFVIZ_DEVICE=cuda, but torch finds no CUDA device here; use cpu")
    return torch.device("cuda" if available and wanted != "cpu" else "cpu")


@dataclass(frozen=True)
class Config:
    """Configuration of the weights in a model folder."""

    architecture: Architecture
    tags: tuple[str, ...]  # in id order
    scheme: str | None  # "BIO": decoding obeys its rules; None: any tag may follow any
    temperature: float  # every trained score is divided by it when the folder is loaded
    sizes: Sizes


@dataclass(frozen=True, eq=False)
class NeuralModel:
    """The contents of a model folder."""

    config: Config
    vocabulary: Vocabulary
    network: Network  # float32; on the CPU until a tagger moves it


def save_model(folder: Path, model: NeuralModel) -> None:
    """Write the three files of a model folder, and create it if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    words, characters = model.vocabulary.words, model.vocabulary.characters
    write_vocabulary(folder, {"words": words, "characters": characters})
    tensors = {
        name: value.detach().cpu().to(torch.float16).contiguous()
        for name, value in model.network.named_parameters()
    }
    save_file(tensors, folder / WEIGHTS_FILE)
    write_header(folder, CRF, asdict(model.config))


def load_model(folder: Path) -> NeuralModel:
    """Read and check a model folder."""
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such folder; a model is a folder")
    config = _config(*read_header(folder, CRF))
    path = folder / VOCABULARY_FILE
    content = read_json_object(path)
    vocabulary = Vocabulary(
        words=read_names(path, content, "words", least=0),
        characters=read_names(path, content, "characters", least=0),
    )
    tensors = read_safetensors(folder / WEIGHTS_FILE, load_file)
    with torch.device("meta"):  # shapes only, no memory: a folder may claim any size
        network = Network(config.architecture, config.sizes, vocabulary, len(config.tags))
    _check_tensors(folder / WEIGHTS_FILE, network, tensors)
    network.load_state_dict({n: t.to(torch.float32) for n, t in tensors.items()}, assign=True)
    network.requires_grad_(requires_grad=False).eval()
    return NeuralModel(config, vocabulary, network)


def _config(path: Path, content: Mapping[str, Any], tags: tuple[str, ...]) -> Config:
    return Config(
        architecture=read_choice(path, content, "architecture", ARCHITECTURES),
        scheme=read_scheme(path, content),
        tags=tags,
        temperature=require_positive(path, "temperature", content.get("temperature")),
        sizes=_sizes(path, content.get("sizes")),
    )


def _sizes(path: Path, value: object) -> Sizes:
    if not isinstance(value, dict):
        raise wrong_field(path, "sizes", "must be an object", value)
    names = [field.name for field in fields(Sizes)]
    if set(value) != set(names):
        raise wrong_field(path, "sizes", f"must have the keys {', '.join(names)}", sorted(value))
    for name in names:
        numbers = value[name] if name == "widths" else [value[name]]
        if not _are_sizes(numbers):
            expected = f"must be 1 to {LARGEST_SIZE}"
            expected += f", a list of 1 to {MAX_WIDTHS}" if name == "widths" else ""
            raise wrong_field(path, f"sizes.{name}", expected, value[name])
    return Sizes(**{**value, "widths": tuple(value["widths"])})


def _are_sizes(numbers: object) -> bool:
    return (
        isinstance(numbers, list)
        and 1 <= len(numbers) <= MAX_WIDTHS
        and all(type(n) is int and 1 <= n <= LARGEST_SIZE for n in numbers)
    )


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
