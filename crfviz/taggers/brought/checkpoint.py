"""Tensors out of a .pt file, without unpickling anything.

A .pt is a ZIP archive with a pickle, `data.pkl`, that says which tensors there are, and a member
`data/KEY` with the numbers of each. `pickle_machine` reads the pickle, and can do nothing else; of
the numbers only those are read that are asked for.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.pickle_machine import STORAGES, Machine, StoredTensor
from crfviz.taggers.brought.pickle_steps import DAMAGED, PICKLE
from crfviz.text.archives import Archive

MOST_PICKLE = 1_000_000  # bytes of the program; one tensor takes about 200
BRAIN = "BFloat16Storage"  # the upper half of a float32


class Checkpoint:
    """What a .pt file holds.

    Args:
        archive: the file.

    Raises:
        FormatError: it is damaged, or holds anything but tensors, numbers and text.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        places = [name for name in archive.names if f"/{name}".endswith(f"/{PICKLE}")]
        if len(places) != 1:
            raise FormatError(f"{DAMAGED}: expected one {PICKLE}, got {len(places)}.")
        self._root = places[0].removesuffix(PICKLE)
        if archive.size(places[0]) > MOST_PICKLE:
            raise FormatError(
                f"The .pt lists too much: its {PICKLE} has {archive.size(places[0]):,} bytes, at "
                f"most {MOST_PICKLE:,} are read. Save the CRF layer alone."
            )
        self.content: object = Machine().run(archive.content(places[0]))

    def numbers(self, tensor: StoredTensor) -> NDArray[np.float64]:
        """The numbers of a tensor, in its shape.

        Raises:
            FormatError: they are not in the file.
        """
        kind = np.dtype(f"{self._byte_order()}{STORAGES[tensor.storage]}")
        name = f"{self._root}data/{tensor.key}"
        if name not in self._archive.names:
            raise FormatError(f"{DAMAGED}: {name[:60]!r} is missing.")
        stored = self._archive.content(name)
        spread = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.strides, strict=True))
        if 0 in tensor.shape:
            return np.empty(tensor.shape)
        if (tensor.offset + spread + 1) * kind.itemsize > len(stored):
            raise FormatError(
                f"{DAMAGED}: a tensor {tensor.shape} of {name[:60]!r} goes beyond its "
                f"{len(stored):,} bytes."
            )
        steps = [step * kind.itemsize for step in tensor.strides]
        view: NDArray[Any] = np.ndarray(
            tensor.shape, kind, stored, tensor.offset * kind.itemsize, steps
        )
        if tensor.storage == BRAIN:
            view = (view.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(invalid="ignore"):  # a NaN of an odd kind; scores are checked later
            return view.astype(np.float64)

    def _byte_order(self) -> str:
        name = f"{self._root}byteorder"
        big = name in self._archive.names and self._archive.content(name) == b"big"
        return ">" if big else "<"


def tensors_of(content: Mapping[Any, Any]) -> dict[str, StoredTensor]:
    """The tensors of a state_dict by name."""
    return {str(name): each for name, each in content.items() if isinstance(each, StoredTensor)}
