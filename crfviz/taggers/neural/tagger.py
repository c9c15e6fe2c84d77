"""The taggers that are shipped: a network for the emissions, a CRF for the rest.

    potentials = (emissions, transitions, start, end) / temperature

The temperature was fitted on dev sentences: it changes no path and makes the marginals honest.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import torch

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.taggers.folder import FolderTagger
from crfviz.taggers.neural.storage import load_model
from crfviz.taggers.tagger import CRF, Words, words_of

VARIABLE = "CRFVIZ_DEVICE"
SENTENCES_AT_ONCE = 64  # bounds the memory of a batch


class NeuralTagger(FolderTagger):
    """A tagger from a model folder; see `Tagger` for what it offers.

    Args:
        folder: with config.json, vocabulary.json and model.safetensors.
        device: None chooses; see `choose_device`.

    Raises:
        ModelError: the folder is no model; says which file and which field.
    """

    family = CRF
    probabilistic = True

    def __init__(self, folder: Path, device: torch.device | None = None) -> None:
        stored = load_model(folder)
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
        """The device that scores the words: cpu or cuda."""
        return self._device.type

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        """The potentials of one sentence; see `Tagger.potentials`."""
        return self.potentials_batch([tokens], constrained=constrained)[0]

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """The potentials of many sentences; see `Tagger.potentials_batch`."""
        words = [words_of(sentence) for sentence in sentences]
        found: dict[int, Potentials] = {}
        order = sorted(range(len(words)), key=lambda index: len(words[index]))
        for start in range(0, len(order), SENTENCES_AT_ONCE):
            group = order[start : start + SENTENCES_AT_ONCE]
            scored = self._score([words[index] for index in group], constrained=constrained)
            found |= dict(zip(group, scored, strict=True))
        return [found[index] for index in range(len(words))]

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
    """CUDA where there is one, else the CPU; the environment variable CRFVIZ_DEVICE overrides.

    Raises:
        CrfvizError: CRFVIZ_DEVICE is neither cpu nor cuda, or asks for a GPU that is not there.
    """
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    available = torch.cuda.is_available()
    if wanted not in {"", "cpu", "cuda"}:
        raise CrfvizError(f"{VARIABLE} must be cpu or cuda, got {wanted!r}")
    if wanted == "cuda" and not available:
        raise CrfvizError(f"{VARIABLE}=cuda, but torch finds no CUDA device here; use cpu")
    return torch.device("cuda" if available and wanted != "cpu" else "cpu")
