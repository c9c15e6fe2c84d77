"""Recorder of the tensors and lists that pass through the methods of a running model.

Methods are wrapped on the instances while the model runs. Values that may be emissions, masks,
lengths, paths or scores are copied. The recorder itself calls no method of the model.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, unpack_sequence

MAX_BYTES = 50_000_000  # total size of recorded tensors
MAX_DEPTH = 3  # nesting depth of arguments and results
IDS = " != 0"  # ends the slot of a mask that was made of word ids
Slot = tuple[str, str]  # the method of a module, and which argument or part of the result
Part = tuple[str, str, list[Any]]  # a field of `Call`, the end of the slot's name, and the values


@dataclass(eq=False)
class Call:
    """Values that passed through the model in one call of a method, nested calls included.

    A method may be called for each sentence of a batch, so a slot has all its values in order.
    """

    method: str
    number: int  # index of the outermost call around it
    scores: dict[Slot, list[Tensor]] = field(default_factory=dict)  # (..., K) floats
    masks: dict[Slot, list[Tensor]] = field(default_factory=dict)  # (B, T) bool
    lengths: dict[Slot, list[list[int]]] = field(default_factory=dict)
    paths: dict[Slot, list[list[list[int]]]] = field(default_factory=dict)
    totals: dict[Slot, list[list[float]]] = field(default_factory=dict)  # a number per sentence


class Recorder:
    """Recorder of the values that pass through a model, one `Call` for each outermost call.

    Args:
        module: the model.
        sizes: numbers of tags that scores may have.
    """

    def __init__(self, module: nn.Module, sizes: Collection[int]) -> None:
        self._module, self._sizes = module, sizes
        self.calls: list[Call] = []  # outermost calls
        self.inner: dict[str, list[Call]] = {}  # calls of each method that have scores and paths
        self.is_half = False  # whether scores had half precision
        self.has_nan = False
        self.num_left_out = 0  # outermost calls beyond `MAX_BYTES`
        self._open: list[Call] = []  # the running calls, outermost first
        self._known: dict[tuple[int, int, bool], tuple[Tensor, list[Part]]] = {}  # of one call
        self._bytes = 0
        self._is_full = False

    def record(self, wrapped: ExitStack) -> None:
        """Record the methods that the model's own classes define, until `wrapped` is closed."""
        for place, module in self._module.named_modules():
            known = type(module).__module__.startswith("torch.")
            names = ["forward"] if known else _own_methods(module)
            for name in names:
                where = f"{place}.{name}" if place else name
                self._wrap(wrapped, module, name, where, arguments=not known)

    def _wrap(
        self, wrapped: ExitStack, owner: nn.Module, name: str, where: str, *, arguments: bool
    ) -> None:
        original = getattr(owner, name)
        try:
            signature = inspect.signature(original)
        except (TypeError, ValueError):
            return

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the model's signature
            is_opened = arguments or not self._open
            is_done = False
            if is_opened:
                self._open.append(Call(where, len(self.calls)))
            try:
                if arguments:  # those of PyTorch's modules are results of others
                    given = signature.bind(*args, **kwargs).arguments
                    self._keep(where, given, is_argument=True)
                result = original(*args, **kwargs)
                self._keep(where, {"result": result})
                is_done = True
            finally:
                if is_opened:
                    self._close(self._open.pop(), is_done=is_done)
            return result

        replace_method(wrapped, owner, name, call)

    def _close(self, call: Call, *, is_done: bool) -> None:
        """Keep a call that has ended, unless it failed or does not fit into the limit."""
        is_kept = is_done and not self._is_full
        if is_kept and call.scores and call.paths:
            self.inner.setdefault(call.method, []).append(call)
        if self._open:
            return
        self._known.clear()
        if is_kept:
            self.calls.append(call)
            return
        self.num_left_out += is_done
        for method, calls in self.inner.items():
            self.inner[method] = [each for each in calls if each.number != call.number]

    def _keep(self, where: str, values: Mapping[str, object], *, is_argument: bool = False) -> None:
        """Copy possible emissions, masks, lengths, paths and scores to all running calls."""
        for name, value in _flat(values):
            slot = (where, name)
            if isinstance(value, Tensor) and not value.is_nested:
                if value.numel() and value.layout == torch.strided:
                    for kind, suffix, kept in self._parts(value, is_argument=is_argument):
                        self._add(kind, (where, name + suffix), kept)
                continue
            if (lengths := _lengths(value)) is not None:
                self._add("lengths", slot, [lengths])
            elif kept := self._scores(_tensors(value)):
                self._add("scores", slot, kept)
            elif (numbers := _numbers(value)) is not None:
                self._add("totals", slot, [numbers])
            # Arguments may be gold tags.
            if not is_argument and (listed := _paths(value)) is not None:
                self._add("paths", slot, [listed])

    def _add(self, kind: str, slot: Slot, values: list[Any]) -> None:
        for call in self._open:
            getattr(call, kind).setdefault(slot, []).extend(values)

    def _scores(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return copies of tensors that may be scores of tags; empty if they are others."""
        copies: list[Tensor] = []
        for tensor in tensors:
            fits = tensor.is_floating_point() and 2 <= tensor.dim() <= 3 and tensor.numel()
            if not fits or tensor.shape[-1] not in self._sizes:
                return []
            size = 8 * tensor.numel()  # as float64
            if self._is_full or self._bytes + size > MAX_BYTES:
                self._is_full = True
                return []
            self._bytes += size
            self.has_nan = self.has_nan or bool(tensor.isnan().any())
            self.is_half = self.is_half or tensor.dtype in (torch.float16, torch.bfloat16)
            copies.append(tensor.detach().to("cpu", torch.float64, copy=True))
        return copies

    def _parts(self, value: Tensor, *, is_argument: bool) -> list[Part]:
        """Return what a tensor may be; one that passes through several methods is copied once."""
        if value.is_inference():
            return list(self._parts_of(value, is_argument=is_argument))
        key = id(value), value._version, is_argument and not value.is_floating_point()
        if key not in self._known:
            self._known[key] = value, list(self._parts_of(value, is_argument=is_argument))
        return self._known[key][1]

    def _parts_of(self, value: Tensor, *, is_argument: bool) -> Iterator[Part]:
        dim = value.dim()
        if value.is_floating_point():
            if kept := self._scores([value]):
                yield "scores", "", kept
            if dim < 2 or (dim == 2 and value.shape[1] == 1):
                yield "totals", "", [value.detach().cpu().double().reshape(-1).tolist()]
        elif _is_whole(value):
            if dim < 2:
                yield "lengths", "", [value.reshape(-1).tolist()]
            if not is_argument and (listed := _paths(value)) is not None:  # else maybe gold tags
                yield "paths", "", [listed]
        if dim in (1, 2) and value[(0,) * dim].item() in (0, 1) and is_binary(value):
            mask = value.detach().cpu() != 0
            yield "masks", "", [mask if dim == 2 else mask[None]]
        elif is_argument and dim == 2 and _is_whole(value):
            yield "masks", IDS, [value.detach().cpu() != 0]


def replace_method(
    wrapped: ExitStack, owner: object, name: str, method: Callable[..., Any]
) -> None:
    """Set a method of an instance until the stack is closed."""
    if name in vars(owner):
        wrapped.callback(setattr, owner, name, vars(owner)[name])
    else:
        wrapped.callback(delattr, owner, name)
    setattr(owner, name, method)


def _own_methods(module: nn.Module) -> list[str]:
    classes = [
        c for c in type(module).__mro__ if not c.__module__.startswith(("torch.", "builtins"))
    ]
    names = dict.fromkeys(
        name
        for each in classes
        for name, value in vars(each).items()
        if inspect.isfunction(value) or isinstance(value, staticmethod | classmethod)
        if not name.startswith("__")
    )
    return list(names)


def _flat(values: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the parts of tuples, mappings and lists of them, nested ones included, with names."""
    if isinstance(values, Tensor):
        yield name, values
        return
    parts: list[tuple[str, Any]] = []
    if isinstance(values, PackedSequence):
        values = unpack_sequence(values)
    if isinstance(values, Mapping):
        parts = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        parts = [(str(number), value) for number, value in enumerate(values)]
        if _paths(list(values)) is not None:  # a tuple of paths, or a path
            yield name, list(values)
    elif columns := _columns(values):
        parts = columns
    else:
        yield name, values
        return
    for key, value in parts if depth < MAX_DEPTH else ():
        named = f"{name}.{key}" if name else key
        if isinstance(value, Tensor):
            yield named, value
        else:
            yield from _flat(value, named, depth + 1)


def _columns(values: object) -> list[tuple[str, list[Any]]]:
    """Return the columns of a list of tuples or mappings, such as pairs of path and score."""
    if not isinstance(values, list) or not values or _paths(values) is not None:
        return []
    first = values[0]
    if isinstance(first, Mapping):
        same = all(isinstance(each, Mapping) and each.keys() == first.keys() for each in values)
        return [(str(key), [each[key] for each in values]) for key in first] if same else []
    if isinstance(first, tuple):
        same = all(isinstance(each, tuple) and len(each) == len(first) for each in values)
        return [(str(n), [each[n] for each in values]) for n in range(len(first))] if same else []
    return []


def _tensors(value: object) -> list[Tensor]:
    """Return the tensors of a list or of a nested tensor; empty if there are others."""
    if isinstance(value, Tensor):
        return list(value.unbind())
    if isinstance(value, list) and all(isinstance(each, Tensor) for each in value):
        return value
    return []


def _numbers(value: object) -> list[float] | None:
    """Return a score, or a list of scores; None if it is something else."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim <= 1:
        return [float(each) for each in value.reshape(-1)]
    rows: list[Any] = value if isinstance(value, list) else [value]
    single = [
        each.item() if isinstance(each, Tensor) and each.numel() == 1 else each for each in rows
    ]
    if single and all(isinstance(each, float | np.floating) for each in single):
        return [float(each) for each in single]
    return None


def _lengths(value: object) -> list[int] | None:
    """Return an integer, or a list of integers; None if it is something else."""
    rows: list[Any] = value if isinstance(value, list) else [value]
    return [int(each) for each in rows] if rows and all(map(_is_number, rows)) else None


def _paths(value: object) -> list[list[int]] | None:
    """Return the paths in a tensor, an array, or a list of ids, lists, tuples or tensors."""
    if isinstance(value, Tensor | np.ndarray):
        if value.ndim == 2 and len(value) and _is_whole(value):
            return value.tolist()
        row = _path(value)
        return None if row is None else [row]
    if not isinstance(value, list) or not value:
        return None
    if all(_is_number(each) for each in value):
        return [[int(each) for each in value]]
    rows = []
    for each in value:
        row = _path(each)
        if row is None:
            return None
        rows.append(row)
    return rows


def _path(value: object) -> list[int] | None:
    """Return the path in one row, or in a batch of one row; None if it is something else."""
    if isinstance(value, Tensor | np.ndarray):
        if value.ndim == 2 and len(value) == 1:
            value = value[0]
        return value.tolist() if value.ndim == 1 and len(value) and _is_whole(value) else None
    if not isinstance(value, list | tuple) or not value:
        return None
    if len(value) == 1 and not _is_number(value[0]):
        return _path(value[0])
    return [int(each) for each in value] if all(map(_is_number, value)) else None


def _is_whole(values: Tensor | np.ndarray) -> bool:
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "iu"
    floats = values.is_floating_point() or values.is_complex()
    return not (floats or values.dtype == torch.bool or values.is_nested)


def _is_number(value: object) -> bool:
    if type(value) is int:
        return True
    if isinstance(value, Tensor):
        return value.dim() == 0 and _is_whole(value)
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_binary(tensor: Tensor) -> bool:
    """Return whether all numbers are 0 or 1."""
    if tensor.dtype == torch.bool:
        return True
    return bool(((tensor == 0) | (tensor == 1)).all())
