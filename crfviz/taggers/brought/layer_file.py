"""The CRF layer of a `state_dict`, from .safetensors or .pt.

pytorch-crf and `crfviz.chain.crf.CRF` call its tensors `transitions` (from, to),
`start_transitions` and `end_transitions`; in a larger model the names have a prefix. EDS-NLP has
three more tensors, which are true at forbidden steps; the scores of these become -inf.

A .pt is a ZIP archive with a pickle, `data.pkl`, that lists tensors, and a member `data/KEY` with
the numbers of each. `torch.load(weights_only=True)` allocates whatever the pickle asks for; the
unpickler here knows only the opcodes that `torch.save` writes for a `state_dict`, and none of them
allocates more than the file has bytes. Numbers are read only for the tensors that are used.

Source: `torch/serialization.py` (1.6 to 2.13) writes the pickle.
"""

import io
import pickle
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import safetensors.torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import Steps, open_archive, precision_notes
from crfviz.text.archives import Archive

NAMES = ("transitions", "start_transitions", "end_transitions")
MASKS = ("forbidden_transitions", "start_forbidden_transitions", "end_forbidden_transitions")
NESTED = ("state_dict", "model_state_dict", "model")  # keys of a state_dict inside a checkpoint
KIND = "CRF layer of a state_dict"  # shown in messages
LARGEST_LAYER = 1000  # tags; a view of few bytes may claim any shape
LONGEST_HEADER = 1_000_000  # bytes of JSON in a .safetensors; one tensor takes about 100
Kind = TypeVar("Kind", Tensor, "StoredTensor")


def read_safetensors(data: bytes) -> tuple[Steps, list[str]]:
    """Return the layer in a .safetensors file, and notes on it.

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
    return _layer(plain, lambda tensor: tensor.double().numpy())


def read_checkpoint(data: bytes) -> tuple[Steps, list[str]]:
    """Return the layer in a .pt file, and notes on it; only its tensors are read.

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
    stored = {str(n): each for n, each in content.items() if isinstance(each, StoredTensor)}
    return _layer(stored, checkpoint.numbers)


def _layer(
    tensors: Mapping[str, Kind], numbers: Callable[[Kind], NDArray[np.float64]]
) -> tuple[Steps, list[str]]:
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
    notes = precision_notes(str(tensor.dtype).removeprefix("torch.") for tensor in layer)
    return Steps(transitions=transitions, start=start, end=end), notes


