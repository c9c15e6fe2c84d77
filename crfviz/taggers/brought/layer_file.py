"""The CRF layer out of a `state_dict`: .safetensors, or .pt read without unpickling anything else.

pytorch-crf and `crfviz.chain.crf.CRF` call its tensors `transitions` (from, to),
`start_transitions` and `end_transitions`; in a larger model a prefix stands before them.
"""

import io
import pickle
import zipfile
from collections.abc import Mapping
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.archive import check_archive
from crfviz.taggers.brought.draft import Steps

NAMES = ("transitions", "start_transitions", "end_transitions")
NESTED = ("state_dict", "model_state_dict", "model")  # where checkpoints keep it
KIND = "CRF layer of a state_dict"  # for people
LARGEST_LAYER = 1000  # tags; a view of few bytes may claim any shape


def read_safetensors(data: bytes) -> Steps:
    """The layer in a .safetensors file.

    Raises:
        FormatError: it is damaged, or holds no CRF layer or several.
    """
    try:
        tensors = safetensors.torch.load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"The .safetensors file is damaged ({error}).") from error
    return _layer(tensors)


def read_checkpoint(data: bytes) -> Steps:
    """The layer in a .pt file, loaded with `weights_only=True`.

    Raises:
        FormatError: it is damaged, holds anything but tensors, or no CRF layer or several.
    """
    check_archive(data)
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise FormatError(
            "This .pt holds more than tensors, and what it holds may be a program: it was not "
            "loaded. Save the state_dict alone: torch.save(model.state_dict(), …)."
        ) from error
    except (RuntimeError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise FormatError(f"The .pt file is damaged ({str(error)[:200]}).") from error
    for name in NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping):
        raise FormatError("The .pt must hold a state_dict: torch.save(model.state_dict(), …).")
    return _layer(content)


def _layer(state: Mapping[Any, Any]) -> Steps:
    """The three tensors with one prefix."""
    tensors: dict[str, Tensor] = {str(n): item for n, item in state.items() if _is_plain(item)}
    prefixes = [
        name.removesuffix(NAMES[1])
        for name in tensors
        if name == NAMES[1] or name.endswith(f".{NAMES[1]}")
    ]
    if len(prefixes) != 1:
        held = ", ".join(tensors) or "none"
        raise FormatError(
            f"Expected one CRF layer, with tensors {', '.join(NAMES)}, got {len(prefixes)} among "
            f"{held[:200]}."
        )
    missing = [name for name in NAMES if prefixes[0] + name not in tensors]
    if missing:
        raise FormatError(f"The tensor {prefixes[0]}{missing[0]} is missing.")
    layer = [tensors[prefixes[0] + name] for name in NAMES]
    shape = tuple(layer[0].shape)
    if len(shape) != 2 or shape[0] != shape[1] or any(t.shape != shape[:1] for t in layer[1:]):
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in layer)
        raise FormatError(
            f"The tensors {', '.join(NAMES)} must be (K, K), (K,), (K,), got {shapes}."
        )
    if max(shape) > LARGEST_LAYER:
        raise FormatError(f"The layer has {shape[0]} tags, more than can be drawn.")
    transitions, start, end = (tensor.detach().double().numpy() for tensor in layer)
    return Steps(transitions=transitions, start=start, end=end)


def _is_plain(item: object) -> bool:
    """A tensor of numbers in memory, not sparse, quantized or without data."""
    return (
        isinstance(item, Tensor)
        and item.layout == torch.strided
        and item.device.type == "cpu"
        and not item.is_quantized
        and not item.is_complex()
    )
