"""The CRF layer of a `state_dict`, from .safetensors or .pt.

pytorch-crf and `crfviz.chain.crf.CRF` call its tensors `transitions` (from, to),
`start_transitions` and `end_transitions`; in a larger model a prefix stands before them. EDS-NLP
forbids steps by three more tensors, which are true there; they become -inf.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
import safetensors.torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import Steps, open_archive
from crfviz.taggers.brought.safe_unpickler import Checkpoint, tensors_of

NAMES = ("transitions", "start_transitions", "end_transitions")
MASKS = ("forbidden_transitions", "start_forbidden_transitions", "end_forbidden_transitions")
NESTED = ("state_dict", "model_state_dict", "model")  # where checkpoints keep it
KIND = "CRF layer of a state_dict"  # for people
LARGEST_LAYER = 1000  # tags; a view of few bytes may claim any shape
LONGEST_HEADER = 1_000_000  # bytes of JSON in a .safetensors; one tensor takes about 100


class _Shaped(Protocol):
    """A tensor, read or not."""

    @property
    def shape(self) -> Sequence[int]:
        """Its sizes."""


Kind = TypeVar("Kind", bound=_Shaped)


def read_safetensors(data: bytes) -> Steps:
    """Return the layer in a .safetensors file.

    Raises:
        FormatError: it is damaged, or holds no CRF layer or several.
    """
    if int.from_bytes(data[:8], "little") > LONGEST_HEADER:
        raise FormatError(
            f"The .safetensors file lists too much: at most {LONGEST_HEADER:,} bytes of it are "
            "read. Save the CRF layer alone."
        )
    try:
        tensors = safetensors.torch.load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"The .safetensors file is damaged ({str(error)[:80]}).") from error
    plain = {name: tensor for name, tensor in tensors.items() if not tensor.is_complex()}
    return _layer(plain, _numbers)


def read_checkpoint(data: bytes) -> Steps:
    """Return the layer in a .pt file; nothing but its tensors is looked at.

    Raises:
        FormatError: it is damaged, holds anything but tensors, or no CRF layer or several.
    """
    checkpoint = Checkpoint(open_archive(data))
    content = checkpoint.content
    for name in NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping):
        raise FormatError("The .pt must hold a state_dict: torch.save(model.state_dict(), …).")
    return _layer(tensors_of(content), checkpoint.numbers)


def _layer(tensors: Mapping[str, Kind], numbers: Callable[[Kind], NDArray[np.float64]]) -> Steps:
    """Return the three tensors with one prefix, -inf where a mask beside them forbids a step."""
    starts = [name for name in tensors if f".{name}".endswith(f".{NAMES[1]}")]
    prefixes = [name.removesuffix(NAMES[1]) for name in starts]
    if len(prefixes) != 1:
        held = ", ".join(tensors) or "none"
        raise FormatError(
            f"Expected one CRF layer, with tensors {', '.join(NAMES)}, got {len(prefixes)} among "
            f"{held[:200]}."
        )
    names = [prefixes[0] + name for name in NAMES]
    missing = [name for name in names if name not in tensors]
    if missing:
        raise FormatError(f"The tensor {missing[0][:60]} is missing.")
    layer = [tensors[name] for name in names]
    shapes = [tuple(tensor.shape) for tensor in layer]
    K = shapes[1][0] if shapes[1] else 0
    if shapes != [(K, K), (K,), (K,)]:
        raise FormatError(
            f"The tensors {', '.join(NAMES)} must be (K, K), (K,), (K,), "
            f"got {', '.join(map(str, shapes))[:80]}."
        )
    if K > LARGEST_LAYER:
        raise FormatError(f"The layer has {K} tags, more than can be drawn.")
    beside = [each.removeprefix(prefixes[0]) for each in tensors if each.startswith(prefixes[0])]
    unknown = [each for each in beside if "." not in each and each not in (*NAMES, *MASKS)]
    if unknown:
        raise FormatError(
            f"The tensor {unknown[0][:60]} stands beside the transitions, and what it does to them "
            f"is not known. Save a state_dict with {', '.join(NAMES)} alone."
        )
    transitions, start, end = (
        _forbidden(numbers(tensor), prefixes[0] + mask, tensors, numbers)
        for tensor, mask in zip(layer, MASKS, strict=True)
    )
    return Steps(transitions=transitions, start=start, end=end)


def _forbidden(
    scores: NDArray[np.float64],
    mask: str,
    tensors: Mapping[str, Kind],
    numbers: Callable[[Kind], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the scores with -inf where a mask, if there is one, is true."""
    if mask not in tensors:
        return scores
    shape = tuple(tensors[mask].shape)
    if shape != scores.shape:
        raise FormatError(f"The tensor {mask[:60]} must be {scores.shape}, got {shape}.")
    return np.where(numbers(tensors[mask]) != 0, -np.inf, scores)


def _numbers(tensor: Tensor) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = tensor.double().numpy()
    return numbers