def _forbidden(
    scores: NDArray[np.float64],
    mask: str,
    tensors: Mapping[str, Kind],
    numbers: Callable[[Kind], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the scores, with -inf where the optional mask is true."""
    if mask not in tensors:
        return scores
    shape = tuple(tensors[mask].shape)
    if shape != scores.shape:
        raise FormatError(f"The tensor {mask[:60]} must be {scores.shape}, got {shape}.")
    return np.where(numbers(tensors[mask]) != 0, -np.inf, scores)


# Tensors of a .pt file, read without running anything that its pickle asks for
PICKLE = "data.pkl"
MAX_PICKLE = 1_000_000  # bytes; one tensor takes about 200
DAMAGED = "The .pt file is damaged"
NOT_ONLY_TENSORS = (
    "This .pt holds more than tensors, and what it holds may be a program: it was not loaded. Save "
    "the state_dict alone: torch.save(model.state_dict(), …)."
)
BFLOAT16 = "BFloat16Storage"  # the upper half of a float32
STORAGES = {  # NumPy's name of each numeric storage
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    BFLOAT16: "u2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "u1",
}
_OPCODES = (
    "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE EMPTY_DICT EMPTY_LIST EMPTY_TUPLE TUPLE TUPLE1 "
    "TUPLE2 TUPLE3 BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINUNICODE BINPUT "
    "LONG_BINPUT MEMOIZE BINGET LONG_BINGET GLOBAL STACK_GLOBAL BINPERSID REDUCE BUILD APPEND "
    "APPENDS SETITEM SETITEMS"
)


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor in the archive, whose numbers are not read yet."""

    storage: str  # a key of `STORAGES`
    key: str  # the member of the archive
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def dtype(self) -> str:
        """Name of the type of the numbers."""
        return "bfloat16" if self.storage == BFLOAT16 else np.dtype(STORAGES[self.storage]).name


@dataclass(frozen=True)
class _Ignored:
    """A stand-in for other objects of torch, such as a device, a dtype or a sparse tensor."""

    name: str = ""

    def __call__(self, *_: object) -> "_Ignored":
        return self


class _Dict(dict[object, object]):
    """A dictionary that rejects nested keys: hashing nested tuples can take 2^depth steps."""

    def __setitem__(self, key: object, value: object) -> None:
        """Set an item.

        Raises:
            ValueError: the key is not text, a number or None, nor a tuple of these.
        """
        if not all(
            isinstance(k, str | int | float | None) for k in (key if type(key) is tuple else [key])
        ):
            raise ValueError("a key is no text or number")
        super().__setitem__(key, value)


def _ordered_dict(*items: object) -> _Dict | _Ignored:
    return _Dict() if items in ((), ([],)) else _Ignored()


def _tensor(*arguments: Any) -> StoredTensor | _Ignored:  # noqa: ANN401 - from the pickle
    """Rebuild a tensor from storage, offset, shape and strides; further arguments are ignored."""
    storage, offset, shape, strides = arguments[:4]
    _, kind, key, *_ = storage
    if not all(map(_are_sizes, ([offset], shape, strides))) or len(shape) != len(strides):
        raise ValueError("a tensor has an odd shape")
    if not isinstance(key, str):
        raise ValueError("a tensor has an odd name")  # not shown: nested tuples may print endlessly
    name = kind.name.removeprefix("torch ")
    return StoredTensor(name, key, offset, shape, strides) if name in STORAGES else _Ignored()


def _are_sizes(values: object) -> bool:
    return isinstance(values, tuple | list) and all(
        type(value) is int and value >= 0 for value in values
    )


_CALLABLES: Mapping[str, Callable[..., object]] = {
    "collections OrderedDict": _ordered_dict,
    "torch._utils _rebuild_tensor_v2": _tensor,
    "torch._utils _rebuild_parameter": lambda tensor, *_: tensor,
}
_Load = Callable[["_Unpickler"], None]
_PYTHON: Any = pickle._Unpickler  # memo is a dict; in C an array, sized by the largest index


class _Unpickler(_PYTHON):  # type: ignore[misc]  # the base is chosen at run time
    """Python's unpickler, restricted to the opcodes and globals of a `state_dict`."""

    dispatch: ClassVar[dict[int, _Load]] = {
        code: _PYTHON.dispatch[code] for name in _OPCODES.split() for code in getattr(pickle, name)
    }

    def find_class(self, module: str, name: str) -> object:
        """Return the stand-in for a global; no module is imported."""
        known = f"{module} {name}"
        if known in _CALLABLES:
            return _CALLABLES[known]
        if module.partition(".")[0] == "torch":
            return _Ignored(known)
        raise FormatError(NOT_ONLY_TENSORS)

    def persistent_load(self, storage: object) -> object:
        """Return a storage unchanged: ("storage", kind, key, device, number of elements)."""
        return storage

    def _load_empty_dictionary(self) -> None:
        self.append(_Dict())

    def _load_build(self) -> None:
        """Drop attributes, such as the versions of the modules in a state_dict."""
        self.stack.pop()

    def _load_reduce(self) -> None:
        arguments, called = self.stack.pop(), self.stack[-1]
        if not callable(called) or not isinstance(arguments, tuple):
            raise FormatError(NOT_ONLY_TENSORS)
        self.stack[-1] = called(*arguments)

    dispatch[pickle.EMPTY_DICT[0]] = _load_empty_dictionary
    dispatch[pickle.BUILD[0]] = _load_build
    dispatch[pickle.REDUCE[0]] = _load_reduce


class Checkpoint:
    """The content of a .pt file.

    Args:
        archive: the opened .pt file.

    Raises:
        FormatError: it is damaged, or holds anything but tensors, numbers and text.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        places = [name for name in archive.names if f"/{name}".endswith(f"/{PICKLE}")]
        if len(places) != 1:
            raise FormatError(f"{DAMAGED}: expected one {PICKLE}, got {len(places)}.")
        self._root = places[0].removesuffix(PICKLE)
        if archive.size(places[0]) > MAX_PICKLE:
            raise FormatError(
                f"The .pt lists too much: its {PICKLE} has {archive.size(places[0]):,} bytes, at "
                f"most {MAX_PICKLE:,} are read. Save the CRF layer alone."
            )
        self.content: object = _unpickled(archive.content(places[0]))

    def numbers(self, tensor: StoredTensor) -> NDArray[np.float64]:
        """Read the numbers of a tensor, in its shape.

        Raises:
            FormatError: the file lacks some of them.
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
        if tensor.storage == BFLOAT16:
            view = (view.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(invalid="ignore"):  # signalling NaN; scores are checked later
            return view.astype(np.float64)

    def _byte_order(self) -> str:
        name = f"{self._root}byteorder"
        big = name in self._archive.names and self._archive.content(name) == b"big"
        return ">" if big else "<"


def _unpickled(program: bytes) -> object:
    try:
        return _Unpickler(io.BytesIO(program)).load()
    except FormatError:
        raise
    except KeyError as error:  # an opcode that is not in `dispatch`
        raise FormatError(NOT_ONLY_TENSORS) from error
    except (EOFError, struct.error) as error:
        raise FormatError(f"{DAMAGED}: its {PICKLE} is cut off.") from error
    except (
        pickle.UnpicklingError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        OverflowError,
    ) as error:
        raise FormatError(f"{DAMAGED}: its {PICKLE} cannot be read ({str(error)[:80]}).") from error
