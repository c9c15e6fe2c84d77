"""Where the numbers are worked out: on a GPU when there is one, else on the CPU."""

from __future__ import annotations

import os

import torch

from crfviz.exceptions import CrfvizError

VARIABLE = "CRFVIZ_DEVICE"


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
