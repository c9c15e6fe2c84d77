"""Recorder of the tensors and lists that pass through the methods of a running model.

Methods are wrapped on the instances while the model runs. Values that may be emissions, masks,
lengths, paths or scores are copied. The recorder itself calls no method of the model.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

MAX_BYTES = 50_000_000  # total size of recorded tensors
MAX_DEPTH = 3  # nesting depth of arguments and results
Slot = tuple[str, str]  # the method of a module, and which argument or part of the result


@dataclass
class Call:
    """Values that passed through the model in one outermost call."""

    scores: dict[Slot, Tensor] = field(default_factory=dict)  # float tensors, K is the last axis
    masks: dict[Slot, Tensor] = field(default_factory=dict)  # (B, T) bool
    lengths: dict[Slot, list[int]] = field(default_factory=dict)
    paths: dict[Slot, list[list[int]]] = field(default_factory=dict)
    totals: dict[Slot, list[float]] = field(default_factory=dict)  # a number for each sentence


class Recorder:
    """Recorder of the values that pass through a model, one `Call` for each outermost call.

    Args:
        module: the model.
        sizes: numbers of tags that scores may have.
    """

    def __init__(self, module: nn.Module, sizes: Collection[int]) -> None:
        self._module, self._sizes = module, sizes
        self.calls: list[Call] = []
        self.is_half = False  # whether scores had half precision
        self.has_nan = False
        self._depth, self._bytes = 0, 0

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
            if self._depth == 0:
                self.calls.append(Call())
            here = self.calls[-1]
            self._depth += 1
            try:
                if arguments:  # those of PyTorch's modules are results of others
                    given = signature.bind(*args, **kwargs).arguments
                    self._keep(here, where, given, paths={})  # they may be gold tags
                result = original(*args, **kwargs)
                self._keep(here, where, {"result": result}, here.paths)
            finally:
                self._depth -= 1
            return result

        replace_method(wrapped, owner, name, call)

    def _keep(
        self,
        call: Call,
        where: str,
        values: Mapping[str, object],
        paths: dict[Slot, list[list[int]]],
    ) -> None:
        """Copy possible emissions, masks, lengths and scores to `call`, and paths to `paths`."""
        for name, value in _flat(values):
            slot = (where, name)
            if isinstance(value, Tensor):
                self._keep_tensor(call, slot, value, paths)
            elif isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size:
                paths[slot] = np.atleast_2d(value).tolist()
            elif isinstance(value, float):
                call.totals[slot] = [value]
            if (listed := _paths(value)) is not None:
                paths[slot] = listed
            if isinstance(value, list) and value and all(type(each) is int for each in value):
                call.lengths[slot] = list(value)

    def _keep_tensor(
        self, call: Call, slot: Slot, value: Tensor, paths: dict[Slot, list[list[int]]]
    ) -> None:
        size = 8 * value.numel()  # as float64
        if not value.numel() or self._bytes + size > MAX_BYTES:
            return
        scores = value.is_floating_point() and 2 <= value.dim() <= 3
        if scores and value.shape[-1] in self._sizes:
            self._bytes += size
            self.has_nan = self.has_nan or bool(value.isnan().any())
            self.is_half = self.is_half or value.dtype in (torch.float16, torch.bfloat16)
            call.scores[slot] = value.detach().to("cpu", torch.float64, copy=True)
        if value.dim() == 2 and value[0, 0].item() in (0, 1) and is_binary(value):
            call.masks[slot] = value.detach().cpu() != 0
        if not value.is_floating_point() and value.dtype != torch.bool:
            rows = value.detach().cpu().tolist()
            if value.dim() == 1:
                call.lengths[slot], paths[slot] = rows, [rows]
            elif value.dim() == 2:
                paths[slot] = rows
        if value.is_floating_point() and value.dim() <= 1:
            call.totals[slot] = value.detach().cpu().double().reshape(-1).tolist()


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
    """Return the names of the methods that a model's own classes define."""
    classes = [
        c for c in type(module).__mro__ if not c.__module__.startswith(("torch.", "builtins"))
    ]
    names = dict.fromkeys(
        name
        for each in classes
        for name, value in vars(each).items()
        if inspect.isfunction(value) and not name.startswith("__")
    )
    return list(names)


def _flat(values: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the parts of tuples and mappings, nested ones included, with names."""
    if isinstance(values, Mapping):
        parts = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        parts = [(str(number), value) for number, value in enumerate(values)]
    else:
        yield name, values
        return
    if depth < MAX_DEPTH:
        for key, value in parts:
            yield from _flat(value, f"{name}.{key}" if name else key, depth + 1)


def _paths(value: object) -> list[list[int]] | None:
    """Return the paths in a list of ids, lists, tensors, or pairs of path and score."""
    if not isinstance(value, list) or not value:
        return None
    if all(_is_number(each) for each in value):
        return [[int(each) for each in value]]
    rows = [each[0] if isinstance(each, tuple) and each else each for each in value]
    rows = [each.tolist() if isinstance(each, Tensor | np.ndarray) else each for each in rows]
    if all(isinstance(row, list) and row and all(map(_is_number, row)) for row in rows):
        return [[int(each) for each in row] for row in rows]
    return None


def _is_number(value: object) -> bool:
    if isinstance(value, Tensor):
        return value.dim() == 0 and not value.is_floating_point()
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_binary(tensor: Tensor) -> bool:
    """Return whether all numbers are 0 or 1."""
    return bool(((tensor == 0) | (tensor == 1)).all())
