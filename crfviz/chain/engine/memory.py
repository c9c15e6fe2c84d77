"""Memory that a thread uses again: new memory costs more than the sums that are put there."""

import math
import threading

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.engine.arrays import Array

LARGEST = 1 << 20  # numbers that a thread keeps room for under one name, 8 MB
_KEPT = threading.local()


def scratch(name: str, shape: tuple[int, ...], like: Array) -> Array:
    """Room for float64 numbers, where `like` is, until this thread asks for the name again."""
    if isinstance(like, Tensor) and like.is_cuda:
        return like.new_empty(shape)
    found = _numbers(name, math.prod(shape)).reshape(shape)
    return torch.from_numpy(found) if isinstance(like, Tensor) else found


def _numbers(name: str, size: int) -> Array:
    if size > LARGEST:
        return np.empty(size)
    kept: Array = getattr(_KEPT, name, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size)
        setattr(_KEPT, name, kept)
    return kept[:size]
