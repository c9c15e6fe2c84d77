"""The state of a training run after an epoch, in one file that is replaced as a whole.

Tensors and a JSON text side by side in a safetensors file: a reader sees the old epoch or the new
one, never half of each, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from crfviz.exceptions import ModelError


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a run needs to go on as if it had never stopped."""

    fingerprint: str  # of recipe and data: another run must not go on from here
    epoch: int  # finished epochs
    history: list[dict[str, float]]  # one row per finished epoch
    tensors: Mapping[str, Tensor]  # weights, averages, optimiser and best averages, by prefix

    def part(self, prefix: str) -> dict[str, Tensor]:
        """The tensors whose names start with `prefix.`, without it."""
        start = f"{prefix}."
        return {n.removeprefix(start): t for n, t in self.tensors.items() if n.startswith(start)}


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replace the file in one step."""
    state = {
        "fingerprint": checkpoint.fingerprint,
        "epoch": checkpoint.epoch,
        "history": checkpoint.history,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    tensors = {n: t.detach().cpu().clone().contiguous() for n, t in checkpoint.tensors.items()}
    save_file(tensors, unfinished, metadata={"state": json.dumps(state)})
    unfinished.replace(path)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The last finished epoch, or None where there is none yet.

    Raises:
        ModelError: the file is no checkpoint of this program.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            state: dict[str, Any] = json.loads(file.metadata()["state"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        return Checkpoint(state["fingerprint"], state["epoch"], state["history"], tensors)
    except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ModelError(
            f"{path} is no training checkpoint ({error}); start over with --fresh"
        ) from error
